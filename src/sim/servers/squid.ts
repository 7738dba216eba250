import { type Answer, type Call, html, json, queryOf, type ServedRow } from "./answer.ts";
import { answerGraphqlJs } from "./graphql-js.ts";
import { schemaOf } from "./select.ts";

// squid-sdk: graphql/graphql-server/src/server.ts
const SCHEMA = schemaOf(`
  type Query { squidStatus: SquidStatus }
  type SquidStatus { height: Any hash: Any finalizedHeight: Any finalizedHash: Any }
`);

/** Blocks that the finalized head is behind the newest. */
const FINALITY_BLOCKS = 64;

/** Answers as a squid's GraphQL server does: one chain, -1 before the first block. */
export function answerSquid(call: Call, row: ServedRow): Answer {
  if (call.method === "GET") {
    return html("GraphiQL");
  }
  const query = queryOf(call.body);
  if (call.method !== "POST" || query === null) {
    return json(
      { errors: [{ message: "POST body missing, invalid Content-Type, or JSON object has no keys." }] },
      400,
    );
  }
  return answerGraphqlJs({ schema: SCHEMA, root: { squidStatus: statusOf(row) }, refusalStatus: 400 }, query);
}

function statusOf({ block, hash }: ServedRow): unknown {
  if (block === null) {
    return { height: -1, hash: "0x", finalizedHeight: -1, finalizedHash: "0x" };
  }
  const finalizedHeight = typeof block === "number" ? Math.max(0, block - FINALITY_BLOCKS) : block;
  return { height: block, hash, finalizedHeight, finalizedHash: null };
}
