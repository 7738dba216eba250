import { type Answer, type Call, graphError, html, json, type ServedRow } from "./answer.ts";
import { answerQuery, type Fields, UnknownField } from "./graphql.ts";

/** The software, and its version, that an endpoint simulates. */
export type ServerKind = keyof typeof SERVERS | keyof typeof PAGES | "rpc";

export function isServerKind(name: string): name is ServerKind {
  return name in SERVERS || name in PAGES || name === "rpc";
}

/** The key that a simulated gateway accepts. */
export const SIMULATED_API_KEY = "5e1f0000c0ffee00decade0000facade";

/** Replies like the real software. */
export function answerAs(kind: ServerKind, call: Call, rows: readonly ServedRow[]): Answer {
  const page = kind in PAGES ? PAGES[kind as keyof typeof PAGES] : null;
  if (call.method !== (page === null ? "POST" : "GET")) {
    return html("405 Method Not Allowed", 405);
  }
  if (page !== null) {
    return page(rows);
  }
  const sent = parseObject(call.body);
  if (kind === "rpc") {
    return json({ jsonrpc: "2.0", id: sent["id"] ?? null, ...rpcOutcome(sent, firstOf(rows)) });
  }
  const query = sent["query"];
  if (typeof query !== "string") {
    return json({ errors: [{ message: "the body has no query" }] }, 400);
  }
  const server: Server = SERVERS[kind as keyof typeof SERVERS];
  const refusal = kind === "gateway" ? refuseCaller(call) : null;
  return refusal ?? server.answer?.(query, rows) ?? answerQuery(query, server.rootOf(rows), server.refuse);
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = text === "" ? null : JSON.parse(text);
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** A server of GraphQL. */
interface Server {
  /** What the root fields hold. */
  readonly rootOf: (rows: readonly ServedRow[]) => Fields;
  /** Words a refusal. */
  readonly refuse: (error: Error) => Answer;
  /** Answers in place of the above, where the software does more than to select fields. */
  readonly answer?: (query: string, rows: readonly ServedRow[]) => Answer;
}

// graph-node: graph/src/schema/meta.graphql
const GRAPH: Server = {
  refuse: refuseAsGraphNode,
  rootOf(rows) {
    const row = firstOf(rows);
    const events = ({ first, orderDirection }: ListArguments) => campaignsOf(row, first, orderDirection);
    const { block, hash, timestampSec, deployment, indexingErrors } = row;
    const _meta = { block: { number: block, hash, timestamp: timestampSec }, deployment };
    return { _meta: { ..._meta, hasIndexingErrors: indexingErrors }, campaigns: events, streams: events };
  },
  answer(query, rows) {
    const { block, deployment, indexingErrors } = firstOf(rows);
    if (block === null) {
      return graphError(
        `Store error: query execution failed: Subgraph \`${String(deployment)}\` has not started syncing yet. Wait for it to ingest a few blocks before querying it`,
      );
    }
    const answer = answerQuery(query, GRAPH.rootOf(rows), GRAPH.refuse);
    return indexingErrors === true ? onlyMeta(answer) : answer;
  },
};

/** Of a failed subgraph, graph-node answers the field `_meta` only. */
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
 * The Hasura in front of an Envio indexer: rows for all chains, HTTP 200 for every refusal. `meta`: what its table `_meta` has beside
 * the chain's id; nothing: there is no such table (hyperindex: packages/envio/src/db/InternalTable.res).
 */
function envio(...meta: readonly ("progressBlock" | "progressBlockTime")[]): Server {
  return {
    refuse(error) {
      const type = error instanceof UnknownField ? error.type.replace("Query", "query_root") : "";
      const message =
        error instanceof UnknownField
          ? `field '${error.field}' not found in type: '${type}'`
          : "not a valid graphql query";
      return json({ errors: [{ message, extensions: { path: "$", code: "validation-failed" } }] });
    },
    rootOf(rows) {
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
  };
}

/** graph-node's index-node API (server/index-node/src/schema.graphql): numbers as strings, hashes without 0x, no chain id. */
const GRAPH_STATUS: Server = {
  refuse: refuseAsGraphNode,
  rootOf: (rows) => ({
    version: { version: "0.44.0", commit: "9725e48f2cf93b764bca4d631f6778271c4b8a7c" },
    indexingStatuses: ({ subgraphs }: { readonly subgraphs?: readonly string[] }) =>
      rows
        .filter(({ deployment }) => subgraphs === undefined || subgraphs.includes(String(deployment)))
        .map(indexingStatus),
  }),
};

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

/** One JSON value keyed by the chain's name, with the id inside; null while it back-fills. */
function ponderStatus(rows: readonly ServedRow[]): object {
  return Object.fromEntries(
    rows.map(({ slug, chainId: id, block, timestampSec }) => [
      slug,
      { id, block: block === null ? null : { number: block, timestamp: timestampSec } },
    ]),
  );
}

/** As graphql-js itself words it: 200 from graphql-yoga, 400 from Apollo Server. */
function refuseAsGraphqlJs(status: 200 | 400): Server["refuse"] {
  return ({ message }) =>
    json({ errors: [{ message, extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }] }, status);
}

const SERVERS = {
  /** The Graph's gateway: needs a key, answers 200 to everything, has several indexers behind one URL. */
  gateway: GRAPH,
  /** Subgraph Studio: no key. */
  studio: GRAPH,
  /** graph-node behind its own URL. */
  "graph-node": GRAPH,
  envio: envio("progressBlock", "progressBlockTime"),
  /** Envio 2.28 to 3.8: `_meta`, and no time. */
  "envio-3.2": envio("progressBlock"),
  /** Envio before 2.28. */
  "envio-2.27": envio(),
  // ponder: packages/core/src/graphql/index.ts
  ponder: {
    refuse: refuseAsGraphqlJs(200),
    rootOf: (rows) => ({
      _meta: { status: ponderStatus(rows) },
      campaigns: ({ where, orderDirection, limit }: ListArguments) => ({
        items: rows
          .filter(({ chainId }) => isWanted(chainId, where?.chainId))
          .flatMap((row) => campaignsOf(row, limit, orderDirection)),
      }),
    }),
  },
  // squid-sdk: graphql/graphql-server/src/server.ts. One chain, -1 before the first block.
  squid: {
    refuse: refuseAsGraphqlJs(400),
    rootOf(rows) {
      const { block, hash } = firstOf(rows);
      return { squidStatus: block === null ? { height: -1, hash: "0x" } : { height: block, hash } };
    },
  },
  // subql: packages/query/src/graphql/plugins/GetMetadataPlugin.ts. A row per chain; every field may be null.
  subquery: {
    refuse: refuseAsGraphqlJs(400),
    rootOf(rows) {
      const nodes = rows.map(({ block, chainId }) => ({
        lastProcessedHeight: block,
        chain: String(chainId),
      }));
      return { _metadatas: { nodes }, _metadata: nodes[0] ?? null };
    },
  },
  "graph-status": GRAPH_STATUS,
  custom: {
    refuse: refuseAsGraphqlJs(200),
    rootOf: (rows) => ({
      sync: {
        chains: rows.map(({ chainId, block, timestampSec, hash, indexingErrors }) => ({
          id: chainId,
          last_block: block ?? 0,
          last_block_time: timestampSec,
          last_block_hash: hash,
          error: indexingErrors === true ? "handler failed" : null,
        })),
      },
    }),
  },
} as const satisfies Readonly<Record<string, Server>>;

/** Pages that are read with a GET. */
const PAGES = {
  /** Ponder's own route, beside its API. */
  "ponder-status": (rows) => json(ponderStatus(rows)),
  // hyperindex: packages/envio/src/Metrics.res
  "envio-metrics": (rows) =>
    metricsPage({
      envio_progress_block: rows.map(
        ({ chainId, block }) => `{chainId="${String(chainId)}"} ${String(block ?? -1)}`,
      ),
      envio_progress_block_time_seconds: rows
        .filter(({ block }) => block !== null)
        .map(({ chainId, timestampSec }) => `{chainId="${String(chainId)}"} ${String(timestampSec)}`),
    }),
  // erpc: telemetry/metrics.go
  erpc: (rows) =>
    metricsPage({
      erpc_network_served_tip_block_number: rows.map(
        ({ block, chainId }) =>
          `{axis="latest",lane="all",network="evm:${String(chainId)}",project="main"} ${String(block)}`,
      ),
    }),
} as const satisfies Readonly<Record<string, (rows: readonly ServedRow[]) => Answer>>;

/** Prometheus' text format, with a gauge of the process before those that are asked for. */
function metricsPage(gauges: Readonly<Record<string, readonly string[]>>): Answer {
  const families = Object.entries({ process_cpu_seconds_total: [" 12.5"], ...gauges });
  const lines = families.flatMap(([name, series]) => [
    `# TYPE ${name} gauge`,
    ...series.map((one) => `${name}${one}`),
  ]);
  const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
  return { status: 200, headers, body: `${lines.join("\n")}\n` };
}

/** A chain's own node: JSON-RPC 2.0, numbers as hexadecimal text. */
function rpcOutcome({ method, params }: Readonly<Record<string, unknown>>, row: ServedRow): object {
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

/** @throws {RangeError} If there is none: a server of one chain always has a row. */
function firstOf([row]: readonly ServedRow[]): ServedRow {
  if (row === undefined) {
    throw new RangeError("Cannot answer: a server of one chain has no row");
  }
  return row;
}

/** The arguments of a list. `where: { chainId: 1 }`, or `{ _eq: 1 }`, is the one condition that is understood. */
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

/** The campaigns of a chain, one for each event, numbered from 1. Where the target says something else, one row with that. */
function campaignsOf({ campaigns, chainId }: ServedRow, limit = MAX_ROWS, order = "asc") {
  if (typeof campaigns !== "number") {
    return [{ id: `${String(chainId)}-0`, chainId, subgraphId: campaigns }];
  }
  const length = Math.max(0, Math.min(campaigns, limit, MAX_ROWS));
  return Array.from({ length }, (_, index) => {
    const number = order === "desc" ? campaigns - index : 1 + index;
    // A big number, and so a string.
    return { id: `${String(chainId)}-${number}`, chainId, subgraphId: String(number) };
  });
}
