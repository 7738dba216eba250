import { type Answer, type Call, graphError, json, queryOf, type ServedRow } from "./answer.ts";
import { schemaOf, select, understand } from "./select.ts";

// graph-node: server/index-node/src/schema.graphql
const SCHEMA = schemaOf(`
  type Query { indexingStatuses(subgraphs: [String!]): [Status] version: Version }
  type Version { version: Any commit: Any }
  type Status { subgraph: Any synced: Any health: Any paused: Any node: Any fatalError: Error nonFatalErrors: [Error] chains: [Chain] }
  type Error { message: Any handler: Any deterministic: Any block: Block }
  type Chain { network: Any chainHeadBlock: Block earliestBlock: Block latestBlock: Block lastHealthyBlock: Block }
  type Block { number: Any hash: Any }
`);

/** Answers as graph-node's index-node API: numbers as strings, hashes without 0x, no chain id. */
export function answerGraphStatus(call: Call, rows: readonly ServedRow[]): Answer {
  const query = queryOf(call.body);
  if (call.method !== "POST" || query === null) {
    return json({ message: "Not found" });
  }
  const understood = understand(SCHEMA, query);
  switch (understood.kind) {
    case "query": {
      const root = {
        version: { version: "0.44.0", commit: "9725e48f2cf93b764bca4d631f6778271c4b8a7c" },
        indexingStatuses: ({ subgraphs }: { readonly subgraphs?: readonly string[] }) =>
          rows
            .filter(({ deployment }) => subgraphs === undefined || subgraphs.includes(String(deployment)))
            .map(statusOf),
      };
      return json({ data: select(SCHEMA, understood.document, root) });
    }
    case "mismatch":
      return graphError(
        `Type \`${understood.mismatch.typeName}\` has no field \`${understood.mismatch.field}\` `,
      );
    case "syntax_error":
      return graphError(understood.error.message);
  }
}

function statusOf({ chain, block, hash, sourceBlock, deployment, indexingErrors }: ServedRow): unknown {
  const latestBlock =
    block === null ? null : { number: String(block), hash: String(hash).replace(/^0x/, "") };
  const failed = indexingErrors === true;
  return {
    subgraph: deployment,
    // Both stay as they are while a deployment stands still.
    synced: true,
    health: failed ? "failed" : "healthy",
    paused: false,
    node: "default",
    fatalError: failed
      ? {
          message: `: error while executing at wasm backtrace:\t    0:   0x2f69 - <unknown>!src/mapping/handleBlock: Mapping aborted at src/mapping.ts, line 6, column 3, with message: fails on purpose in handler \`handleBlock\` at block #${String(block)} (2d412c)`,
          handler: null,
          deterministic: true,
          block: latestBlock,
        }
      : null,
    nonFatalErrors: [],
    chains: [
      {
        network: chain.slug,
        chainHeadBlock: { number: String(sourceBlock), hash: "" },
        earliestBlock: { number: "0", hash: "0x0" },
        latestBlock,
        lastHealthyBlock: null,
      },
    ],
  };
}
