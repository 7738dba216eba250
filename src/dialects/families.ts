import type { Endpoint, Form, MetricsForm } from "../core/model/fleet.ts";
import { memoize } from "../core/model/memoize.ts";
import { NOT_STARTED, type Question } from "./dialect.ts";
import { questionsOf, readForm } from "./form.ts";
import { graphStatusQuestion } from "./graph-status.ts";
import { metricsQuestion } from "./metrics.ts";
import { describeValue, readPositiveInteger } from "./values.ts";

/** The heights that mean "before the first block" in families without `notStarted`. */
const NOTHING_INDEXED = [null, -1];

/** Ponder has an entry per chain, keyed by the name, with the id inside. In 0.9.x the id was the key (ponder-sh/ponder#1516). */
const PONDER_ROW = { chainId: "id|$key?", height: "block.number", time: "block.timestamp?" } as const;

/**
 * The families of indexers that `auto` can detect, each with its questions and the paths in its reply. The question with most
 * fields comes first; after a refusal, the next one is sent.
 */
export const FAMILIES = {
  // graph-node and everything that serves its `_meta`: The Graph's gateway and Studio, Goldsky, Ormi, Satsuma. The fields are in
  // graph-node's graph/src/schema/meta.graphql. `timestamp` exists since v0.28, and is sometimes null. `_meta` has no alias,
  // because for a failed subgraph graph-node returns only the key `_meta`.
  graph: {
    query: [
      "{ _meta { block { number hash timestamp } hasIndexingErrors deployment } }",
      "{ _meta { block { number } } }",
    ],
    height: "_meta.block.number",
    time: "_meta.block.timestamp?",
    hash: "_meta.block.hash?",
    deployment: "_meta.deployment?",
    failed: "_meta.hasIndexingErrors?",
    notStarted: [],
  },
  // Envio HyperIndex: Hasura over its own tables, which refuses a query with one unknown field. `chain_metadata` is the oldest
  // table; `_meta` came with 2.28.0, and `progressBlockTime` after 3.8.0 (enviodev/hyperindex#1644). `sourceBlock` is not
  // queried: since v3 it freezes together with the progress. -1 is the initial value, and every column is nullable.
  envio: [
    {
      query: ["{ _meta { chainId progressBlock progressBlockTime } }", "{ _meta { chainId progressBlock } }"],
      rows: "_meta",
      chainId: "chainId?",
      height: "progressBlock",
      time: "progressBlockTime?",
    },
    {
      query: "{ chain_metadata { chain_id latest_processed_block } }",
      rows: "chain_metadata",
      chainId: "chain_id?",
      height: "latest_processed_block",
    },
  ],
  // `status` is one JSON scalar. `block` is null while Ponder back-fills.
  ponder: { query: "{ _meta { status } }", rows: "_meta.status.*", ...PONDER_ROW },
  // A squid of SQD (Subsquid) behind `@subsquid/graphql-server` has one chain, without an id or a block time. `height` includes
  // blocks that are not final yet, and is -1 at first. The first servers had no `hash`.
  squid: {
    query: ["{ squidStatus { height hash } }", "{ squidStatus { height } }"],
    height: "squidStatus.height",
    hash: "squidStatus.hash?",
  },
  // SubQuery's query service. `chain` is the id of an EVM chain as text, and a name for other chains. `_metadatas` came with
  // multi-chain projects. `lastProcessedTimestamp` is not queried, because it is the time of processing, not of the block.
  // `targetHeight` and `indexerHealthy` are not queried, because they freeze with the node.
  subquery: [
    {
      query: "{ _metadatas { nodes { lastProcessedHeight chain } } }",
      rows: "_metadatas.nodes",
      chainId: "chain?",
      height: "lastProcessedHeight",
    },
    {
      query: "{ _metadata { lastProcessedHeight chain } }",
      chainId: "_metadata.chain?",
      height: "_metadata.lastProcessedHeight",
    },
  ],
} as const satisfies Readonly<Record<string, Form | readonly Form[]>>;

/**
 * Families that chains.yaml must name, because `auto` sends no GET. The health on a page (`synced`, `inSync`, `healthy`, a lag)
 * is not read: the indexer computes it from its own source, which may have failed. References: docs/dialects.md.
 */
