import type { Endpoint, Form, MetricsForm } from "../core/model/fleet.ts";
import { memoize } from "../core/model/memoize.ts";
import type { Question } from "./dialect.ts";
import { questionsOf, readForm } from "./form.ts";
import { graphStatusQuestion } from "./graph-status.ts";
import { metricsQuestion } from "./metrics.ts";
import { describeValue, readPositiveInteger } from "./values.ts";

/**
 * The families of indexers that `auto` can detect: how each is asked, richest question first, and where its reply has what.
 * A refused question leads to the next.
 */
export const FAMILIES = {
  // graph-node and everything that serves its `_meta`: The Graph's gateway and Studio, Goldsky, Ormi, Satsuma. Fields:
  // graph-node's graph/src/schema/meta.graphql; `timestamp` since v0.28, sometimes null. `_meta` must not be aliased: for a
  // failed subgraph graph-node keeps only the key `_meta`.
  graph: [
    {
      query: [
        "{ _meta { block { number hash timestamp } hasIndexingErrors deployment } }",
        "{ _meta { block { number } } }",
      ],
      height: "_meta.block.number",
      time: "_meta.block.timestamp?",
      hash: "_meta.block.hash?",
      deployment: "_meta.deployment?",
      failed: "_meta.hasIndexingErrors?",
    },
  ],
  // Envio HyperIndex: Hasura over its own tables. One unknown field refuses the whole query. `progressBlockTime` came after
  // 3.8.0 (enviodev/hyperindex#1644), `_meta` with 2.28.0; before that there is only `chain_metadata`. `sourceBlock` is not
  // queried: since v3 it freezes together with the progress. -1 is the initial value, and every column is nullable.
  envio: [
    {
      query: ["{ _meta { chainId progressBlock progressBlockTime } }", "{ _meta { chainId progressBlock } }"],
      rows: "_meta",
      chainId: "chainId?",
      height: "progressBlock",
      time: "progressBlockTime?",
      notStarted: [null, -1],
    },
    {
      query: "{ chain_metadata { chain_id latest_processed_block } }",
      rows: "chain_metadata",
      chainId: "chain_id?",
      height: "latest_processed_block",
      notStarted: [null, -1],
    },
  ],
  // Ponder: one JSON scalar with an entry per chain, keyed by the chain's name, with the id inside; in 0.9.x the id was the
  // key (ponder-sh/ponder#1516). `block` is null while it back-fills.
  ponder: [
    {
      query: "{ _meta { status } }",
      rows: "_meta.status.*",
      chainId: "id|$key?",
      height: "block.number",
      time: "block.timestamp?",
      notStarted: [null],
    },
  ],
  // A squid of SQD (Subsquid) behind `@subsquid/graphql-server`: one chain, without its id and without a block time.
  // `height` includes blocks that are not final yet. The first servers had no `hash`; the store begins with (-1, "0x").
  squid: [
    {
      query: ["{ squidStatus { height hash } }", "{ squidStatus { height } }"],
      height: "squidStatus.height",
      hash: "squidStatus.hash?",
      notStarted: [null, -1],
    },
  ],
  // SubQuery's query service. `chain` is the id of an EVM chain as text, and a name elsewhere. `_metadatas` came with
  // multi-chain projects. `lastProcessedTimestamp` is not queried: it is when the node processed the block, not the block's
  // own time. `targetHeight` and `indexerHealthy` freeze with the node and prove nothing.
  subquery: [
    {
      query: "{ _metadatas { nodes { lastProcessedHeight chain } } }",
      rows: "_metadatas.nodes",
      chainId: "chain?",
      height: "lastProcessedHeight",
      notStarted: [null],
    },
    {
      query: "{ _metadata { lastProcessedHeight chain } }",
      chainId: "_metadata.chain?",
      height: "_metadata.lastProcessedHeight",
      notStarted: [null],
    },
  ],
} as const satisfies Readonly<Record<string, readonly Form[]>>;

/** Where a page usually is below an indexer's address: `synclag probe` looks there. */
interface Page {
  readonly usualPath?: string;
}

/**
 * Families that chains.yaml must name: each is a GET of a URL of its own, which `auto` never sends. What such a page says of
 * its own health (`synced`, `inSync`, `healthy`, a lag) is computed by the indexer itself and is not read.
 */
