import type { GraphQLError } from "graphql";
import { type Answer, type Call, graphError, html, json, type ServedRow } from "./answer.ts";
import { answerQuery, type GraphqlServer, refuseAsGraphqlJs, schemaOf, unknownFieldIn } from "./graphql.ts";

/** The software, and its version, that an endpoint simulates. */
export type ServerKind = keyof typeof SERVERS | "rpc";

/** Replies like the real software; `apiKeys`: the keys that a gateway accepts. */
export function answerAs(
  kind: ServerKind,
  apiKeys: readonly string[],
  call: Call,
  rows: readonly ServedRow[],
): Answer {
  const server: Server | Page | null = kind === "rpc" ? null : SERVERS[kind];
  if (call.method !== (typeof server === "function" ? "GET" : "POST")) {
    return html("405 Method Not Allowed", 405);
  }
  if (typeof server === "function") {
    return server(rows);
  }
  const sent = parseObject(call.body);
  if (server === null) {
    return json({ jsonrpc: "2.0", id: sent["id"] ?? null, ...rpcOutcome(sent, firstOf(rows)) });
  }
  const query = sent["query"];
  if (typeof query !== "string") {
    return json({ errors: [{ message: "the body has no query" }] }, 400);
  }
  const refusal = kind === "gateway" ? refuseCaller(call, apiKeys) : null;
  return refusal ?? server.answer?.(query, rows) ?? answerQuery(server, query, server.rootOf(rows));
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = text === "" ? null : JSON.parse(text);
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** A server of GraphQL. */
interface Server extends GraphqlServer {
  /** What the root fields hold. */
  readonly rootOf: (rows: readonly ServedRow[]) => Readonly<Record<string, unknown>>;
  /** Answers in place of the above, where the software does more than to select fields. */
  readonly answer?: (query: string, rows: readonly ServedRow[]) => Answer;
}

const CAMPAIGN = "type Campaign { id: Any chainId: Any subgraphId: Any }";

const GRAPH: Server = {
  // graph-node: graph/src/schema/meta.graphql
  schema: schemaOf(`
    type Query {
      _meta: _Meta_
      campaigns(first: Int, orderBy: Any, orderDirection: Any): [Campaign]
      streams(first: Int, orderBy: Any, orderDirection: Any): [Campaign]
    }
    type _Meta_ { block: _Block_ deployment: Any hasIndexingErrors: Any }
    type _Block_ { hash: Any number: Any timestamp: Any }
    ${CAMPAIGN}
  `),
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
    const answer = answerQuery(GRAPH, query, GRAPH.rootOf(rows));
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

function refuseAsGraphNode(errors: readonly GraphQLError[]): Answer {
  const messages = errors.map((error) => {
    const unknown = unknownFieldIn(error);
    return unknown === null ? error.message : `Type \`${unknown.type}\` has no field \`${unknown.field}\``;
  });
  return json({ errors: messages.map((message) => ({ message })) });
}

// gateway: src/middleware/require_auth.rs and src/auth.rs
function refuseCaller({ headers, path }: Call, apiKeys: readonly string[]): Answer | null {
  const inPath = /^\/api\/([^/]+)\/(?:subgraphs|deployments)\//.exec(path)?.[1];
  const header = inPath === undefined ? headers["authorization"] : `Bearer ${inPath}`;
  if (header === undefined) {
    return graphError("auth error: missing authorization header");
  }
  const key = /^Bearer (.*)$/.exec(header)?.[1] ?? "";
  if (!/^[0-9a-f]{32}$/i.test(key)) {
    return graphError("auth error: malformed API key");
  }
  return apiKeys.includes(key) ? null : graphError("auth error: API key not found");
}

/** The Hasura in front of an Envio indexer, with these tables and columns: rows for all chains, HTTP 200 for every refusal. */
function envio(columnsOf: Readonly<Record<string, string>>): Server {
  const tables = Object.entries({ ...columnsOf, Campaign: CAMPAIGN_COLUMNS, Stream: CAMPAIGN_COLUMNS });
  return {
    // hyperindex: packages/envio/src/db/InternalTable.res
    schema: schemaOf(`
      schema { query: query_root }
      type query_root { ${tables.map(([name]) => `${name}(where: Any, order_by: Any, limit: Int): [${name}]`).join(" ")} }
      ${tables.map(([name, columns]) => `type ${name} { ${columns.replaceAll(/\w+/g, "$&: Any")} }`).join(" ")}
    `),
    refuse: refuseAsHasura,
    rootOf(rows) {
      const inOrder = rows.toSorted((one, other) => Number(one.chainId) - Number(other.chainId));
      const events = ({ where, order_by: order, limit }: ListArguments<{ readonly _eq?: unknown }>) =>
        inOrder
          .flatMap((row) => campaignsOf(row, limit, order?.subgraphId))
          .filter(({ chainId }) => isWanted(chainId, where?.chainId?._eq));
      return {
        _meta: inOrder.map(({ chainId, block, timestampSec }) => ({
          chainId,
          progressBlock: block ?? -1,
          progressBlockTime: block === null ? null : timestampSec,
        })),
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

function refuseAsHasura([error]: readonly GraphQLError[]): Answer {
  const unknown = error === undefined ? null : unknownFieldIn(error);
  const message =
    unknown === null
      ? "not a valid graphql query"
      : `field '${unknown.field}' not found in type: '${unknown.type}'`;
  return json({ errors: [{ message, extensions: { path: "$", code: "validation-failed" } }] });
}

const META = "chainId progressBlock";
const OLD_META = "chain_id latest_processed_block";
const CAMPAIGN_COLUMNS = "id chainId subgraphId";

/** graph-node's index-node API: numbers as strings, hashes without 0x, no chain id. */
const GRAPH_STATUS: Server = {
  // graph-node: server/index-node/src/schema.graphql
  schema: schemaOf(`
    type Query { indexingStatuses(subgraphs: [String!]): [Status] version: Version }
    type Version { version: Any commit: Any }
    type Status { subgraph: Any health: Any fatalError: Error chains: [Chain] }
    type Error { message: Any handler: Any deterministic: Any block: Block }
    type Chain { latestBlock: Block }
    type Block { number: Any hash: Any }
  `),
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
const PONDER: Server = {
  // ponder: packages/core/src/graphql/index.ts
  schema: schemaOf(`
    type Query { _meta: Meta campaigns(where: Any, orderBy: String, orderDirection: String, limit: Int): CampaignPage }
    type Meta { status: Any }
    type CampaignPage { items: [Campaign] }
    ${CAMPAIGN}
  `),
  refuse: (errors) => refuseAsGraphqlJs(errors, 200),
  rootOf: (rows) => ({
    _meta: { status: ponderStatus(rows) },
    campaigns: ({ where, orderDirection, limit }: ListArguments) => ({
      items: rows
        .filter(({ chainId }) => isWanted(chainId, where?.chainId))
        .flatMap((row) => campaignsOf(row, limit, orderDirection)),
    }),
  }),
};

function ponderStatus(rows: readonly ServedRow[]): object {
  return Object.fromEntries(
    rows.map(({ slug, chainId: id, block, timestampSec }) => [
      slug,
      { id, block: block === null ? null : { number: block, timestamp: timestampSec } },
    ]),
  );
}

/** One chain, -1 before the first block. */
const SQUID: Server = {
  // squid-sdk: graphql/graphql-server/src/server.ts
  schema: schemaOf("type Query { squidStatus: SquidStatus } type SquidStatus { height: Any hash: Any }"),
  refuse: (errors) => refuseAsGraphqlJs(errors, 400),
  rootOf(rows) {
    const { block, hash } = firstOf(rows);
    return { squidStatus: block === null ? { height: -1, hash: "0x" } : { height: block, hash } };
  },
};

/** A row of metadata per chain; every field may be null. */
const SUBQUERY: Server = {
  // subql: packages/query/src/graphql/plugins/GetMetadataPlugin.ts
  schema: schemaOf(`
    type Query { _metadata: _Metadata _metadatas: _Metadatas }
    type _Metadatas { nodes: [_Metadata] }
    type _Metadata { lastProcessedHeight: Any chain: Any }
  `),
  refuse: (errors) => refuseAsGraphqlJs(errors, 400),
  rootOf(rows) {
    const nodes = rows.map(({ block, chainId }) => ({ lastProcessedHeight: block, chain: String(chainId) }));
    return { _metadatas: { nodes }, _metadata: nodes[0] ?? null };
  },
};

/** The settings of dialect custom for the simulated custom indexer. */
export const SIMULATED_CUSTOM = {
  query: "{ sync { chains { id last_block last_block_time last_block_hash error } } }",
  rows: "sync.chains",
  height: "last_block",
  time: "last_block_time",
  chainId: "id",
  hash: "last_block_hash",
  failed: "error",
} as const;

/** A custom indexer with a GraphQL schema of its own. */
const CUSTOM: Server = {
  schema: schemaOf(`
    type Query { sync: Sync }
    type Sync { chains: [Chain] }
    type Chain { id: Any last_block: Any last_block_time: Any last_block_hash: Any error: Any }
  `),
  refuse: (errors) => refuseAsGraphqlJs(errors, 200),
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
};

const SERVERS = {
  /** The Graph's gateway: needs a key, answers 200 to everything, has several indexers behind one URL. */
  gateway: GRAPH,
  /** Subgraph Studio: no key. */
  studio: GRAPH,
  /** graph-node behind its own URL. */
  "graph-node": GRAPH,
  envio: envio({ _meta: `${META} progressBlockTime`, chain_metadata: OLD_META }),
  /** Envio 2.28 to 3.8: `_meta`, and no time. */
  "envio-3.2": envio({ _meta: META, chain_metadata: OLD_META }),
  /** Envio before 2.28. */
  "envio-2.27": envio({ chain_metadata: OLD_META }),
  ponder: PONDER,
  squid: SQUID,
  subquery: SUBQUERY,
  "graph-status": GRAPH_STATUS,
  custom: CUSTOM,
  /** Ponder's own route, beside its API. */
  "ponder-status": (rows) => json(ponderStatus(rows)),
  // hyperindex: packages/envio/src/Metrics.res
  "envio-metrics": (rows) =>
    metricsPage({
      envio_progress_ready: rows.map(({ chainId }) => `{chainId="${String(chainId)}"} 1`),
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
      erpc_network_served_tip_block_number: rows.flatMap(({ block, chainId }) =>
        ["latest", "finalized"].map(
          (axis) =>
            `{axis="${axis}",lane="all",network="evm:${String(chainId)}",project="main"} ${Number(block) - (axis === "latest" ? 0 : 64)}`,
        ),
      ),
    }),
} as const satisfies Readonly<Record<string, Server | Page>>;

/** A page that is read with a GET. */
type Page = (rows: readonly ServedRow[]) => Answer;

/** Prometheus' text format, with the gauges of the process before those that are asked for. */
function metricsPage(gauges: Readonly<Record<string, readonly string[]>>): Answer {
  const families = Object.entries({ process_cpu_seconds_total: [" 12.5"], ...gauges });
  const lines = families.flatMap(([name, series]) => [
    `# HELP ${name} Help.`,
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
    case "eth_getBlockByNumber": {
      const found = { number: quantity(block), hash, timestamp: quantity(timestampSec), transactions: [] };
      return { result: block === null ? null : found };
    }
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
