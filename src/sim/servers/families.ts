import { type Answer, type Call, graphError, html, json, type ServedRow } from "./answer.ts";
import { answerQuery, type Fields, UnknownField } from "./graphql.ts";

/** The software that an endpoint simulates, with its version. */
export type ServerKind = keyof typeof SERVERS;

export function isServerKind(name: string): name is ServerKind {
  return name in SERVERS;
}

/** The key that a simulated gateway accepts. */
export const SIMULATED_API_KEY = "5e1f0000c0ffee00decade0000facade";

/** Replies like the real software. */
export function answerAs(kind: ServerKind, call: Call, rows: readonly ServedRow[]): Answer {
  return SERVERS[kind](call, rows);
}

type Server = (call: Call, rows: readonly ServedRow[]) => Answer;
type Json = Readonly<Record<string, unknown>>;

/** A server that accepts one method. */
function accepting(method: "GET" | "POST", answer: Server): Server {
  return (call, rows) => (call.method === method ? answer(call, rows) : html("405 Method Not Allowed", 405));
}

/** A page that is read with a GET. */
function page(make: (rows: readonly ServedRow[]) => Answer): Server {
  return accepting("GET", (_call, rows) => make(rows));
}

/** A GraphQL server, which answers the query in the body of a request. */
function graphql(answer: (query: string, rows: readonly ServedRow[], call: Call) => Answer): Server {
  return accepting("POST", (call, rows) => {
    const { query } = parseObject(call.body);
    return typeof query === "string"
      ? answer(query, rows, call)
      : json({ errors: [{ message: "the body has no query" }] }, 400);
  });
}

/** A GraphQL server that selects from the values of its root fields. `refuse` makes the reply to a refused query. */
function selecting(refuse: (error: Error) => Answer, rootOf: (rows: readonly ServedRow[]) => Fields): Server {
  return graphql((query, rows) => answerQuery(query, rootOf(rows), refuse));
}

function parseObject(text: string): Json {
  const value: unknown = text === "" ? null : JSON.parse(text);
  return typeof value === "object" && value !== null ? { ...value } : {};
}

// graph-node: graph/src/schema/meta.graphql
function answerAsGraphNode(query: string, rows: readonly ServedRow[]): Answer {
  const row = firstOf(rows);
  const { block, hash, timestampSec, deployment, indexingErrors } = row;
  if (block === null) {
    return graphError(
      `Store error: query execution failed: Subgraph \`${String(deployment)}\` has not started syncing yet. Wait for it to ingest a few blocks before querying it`,
    );
  }
  const events = ({ first, orderDirection }: ListArguments) => campaignsOf(row, first, orderDirection);
  const _meta = {
    block: { number: block, hash, timestamp: timestampSec },
    deployment,
    hasIndexingErrors: indexingErrors,
  };
  const answer = answerQuery(query, { _meta, campaigns: events, streams: events }, refuseAsGraphNode);
  return indexingErrors === true ? onlyMeta(answer) : answer;
}

/** For a failed subgraph, graph-node returns only the field `_meta`. */
function onlyMeta(answer: Answer): Answer {
  const { _meta, ...others } = { ...parseObject(JSON.stringify(parseObject(answer.body)["data"])) };
  return Object.keys(others).length === 0
    ? answer
    : json({ data: { _meta }, errors: [{ message: "indexing_error" }] });
}

function refuseAsGraphNode(error: Error): Answer {
  return graphError(
    error instanceof UnknownField ? `Type \`${error.type}\` has no field \`${error.field}\`` : error.message,
  );
}

// gateway: src/middleware/require_auth.rs and src/auth.rs
function refuseCaller({ headers, path }: Call): Answer | null {
  const inPath = /^\/api\/([^/]+)\/(?:subgraphs|deployments)\//.exec(path)?.[1];
  const header = inPath === undefined ? headers["authorization"] : `Bearer ${inPath}`;
  if (header === undefined) {
    return graphError("auth error: missing authorization header");
  }
  return header === `Bearer ${SIMULATED_API_KEY}` ? null : graphError("auth error: API key not found");
}

/**
 * The Hasura in front of an Envio indexer: rows for all chains, and HTTP 200 for every refusal. `meta`: the columns of its table
 * `_meta` in addition to the chain's id. Without columns, the table is missing (hyperindex:
 * packages/envio/src/db/InternalTable.res).
 */
