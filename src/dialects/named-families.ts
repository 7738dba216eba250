import type { Form } from "../core/model/fleet.ts";

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
