import { type Answer, type Call, html, queryOf, type ServedRow } from "./answer.ts";
import { answerGraphqlJs } from "./graphql-js.ts";
import { schemaOf } from "./select.ts";

/** The query and the paths that fit this server. */
export const SIMULATED_CUSTOM_QUERY = {
  query: "{ sync { chains { id last_block last_block_time last_block_hash error } } }",
  rows: "sync.chains",
  height: "last_block",
  time: "last_block_time",
  chainId: "id",
  hash: "last_block_hash",
  failed: "error",
} as const;

const SCHEMA = schemaOf(`
  type Query { sync: Sync }
  type Sync { chains: [Chain] }
  type Chain { id: Any last_block: Any last_block_time: Any last_block_hash: Any error: Any }
`);

/** Answers as an indexer that a team wrote itself: GraphQL of a shape of its own. */
export function answerCustom(call: Call, rows: readonly ServedRow[]): Answer {
  const query = queryOf(call.body);
  if (call.method !== "POST" || query === null) {
    return html("405 Method Not Allowed", 405);
  }
  const chains = rows.map(({ chainId, block, timestampSec, hash, indexingErrors }) => ({
    id: chainId,
    last_block: block ?? 0,
    last_block_time: timestampSec,
    last_block_hash: hash,
    error: indexingErrors === true ? "handler failed" : null,
  }));
  return answerGraphqlJs({ schema: SCHEMA, root: { sync: { chains } }, refusalStatus: 200 }, query);
}
