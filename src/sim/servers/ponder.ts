import { type Answer, type Call, html, json, queryOf, type ServedRow } from "./answer.ts";
import { type Mismatch, pick, type Schema, understand } from "./select.ts";

// ponder: packages/core/src/graphql/index.ts
const SCHEMA: Schema = { Query: { _meta: "Meta" }, Meta: { status: "scalar" } };

/** Answers as Ponder does: one JSON value keyed by the chain's name, the id inside, null while back-filling. */
export function answerPonder(call: Call, rows: readonly ServedRow[]): Answer {
  if (call.method === "GET") {
    return answerGet(call, rows);
  }
  const query = queryOf(call.body);
  if (call.method !== "POST" || query === null) {
    return json({ errors: [{ message: "Must provide query string." }] }, 400);
  }
  const understood = understand(SCHEMA, "Query", query);
  switch (understood.kind) {
    case "fields":
      return json({ data: pick({ _meta: { status: statusOf(rows) } }, understood.fields) });
    case "mismatch":
      return refusal(mismatchText(understood.mismatch));
    case "unparsable":
      return refusal(`Syntax Error: ${understood.message}.`);
  }
}

function answerGet(call: Call, rows: readonly ServedRow[]): Answer {
  return call.path.endsWith("/status") ? json(statusOf(rows)) : html("GraphiQL");
}

function statusOf(rows: readonly ServedRow[]): unknown {
  return Object.fromEntries(
    rows.map((row) => {
      const block = row.block === null ? null : { number: row.block, timestamp: row.timestampSec };
      return [row.chain.slug, { id: row.chainId, block }];
    }),
  );
}

function refusal(message: string): Answer {
  return json({ errors: [{ message, extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }] });
}

function mismatchText({ problem, typeName, field }: Mismatch): string {
  switch (problem) {
    case "unknown_field":
      return `Cannot query field "${field}" on type "${typeName}".`;
    case "needs_fields":
      return `Field "${field}" of type "${typeName}" must have a selection of subfields. Did you mean "${field} { ... }"?`;
    case "has_no_fields":
      return `Field "${field}" must not have a selection since type "JSON" has no subfields.`;
  }
}
