import type { z } from "zod";
import type { Reading, Row } from "./dialect.ts";

/** The rows of data that has the shape of `schema`; a failure that says what was found for any other. */
export function readShape<Shape>(
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