const REST_FAMILIES = {
  // `GET /status`, which every Ponder has: its GraphQL is opt-in. The rows are those of dialect `ponder`.
  "ponder-status": {
    usualPath: "/status",
    rows: "*",
    chainId: "id|$key?",
    height: "block.number",
    time: "block.timestamp?",
    notStarted: [null],
  },
  // `GET /meta` of a SubQuery node. Later nodes have only the block that they have begun to process; before the first
  // block they have neither. `lastProcessedTimestamp` is when the node processed the block, not the block's own time.
  "subquery-meta": {
    usualPath: "/meta",
    chainId: "chain?",
    height: "lastProcessedHeight|currentProcessingHeight?",
    notStarted: [null],
  },
  // `GET /datasets/NAME/head` of an SQD Portal: the newest block that the dataset has.
  "sqd-portal": { usualPath: "/head", height: "number", hash: "hash?" },
  // `GET /api/v1/about/indexing/` of a Safe transaction service. Its second indexer, of ERC-20 transfers, has
  // `erc20BlockNumber`: null where it is switched off.
  safe: {
    usualPath: "/api/v1/about/indexing/",
    height: "masterCopiesBlockNumber",
    time: "masterCopiesBlockTimestamp?",
    notStarted: [null],
  },
  // `GET /api/v2` of a Blockbook. `lastBlockTime` is when the block arrived, not the block's own time.
  blockbook: { usualPath: "/api/v2", height: "blockbook.bestHeight", notStarted: [-1] },
  // `GET /api/indexing-status` of ENSNode. A chain in the queue has no `latestIndexedBlock`.
  ensnode: {
    usualPath: "/api/indexing-status",
    rows: "realtimeProjection.snapshot.omnichainSnapshot.chains.*",
    chainId: "$key",
    height: "latestIndexedBlock.number?",
    time: "latestIndexedBlock.timestamp?",
    notStarted: [null],
  },
  // `GET /api/v2/main-page/blocks` of a Blockscout: newest first. `/main-page/indexing-status` has no height.
  blockscout: {
    usualPath: "/api/v2/main-page/blocks",
    height: "0.height",
    time: "0.timestamp?",
    hash: "0.hash?",
  },
  // `GET /health` of an Algorand indexer.
  algorand: { usualPath: "/health", height: "round" },
} as const satisfies Readonly<Record<string, Form & Page>>;

/**
 * Families whose page of Prometheus metrics has the height. Gauges that say how far behind, how ready or how late an indexer is are
 * computed by the indexer itself and are not read. Ponder is not here: its `ponder_sync_block` is what was fetched, not what was
 * indexed; `ponder-status` has that.
 */
const METRICS_FAMILIES = {
  // `:9898/metrics` of Envio HyperIndex 3, on Envio Cloud `…/hyperindex/metrics`. The time came after 3.8.0.
  "envio-metrics": {
    usualPath: "/metrics",
    height: "envio_progress_block",
    time: "envio_progress_block_time_seconds",
    chain: "chainId",
  },
  // `:8040/metrics` of graph-node: all deployments, found by their ids.
  "graph-node-metrics": { height: "deployment_head", chain: "deployment" },
  // A processor of SQD, at its PROMETHEUS_PORT: one process is one chain.
  "sqd-metrics": { usualPath: "/metrics", height: "sqd_processor_last_block" },
  // SQD Pipes, `:9090/metrics`: a pipe has a name. -1 before the first batch.
  "sqd-pipes": { height: "sqd_processed_block", chain: "id" },
  // A SubQuery node: the block that it has begun to process.
  "subquery-metrics": { usualPath: "/metrics", height: "subql_indexer_processing_block_height" },
  // rindexer, `:8080/metrics`: a series for each event of each contract.
  rindexer: { height: "rindexer_last_synced_block", chain: "network" },
  // Shovel: 0 where its database cannot be read.
  shovel: { height: "shovel_latest_block_local", chain: "src" },
  // A sink of Substreams, `:9102/metrics`.
  substreams: { height: "head_block_number", where: { app: "substreams_sink" } },
  // eRPC, `:4001/metrics`: the head of a network that it serves in cluster mode, `evm:8453`. In its default mode there is none.
  erpc: {
    height: "erpc_network_served_tip_block_number",
    chain: "network",
    where: { lane: "all", axis: "latest" },
  },
  // A component of Firehose, `:9102/metrics`: of several apps in one process the head of the last.
  firehose: { height: "head_block_number" },
  // An indexer of NEAR, NEAR Lake among them.
  "near-lake": { height: "near_indexer_streaming_current_block_height" },
} as const satisfies Readonly<Record<string, MetricsForm & Page>>;

/** The dialect of an Ethereum JSON-RPC node, under `rpc` alone. */
export const RPC_DIALECT = "rpc";
/** The values of `dialect` of a node under `rpc`: what serves the head of a chain. */
export const HEAD_DIALECTS = [RPC_DIALECT, "erpc", "firehose", "sqd-portal", "metrics", "custom"] as const;

/** An Ethereum JSON-RPC node: the chain's own head. */
const RPC: Form = {
  body: { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: ["latest", false] },
  height: "number",
  time: "timestamp?",
  hash: "hash?",
};