function envio(...meta: readonly ("progressBlock" | "progressBlockTime")[]): Server {
  return selecting(
    (error) => {
      const type = error instanceof UnknownField ? error.type.replace("Query", "query_root") : "";
      const message =
        error instanceof UnknownField
          ? `field '${error.field}' not found in type: '${type}'`
          : "not a valid graphql query";
      return json({ errors: [{ message, extensions: { path: "$", code: "validation-failed" } }] });
    },
    (rows) => {
      const inOrder = rows.toSorted((one, other) => Number(one.chainId) - Number(other.chainId));
      const events = ({ where, order_by: order, limit }: ListArguments<{ readonly _eq?: unknown }>) =>
        inOrder
          .flatMap((row) => campaignsOf(row, limit, order?.subgraphId))
          .filter(({ chainId }) => isWanted(chainId, where?.chainId?._eq));
      const metaRows = inOrder.map(({ chainId, block, timestampSec }) => {
        const row = { progressBlock: block ?? -1, progressBlockTime: block === null ? null : timestampSec };
        return { chainId, ...Object.fromEntries(meta.map((name) => [name, row[name]])) };
      });
      return {
        ...(meta.length === 0 ? {} : { _meta: metaRows }),
        chain_metadata: inOrder.map(({ chainId, block }) => ({
          chain_id: chainId,
          latest_processed_block: block ?? -1,
        })),
        Campaign: events,
        Stream: events,
      };
    },
  );
}

/** graph-node's index-node API (server/index-node/src/schema.graphql): numbers are strings, hashes lack 0x, chains lack an id. */
const GRAPH_STATUS = selecting(refuseAsGraphNode, (rows) => ({
  version: { version: "0.44.0", commit: "9725e48f2cf93b764bca4d631f6778271c4b8a7c" },
  indexingStatuses: ({ subgraphs }: { readonly subgraphs?: readonly string[] }) =>
    rows
      .filter(({ deployment }) => subgraphs === undefined || subgraphs.includes(String(deployment)))
      .map(indexingStatus),
}));

function indexingStatus({ block, hash, deployment, indexingErrors }: ServedRow): unknown {
  const latestBlock =
    block === null ? null : { number: String(block), hash: String(hash).replace(/^0x/, "") };
  const message = `: error while executing at wasm backtrace:\t    0:   0x2f69 - <unknown>!src/mapping/handleBlock: Mapping aborted at src/mapping.ts, line 6, column 3, with message: fails on purpose in handler \`handleBlock\` at block #${String(block)} (2d412c)`;
  const fatalError = { message, handler: null, deterministic: true, block: latestBlock };
  const failed = indexingErrors === true;
  return {
    subgraph: deployment,
    health: failed ? "failed" : "healthy",
    fatalError: failed ? fatalError : null,
    chains: [{ latestBlock }],
  };
}

/** One JSON value with an entry for each chain, keyed by its name, with the id inside. `block` is null during a back-fill. */
function ponderStatus(rows: readonly ServedRow[]): object {
  return Object.fromEntries(
    rows.map(({ slug, chainId: id, block, timestampSec }) => [
      slug,
      { id, block: block === null ? null : { number: block, timestamp: timestampSec } },
    ]),
  );
}

/** A refusal in the words of graphql-js: with 200 from graphql-yoga, with 400 from Apollo Server. */
function refuseAsGraphqlJs(status: 200 | 400): (error: Error) => Answer {
  return ({ message }) =>
    json({ errors: [{ message, extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }] }, status);
}

const SERVERS = {
  /** The Graph's gateway needs a key, replies 200 to everything, and has several indexers behind one URL. */
  gateway: graphql((query, rows, call) => refuseCaller(call) ?? answerAsGraphNode(query, rows)),
  /** Subgraph Studio needs no key. */
  studio: graphql(answerAsGraphNode),
  /** graph-node behind its own URL. */
  "graph-node": graphql(answerAsGraphNode),
  envio: envio("progressBlock", "progressBlockTime"),
  /** Envio 2.28 to 3.8 has `_meta`, but no block time. */
  "envio-3.2": envio("progressBlock"),
  /** Envio before 2.28 has only `chain_metadata`. */
  "envio-2.27": envio(),
  // ponder: packages/core/src/graphql/index.ts
  ponder: selecting(refuseAsGraphqlJs(200), (rows) => ({
    _meta: { status: ponderStatus(rows) },
    campaigns: ({ where, orderDirection, limit }: ListArguments) => ({
      items: rows
        .filter(({ chainId }) => isWanted(chainId, where?.chainId))
        .flatMap((row) => campaignsOf(row, limit, orderDirection)),
    }),
  })),
  // squid-sdk: graphql/graphql-server/src/server.ts. It has one chain; the height is -1 before the first block.
  squid: selecting(refuseAsGraphqlJs(400), (rows) => {
    const { block, hash } = firstOf(rows);
    return { squidStatus: block === null ? { height: -1, hash: "0x" } : { height: block, hash } };
  }),
  // subql: packages/query/src/graphql/plugins/GetMetadataPlugin.ts. There is a row per chain; every field may be null.
  subquery: selecting(refuseAsGraphqlJs(400), (rows) => {
    const nodes = rows.map(({ block, chainId }) => ({ lastProcessedHeight: block, chain: String(chainId) }));
    return { _metadatas: { nodes }, _metadata: nodes[0] ?? null };
  }),
  "graph-status": GRAPH_STATUS,
  custom: selecting(refuseAsGraphqlJs(200), (rows) => ({
    sync: {
      chains: rows.map(({ chainId, block, timestampSec, hash, indexingErrors }) => ({
        id: chainId,
        last_block: block ?? 0,
        last_block_time: timestampSec,
        last_block_hash: hash,
        error: indexingErrors === true ? "handler failed" : null,
      })),
    },
  })),
  /** Ponder's status page, beside its GraphQL API. */
  "ponder-status": page((rows) => json(ponderStatus(rows))),
  // hyperindex: packages/envio/src/Metrics.res
  "envio-metrics": page((rows) =>
    metricsPage({
      envio_progress_block: rows.map(
        ({ chainId, block }) => `{chainId="${String(chainId)}"} ${String(block ?? -1)}`,
      ),
      envio_progress_block_time_seconds: rows
        .filter(({ block }) => block !== null)
        .map(({ chainId, timestampSec }) => `{chainId="${String(chainId)}"} ${String(timestampSec)}`),
    }),
  ),
  // erpc: telemetry/metrics.go
  erpc: page((rows) =>
    metricsPage({
      erpc_network_served_tip_block_number: rows.map(
        ({ block, chainId }) =>
          `{axis="latest",lane="all",network="evm:${String(chainId)}",project="main"} ${String(block)}`,
      ),
    }),
  ),
  /** An RPC node of a chain. */
  rpc: accepting("POST", (call, rows) => {
    const sent = parseObject(call.body);
    return json({ jsonrpc: "2.0", id: sent["id"] ?? null, ...rpcReply(sent, firstOf(rows)) });
  }),
} as const satisfies Readonly<Record<string, Server>>;