const REST_FAMILIES = {
  // Every Ponder serves this page, while its GraphQL is optional.
  "ponder-status": { path: "/status", rows: "*", ...PONDER_ROW },
  // Newer nodes report only the block that they have begun to process. Before the first block, a node has neither height.
  "subquery-meta": {
    path: "/meta",
    chainId: "chain?",
    height: "lastProcessedHeight|currentProcessingHeight?",
  },
  "sqd-portal": { path: "/head", height: "number", hash: "hash?" },
  // `erc20BlockNumber` is not read: it belongs to a second indexer, which may be switched off.
  safe: {
    path: "/api/v1/about/indexing/",
    height: "masterCopiesBlockNumber",
    time: "masterCopiesBlockTimestamp?",
  },
  // `lastBlockTime` is when the block arrived, not the block's own time.
  blockbook: { path: "/api/v2", height: "blockbook.bestHeight" },
  // A chain that waits for its turn has no `latestIndexedBlock`.
  ensnode: {
    path: "/api/indexing-status",
    rows: "realtimeProjection.snapshot.omnichainSnapshot.chains.*",
    chainId: "$key",
    height: "latestIndexedBlock.number?",
    time: "latestIndexedBlock.timestamp?",
    completed: "chainStatus?",
  },
  // The newest block is the first of the list. `/main-page/indexing-status` has no height.
  blockscout: { path: "/api/v2/main-page/blocks", height: "0.height", time: "0.timestamp?", hash: "0.hash?" },
  algorand: { path: "/health", height: "round" },
} as const satisfies Readonly<Record<string, Form & Page>>;

/**
 * Families with the height on a page of Prometheus metrics. Gauges about lag and readiness are not read: the indexer computes
 * them from its own source. Ponder is missing: its `ponder_sync_block` is the last fetched block, not the last indexed one.
 */
const METRICS_FAMILIES = {
  // HyperIndex 3. The gauge of the time came after 3.8.0.
  "envio-metrics": {
    path: "/metrics",
    height: "envio_progress_block",
    time: "envio_progress_block_time_seconds?",
    chain: "chainId",
  },
  "graph-node-metrics": { height: "deployment_head", chain: "deployment" },
  "sqd-metrics": { path: "/metrics", height: "sqd_processor_last_block" },
  // The label is the name of a pipe. The height is -1 before the first batch.
  "sqd-pipes": { height: "sqd_processed_block", chain: "id" },
  "subquery-metrics": { path: "/metrics", height: "subql_indexer_processing_block_height" },
  rindexer: { height: "rindexer_last_synced_block", chain: "network" },
  // The height is 0 if Shovel cannot read its database.
  shovel: { height: "shovel_latest_block_local", chain: "src" },
  substreams: { height: "head_block_number", where: { app: "substreams_sink" } },
  // The head of a network such as `evm:8453`, which eRPC reports only in cluster mode.
  erpc: {
    height: "erpc_network_served_tip_block_number",
    chain: "network",
    where: { lane: "all", axis: "latest" },
  },
  // If several apps run in one process, this is the head of the last one.
  firehose: { height: "head_block_number" },
  "near-lake": { height: "near_indexer_streaming_current_block_height" },
  // Any page: chains.yaml names the gauges.
  metrics: {},
} as const satisfies Readonly<Record<string, Partial<MetricsForm> & Page>>;

/** The dialect of an Ethereum JSON-RPC node. It is valid only under `rpc`. */
export const RPC_DIALECT = "rpc";
/** The values of `dialect` under `rpc`: dialects of servers that report the head of a chain. */
export const HEAD_DIALECTS = [RPC_DIALECT, "erpc", "firehose", "sqd-portal", "metrics", "custom"] as const;

/** An Ethereum JSON-RPC node: the chain's own head. */
const RPC: Form = {
  body: { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: ["latest", false] },
  height: "number",
  time: "timestamp?",
  hash: "hash?",
};

const RPC_QUESTIONS = questionsOf(RPC);

/** The chain id of an RPC node, as a row without a height. */
export const CHAIN_ID_QUESTION: Question = {
  body: { jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] },
  reads: "data",
  read: ({ value }) => {
    const chainId = readPositiveInteger(value);
    return chainId === null
      ? `Cannot read result as a chain id: ${describeValue(value)}`
      : [{ ...NOT_STARTED, chainId }];
  },
};