export const RPC_QUESTIONS = questionsOf(RPC);

/** The chain id of an RPC node, as a row without a height. */
export const CHAIN_ID_QUESTION: Question = {
  body: { jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] },
  reads: "data",
  read: ({ value }) => {
    const chainId = readPositiveInteger(value);
    return chainId === null
      ? `Cannot read result as a chain id: ${describeValue(value)}`
      : [{ chainId, content: { kind: "not_started" } }];
  },
};

/** An RPC node's block of this height, as a row without a chain; a node that does not have it has not started. */
export function blockQuestion(block: number): Question {
  return {
    body: { ...RPC.body, params: [`0x${block.toString(16)}`, false] },
    reads: "data",
    read: (found) =>
      found.value === null ? [{ chainId: null, content: { kind: "not_started" } }] : readForm(RPC, found),
  };
}

type AskedEndpoint = Pick<Endpoint, "targets" | "custom" | "metrics"> &
  Partial<Pick<Endpoint, "chain" | "chainId">>;

/** The questions of a dialect, and the keys of chains.yaml that it needs in addition to the URL. */
export interface Dialect extends Page {
  /** The key of chains.yaml without which it cannot ask: of the indexer, or of each of its chains. */
  readonly needs?: "custom" | "deployment";
  /** Reads a metrics page: what it knows of that page, to which `metrics` in chains.yaml adds. */
  readonly metrics?: Partial<MetricsForm>;
  /** Whether `status` (an index-node API) is allowed. */
  readonly takesStatus?: boolean;
  /** Why its requests cannot carry the selections of `parity`; absent where they can. */
  readonly carriesNothing?: string;
  /** Its questions to an endpoint, likeliest first. A refused question leads to the next. */
  questions(endpoint: AskedEndpoint): readonly Question[];
}

/** The questions of the families, richest first. */
export const FAMILY_QUESTIONS: ReadonlyMap<string, readonly Question[]> = new Map(
  Object.entries<readonly Form[]>(FAMILIES).map(([name, forms]) => [name, forms.flatMap(questionsOf)]),
);

/** The values of `dialect` in chains.yaml. */
export const DIALECTS: Readonly<Record<string, Dialect>> = {
  auto: { questions: ({ targets }) => likeliestFirst(targets.length) },
  ...each<readonly Form[]>(FAMILIES, (_, name) => ({
    takesStatus: name === "graph",
    questions: () => FAMILY_QUESTIONS.get(name) ?? [],
  })),
  ...each<Form & Page>(REST_FAMILIES, ({ usualPath = "", ...form }) => ({
    usualPath,
    carriesNothing: "sends a GET, which has no query",
    questions: () => questionsOf(form),
  })),
  "graph-status": {
    needs: "deployment",
    carriesNothing: "asks the index-node API, which has no data",
    questions: ({ targets }) => [graphStatusQuestion(targets)],
  },
  ...each<Partial<MetricsForm> & Page>({ ...METRICS_FAMILIES, metrics: {} }, metricsDialect),
  custom: {
    needs: "custom",
    questions: ({ custom }) => (custom === undefined ? [] : questionsOf(custom)),
  },
};

/**
 * What an endpoint may be asked, likeliest first. All that has to be remembered of an endpoint is the index of the
 * question that fitted last. The configuration accepts no other dialects.
 */
export const questionsFor = memoize(
  (endpoint: AskedEndpoint & Pick<Endpoint, "dialect">): readonly Question[] =>
    endpoint.dialect === RPC_DIALECT
      ? RPC_QUESTIONS
      : (DIALECTS[endpoint.dialect]?.questions(endpoint) ?? []),
);

function each<Row>(rows: Readonly<Record<string, Row>>, dialectOf: (row: Row, name: string) => Dialect) {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, dialectOf(row, name)]));
}

/** The configuration makes sure that either the family or chains.yaml names the height. */
function metricsDialect({ usualPath = "", ...known }: Partial<MetricsForm> & Page): Dialect {
  return {
    usualPath,
    metrics: known,
    carriesNothing: "reads a metrics page, which has no data",
    ...(known.chain === "deployment" ? { needs: "deployment" } : {}),
    questions(endpoint) {
      const { height, ...others } = { ...known, ...endpoint.metrics };
      const where = { ...known.where, ...endpoint.metrics?.where };
      return height === undefined ? [] : [metricsQuestion({ ...others, height, where }, endpoint)];
    },
  };
}

/** A subgraph has one chain: the first guess for an endpoint of one chain, the last for one of several. */
function likeliestFirst(chainCount: number): readonly Question[] {
  const { graph = [], ...others } = Object.fromEntries(FAMILY_QUESTIONS);
  const rest = Object.values(others).flat();
  return chainCount > 1 ? [...rest, ...graph] : [...graph, ...rest];
}
