import { createConfig } from "ponder";

/** What the test tells this indexer: where its two chains are, and where it may write. */
const { ALPHA_RPC_URL, BETA_RPC_URL, PONDER_DATABASE_DIRECTORY } = process.env;
if (ALPHA_RPC_URL === undefined || BETA_RPC_URL === undefined || PONDER_DATABASE_DIRECTORY === undefined) {
  throw new Error(
    "Cannot configure Ponder: ALPHA_RPC_URL, BETA_RPC_URL and PONDER_DATABASE_DIRECTORY must be set",
  );
}

// biome-ignore lint/style/noDefaultExport: Ponder reads the default export.
export default createConfig({
  database: { kind: "pglite", directory: PONDER_DATABASE_DIRECTORY },
  chains: {
    alpha: { id: 31_337, rpc: ALPHA_RPC_URL, pollingInterval: 250 },
    beta: { id: 31_338, rpc: BETA_RPC_URL, pollingInterval: 250 },
  },
  blocks: {
    EveryBlock: { chain: { alpha: { startBlock: 1 }, beta: { startBlock: 1 } }, interval: 1 },
  },
});
