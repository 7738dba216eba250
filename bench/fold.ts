/**
 * CPU time of folding one observation into a chain's state, by the number of sources of the chain:
 * `npx tsx bench/fold.ts`. All sources stand at the head and report hashes and times.
 * CPU time of all threads, so that other programs on the machine hardly matter.
 */
import { observeChain, startChain } from "../src/core/chain/watch-chain.ts";
import type { WatchedChain } from "../src/core/head/chain-state.ts";

const T0 = 1_700_000_000_000;
const BLOCK_MS = 2_000;
const POLL_MS = 15_000;
const FOLDS = 20_000;

for (const sources of [7, 10, 100]) {
  console.log(`${sources} sources: ${measureUs(sources).toFixed(1)} µs`);
}

function measureUs(sources: number): number {
  const watched = chainWith(sources);
  let state = startChain(watched);
  let before = process.cpuUsage();
  const rounds = Math.ceil(FOLDS / sources);
  // The first half warms up.
  for (let round = 0; round < 2 * rounds; round += 1) {
    before = round === rounds ? process.cpuUsage() : before;
    for (const [index, { key }] of watched.targets.entries()) {
      const receivedAtMs = T0 + round * POLL_MS + index;
      const block = 1_000_000 + Math.floor((receivedAtMs - T0) / BLOCK_MS);
      state = observeChain(state, watched, [
        {
          kind: "head",
          source: key,
          sentAtMs: receivedAtMs - 1,
          receivedAtMs,
          head: {
            block,
            timestampSec: Math.floor(receivedAtMs / 1_000),
            hash: `0x${block.toString(16)}`,
            deployment: null,
            indexingErrors: null,
          },
        },
      ]);
    }
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (rounds * sources);
}

function chainWith(sources: number): WatchedChain {
  const thresholds = { laggingMs: 600_000, criticalMs: 1_800_000, stalledMs: 600_000, staleMs: 300_000 };
  return {
    chain: { slug: "base", id: 8453, name: "Base", blockTimeMs: BLOCK_MS, testnet: false, thresholds },
    targets: Array.from({ length: sources }, (_, index) => ({
      key: `p${index}/subgraph/production/base`,
      protocol: `p${index}`,
      variant: "subgraph",
      tier: "production",
      chain: "base",
      chainId: 8453,
      explorer: null,
      playground: null,
      pollIntervalMs: POLL_MS,
    })),
  };
}
