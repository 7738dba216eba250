import { type Answer, type Call, html, json, queryOf, type ServedRow } from "./answer.ts";
import { answerGraphqlJs } from "./graphql-js.ts";
import { schemaOf } from "./select.ts";

// ponder: packages/core/src/graphql/index.ts
const SCHEMA = schemaOf("scalar JSON type Query { _meta: Meta } type Meta { status: JSON }");

/** Answers as Ponder does: one JSON value keyed by the chain's name, the id inside, null while back-filling. */
export function answerPonder(call: Call, rows: readonly ServedRow[]): Answer {
  if (call.method === "GET") {
    return call.path.endsWith("/status") ? json(statusOf(rows)) : html("GraphiQL");
  }
  const query = queryOf(call.body);
  if (call.method !== "POST" || query === null) {
    return json({ errors: [{ message: "Must provide query string." }] }, 400);
  }
  const root = { _meta: { status: statusOf(rows) } };
  return answerGraphqlJs({ schema: SCHEMA, root, refusalStatus: 200 }, query);
}

function statusOf(rows: readonly ServedRow[]): unknown {
  return Object.fromEntries(
    rows.map((row) => {
      const block = row.block === null ? null : { number: row.block, timestamp: row.timestampSec };
      return [row.chain.slug, { id: row.chainId, block }];
    }),
  );
}
