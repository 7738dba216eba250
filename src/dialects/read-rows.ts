import type { z } from "zod";
import type { Head } from "../core/model/observation.ts";
import { describeValue } from "./answer/quote.ts";
import { readPositiveInteger } from "./answer/read-scalars.ts";
import type { Reading, Row, RowContent } from "./dialect.ts";

/** The rows of data that has the shape of `schema`; for any other, a failure that says where it differs. */
export function readRows<Shape>(
  schema: z.ZodType<Shape>,
  data: unknown,
  rowsOf: (shape: Shape) => readonly Row[],
): Reading {
  const parsed = schema.safeParse(data);
  if (parsed.success) {
    return { kind: "rows", rows: rowsOf(parsed.data) };
  }
  const issue = parsed.error.issues[0];
  const where = ["data", ...(issue?.path ?? [])].map(String).join(".");
  return {
    kind: "failed",
    reason: "schema",
    detail: `Cannot read ${where}: ${issue?.message ?? "not the expected shape"}`,
  };
}

/** What an answer may say of the block beside its number; what it leaves out is null. */
type HeadDetails = Partial<Omit<Head, "block">>;

/**
 * The head at the height `found`, which the answer has under the name `field`. Zero means that nothing is indexed yet:
 * it is what graph-node answers for a deployment that starts at block 1, and Ponder for one that starts at genesis.
 */
export function readHead(field: string, found: unknown, details: HeadDetails): RowContent {
  if (found === 0 || found === "0") {
    return { kind: "not_started" };
  }
  const block = readPositiveInteger(found);
  if (block === null) {
    return unreadable(`${field} as a height`, found);
  }
  const { timestampSec = null, hash = null, deployment = null, indexingErrors = null } = details;
  return { kind: "head", head: { block, timestampSec, hash, deployment, indexingErrors } };
}

/** The failure of one row that has `found` in place of `what`. Other rows may still be good. */
export function unreadable(what: string, found: unknown): RowContent {
  return { kind: "failed", reason: "schema", detail: `Cannot read ${what}: ${describeValue(found)}` };
}
