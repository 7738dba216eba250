import { type Answer, type Call, html, json, queryOf, type ServedRow } from "./answer.ts";
import { answerGraphqlJs } from "./graphql-js.ts";
import { schemaOf } from "./select.ts";

// subql: packages/query/src/graphql/plugins/GetMetadataPlugin.ts
const SCHEMA = schemaOf(`
  type Query { _metadata(chainId: String): _Metadata _metadatas: _Metadatas }
  type _Metadatas { totalCount: Any nodes: [_Metadata] }
  type _Metadata {
    lastProcessedHeight: Any lastProcessedTimestamp: Any targetHeight: Any chain: Any specName: Any
    indexerHealthy: Any evmChainId: Any
  }
`);

/** Answers as SubQuery's query service does: a row of metadata per chain, every field of which may be null. */
export function answerSubquery(call: Call, rows: readonly ServedRow[]): Answer {
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
  const nodes = rows.map(metadataOf);
  const root = {
    _metadatas: { totalCount: nodes.length, nodes },
    _metadata: ({ chainId }: { readonly chainId?: string }) =>
      nodes.find(({ chain }) => chainId === undefined || chain === chainId) ?? null,
  };
  return answerGraphqlJs({ schema: SCHEMA, root, refusalStatus: 400 }, query);
}

function metadataOf({ block, chainId, timestampSec, sourceBlock }: ServedRow) {
  return {
    lastProcessedHeight: block,
    // When the node processed the block, which is no less than the block's own time.
    lastProcessedTimestamp: typeof timestampSec === "number" ? String((timestampSec + 1) * 1_000) : null,
    targetHeight: sourceBlock,
    chain: String(chainId),
    specName: "ethereum",
    indexerHealthy: true,
    evmChainId: null,
  };
}