/** A page in the text format of Prometheus, with a gauge of the process before the given gauges. */
function metricsPage(gauges: Readonly<Record<string, readonly string[]>>): Answer {
  const families = Object.entries({ process_cpu_seconds_total: [" 12.5"], ...gauges });
  const lines = families.flatMap(([name, series]) => [
    `# TYPE ${name} gauge`,
    ...series.map((one) => `${name}${one}`),
  ]);
  const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
  return { status: 200, headers, body: `${lines.join("\n")}\n` };
}

/** The result or error of a JSON-RPC 2.0 reply. Numbers are hexadecimal text. */
function rpcReply({ method, params }: Json, row: ServedRow): object {
  const height = Array.isArray(params) && params[0] !== "latest" ? Number(params[0]) : null;
  const { block, hash, timestampSec } = height === null ? row : (row.blockAt?.(height) ?? row);
  switch (method) {
    case undefined:
      return { error: { code: -32600, message: "invalid request" } };
    case "eth_chainId":
      return { result: quantity(row.chainId) };
    case "eth_getBlockByNumber":
      return {
        result: block === null ? null : { number: quantity(block), hash, timestamp: quantity(timestampSec) },
      };
    default:
      return {
        error: { code: -32601, message: `the method ${String(method)} does not exist/is not available` },
      };
  }
}

/** A whole number as hexadecimal text. Any other value is passed on, so that a test can send it. */
function quantity(value: unknown): unknown {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? `0x${value.toString(16)}`
    : value;
}

/** The row of a server of one chain. @throws {RangeError} If the server has no row. */
function firstOf([row]: readonly ServedRow[]): ServedRow {
  if (row === undefined) {
    throw new RangeError("Cannot answer: a server of one chain has no row");
  }
  return row;
}

/** The arguments of a list. `where: { chainId: 1 }`, or `{ _eq: 1 }`, is the only supported condition. */
interface ListArguments<ChainId = unknown> {
  readonly first?: number;
  readonly limit?: number;
  readonly orderDirection?: string;
  readonly order_by?: { readonly subgraphId?: string };
  readonly where?: { readonly chainId?: ChainId };
}

function isWanted(chainId: unknown, wanted: unknown): boolean {
  return wanted === undefined || Number(wanted) === Number(chainId);
}

const MAX_ROWS = 100;

/** The campaigns of a chain, one for each event, numbered from 1. If `campaigns` is not a number, the only row has it as its `subgraphId`. */
function campaignsOf({ campaigns, chainId }: ServedRow, limit = MAX_ROWS, order = "asc") {
  if (typeof campaigns !== "number") {
    return [{ id: `${String(chainId)}-0`, chainId, subgraphId: campaigns }];
  }
  const length = Math.max(0, Math.min(campaigns, limit, MAX_ROWS));
  return Array.from({ length }, (_, index) => {
    const number = order === "desc" ? campaigns - index : 1 + index;
    // Hasura sends a big number as a string.
    return { id: `${String(chainId)}-${number}`, chainId, subgraphId: String(number) };
  });
}
