import type { Form, MetricsForm } from "../core/model/fleet.ts";

/**
 * Families that chains.yaml must name: each is a GET of a URL of its own, which `auto` never sends. What such a page says of
 * its own health (`synced`, `inSync`, `healthy`, a lag) is computed by the indexer itself and is not read.
 */
export const REST_FAMILIES = {
  // `GET /status`, which every Ponder has: its GraphQL is opt-in. The rows are those of dialect `ponder`.
  "ponder-status": {
    rows: "*",
    chainId: "id|$key?",
    height: "block.number",
    time: "block.timestamp?",
    notStarted: [null],
  },
  // `GET /meta` of a SubQuery node. Later nodes have only the block that they have begun to process; before the first
  // block they have neither. `lastProcessedTimestamp` is when the node processed the block, not the block's own time.
  "subquery-meta": {
    chainId: "chain?",
    height: "lastProcessedHeight|currentProcessingHeight?",
    notStarted: [null],
  },
  // `GET /datasets/NAME/head` of an SQD Portal: the newest block that the dataset has.
  "sqd-portal": { height: "number", hash: "hash?" },
  // `GET /api/v1/about/indexing/` of a Safe transaction service. Its second indexer, of ERC-20 transfers, has
  // `erc20BlockNumber`: null where it is switched off.
  safe: {
    height: "masterCopiesBlockNumber",
    time: "masterCopiesBlockTimestamp?",
    notStarted: [null],
  },
  // `GET /api/v2` of a Blockbook. `lastBlockTime` is when the block arrived, not the block's own time.
  blockbook: { height: "blockbook.bestHeight", notStarted: [-1] },
  // `GET /api/indexing-status` of ENSNode. A chain in the queue has no `latestIndexedBlock`.
  ensnode: {
    rows: "realtimeProjection.snapshot.omnichainSnapshot.chains.*",
    chainId: "$key",
    height: "latestIndexedBlock.number?",
    time: "latestIndexedBlock.timestamp?",
    notStarted: [null],
  },
  // `GET /api/v2/main-page/blocks` of a Blockscout: newest first. `/main-page/indexing-status` has no height.
  blockscout: { height: "0.height", time: "0.timestamp?", hash: "0.hash?" },
  // `GET /health` of an Algorand indexer.
  algorand: { height: "round" },
} as const satisfies Readonly<Record<string, Form>>;

/**
 * Families whose page of Prometheus metrics has the height. Gauges that say how far behind, how ready or how late an indexer is are
 * computed by the indexer itself and are not read. Ponder is not here: its `ponder_sync_block` is what was fetched, not what was
 * indexed; `ponder-status` has that.
 */
export const METRICS_FAMILIES = {
  // `:9898/metrics` of Envio HyperIndex 3, on Envio Cloud `…/hyperindex/metrics`. The time came after 3.8.0.
  "envio-metrics": {
    height: "envio_progress_block",
    time: "envio_progress_block_time_seconds",
    chain: "chainId",
  },
  // `:8040/metrics` of graph-node: all deployments, found by their ids.
  "graph-node-metrics": { height: "deployment_head", chain: "deployment" },
  // A processor of SQD, at its PROMETHEUS_PORT: one process is one chain.
  "sqd-metrics": { height: "sqd_processor_last_block" },
  // SQD Pipes, `:9090/metrics`: a pipe has a name. -1 before the first batch.
  "sqd-pipes": { height: "sqd_processed_block", chain: "id" },
  // A SubQuery node: the block that it has begun to process.
  "subquery-metrics": { height: "subql_indexer_processing_block_height" },
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
} as const satisfies Readonly<Record<string, MetricsForm>>;

/** Where pages that name their chains, or have one, usually are below an indexer's address: `synclag probe` looks there. */
export const USUAL_PATHS: Readonly<Record<string, string>> = {
  "ponder-status": "/status",
  "subquery-meta": "/meta",
  "sqd-portal": "/head",
  safe: "/api/v1/about/indexing/",
  blockbook: "/api/v2",
  ensnode: "/api/indexing-status",
  blockscout: "/api/v2/main-page/blocks",
  algorand: "/health",
  "envio-metrics": "/metrics",
  "sqd-metrics": "/metrics",
  "subquery-metrics": "/metrics",
};
