import type { Head } from "../core/model/observation.ts";
import { describeValue } from "./answer/quote.ts";
import type { Row } from "./dialect.ts";
import { readPositiveInteger } from "./positive-integer.ts";

/** What else an answer may tell of the block; what it leaves out is null. */
type HeadDetails = Partial<Omit<Head, "block">>;

/** A head where `found`, which the answer has under the name `field`, is a height; else a failure that names it. */
export function sayHead(field: string, found: unknown, details: HeadDetails): Row["said"] {
  const block = readPositiveInteger(found);
  if (block === null) {
    return sayUnreadable(`${field} as a height`, found);
  }
  const { timestampSec = null, hash = null, deployment = null, indexingErrors = null } = details;
  return { kind: "head", head: { block, timestampSec, hash, deployment, indexingErrors } };
}

/** The failure of one row where `found` stands in place of `what`. The other rows may be good. */
export function sayUnreadable(what: string, found: unknown): Row["said"] {
  return { kind: "failed", reason: "schema", detail: `Cannot read ${what}: ${describeValue(found)}` };
}