/** Asks an RPC node for the block of a height. A node that lacks the block replies like an indexer that has not started. */
export function blockQuestion(block: number): Question {
  return {
    body: { ...RPC.body, params: [`0x${block.toString(16)}`, false] },
    reads: "data",
    read: (found) => (found.value === null ? [NOT_STARTED] : readForm(RPC, found)),
  };
}

/** A dialect. If it has no `questions` of its own, `questionsFor` makes them for each endpoint. */
interface Dialect {
  /** The usual path of its page: `synclag probe` looks there. */
  readonly path?: string | undefined;
  readonly questions?: readonly Question[];
  /** Whether its replies do not name the chain, so that a URL can serve only one. */
  readonly isOfOneChain?: boolean;
  /** The gauges that the dialect reads. The `metrics` block of chains.yaml may add others. */
  readonly metrics?: Partial<MetricsForm>;
}

type Page = Pick<Dialect, "path">;

/** The values of `dialect` in chains.yaml. */
export const DIALECTS: Readonly<Record<string, Dialect>> = {
  auto: {},
  ...each<Form | readonly Form[]>(FAMILIES, (forms) => ({
    questions: familyQuestions(forms),
    isOfOneChain: isOfOneChain(forms),
  })),
  ...each<Form & Page>(REST_FAMILIES, (row) => ({
    path: row.path,
    questions: familyQuestions(row),
    isOfOneChain: isOfOneChain(row),
  })),
  "graph-status": {},
  ...each<Partial<MetricsForm> & Page>(METRICS_FAMILIES, (row) => ({ path: row.path, metrics: row })),
  custom: {},
};

function each<Row>(rows: Readonly<Record<string, Row>>, dialectOf: (row: Row) => Dialect) {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, dialectOf(row)]));
}

/** Whether no form has a path to the chain. */
export function isOfOneChain(forms: Form | readonly Form[]): boolean {
  return [forms].flat().every(({ chainId }) => chainId === undefined);
}

function familyQuestions(forms: Form | readonly Form[]): readonly Question[] {
  return [forms].flat().flatMap((form) => questionsOf({ notStarted: NOTHING_INDEXED, ...form }));
}

type AskedEndpoint = Pick<Endpoint, "dialect" | "targets" | "custom" | "metrics"> &
  Partial<Pick<Endpoint, "chain" | "chainId">>;

/**
 * The questions for an endpoint, likeliest first. After a refusal, the next one is sent. An endpoint's
 * search keeps only the index of a question, so the order of its questions must not change.
 */
export const questionsFor = memoize((endpoint: AskedEndpoint): readonly Question[] => {
  const { dialect, targets, custom } = endpoint;
  const { questions = [], metrics } = DIALECTS[dialect] ?? {};
  if (metrics !== undefined) {
    const where = { ...metrics.where, ...endpoint.metrics?.where };
    // The configuration ensures that the family or chains.yaml names the height.
    return [metricsQuestion({ height: "", ...metrics, ...endpoint.metrics, where }, endpoint)];
  }
  switch (dialect) {
    case "auto":
      return likeliestFirst(targets.length);
    case "graph-status":
      return [graphStatusQuestion(targets)];
    case RPC_DIALECT:
      return RPC_QUESTIONS;
    default:
      return custom === undefined ? questions : questionsOf({ ...custom, chainIds: chainIdsIn(endpoint) });
  }
});

/** The ids of an endpoint's chains, by slug and by the names that a row may have instead of an id. */
function chainIdsIn({ targets, custom, chain, chainId }: AskedEndpoint): ReadonlyMap<string, number> {
  const own = chain == null || chainId === undefined ? [] : [[chain, chainId] as const];
  const ids = new Map([...targets.map((target) => [target.chain, target.chainId] as const), ...own]);
  const named = Object.entries(custom?.chains ?? {}).flatMap(([name, slug]) => {
    const id = ids.get(slug);
    return id === undefined ? [] : [[name, id] as const];
  });
  return new Map([...ids, ...named]);
}

/**
 * The questions of `auto`. A subgraph serves one chain, so it is the first guess for an endpoint with one chain, and the last
 * guess for an endpoint with several.
 */
function likeliestFirst(chainCount: number): readonly Question[] {
  const names = Object.keys(FAMILIES);
  const inOrder = chainCount > 1 ? [...names.slice(1), ...names.slice(0, 1)] : names;
  return inOrder.flatMap((name) => DIALECTS[name]?.questions ?? []);
}
