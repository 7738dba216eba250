import type { Scenario } from "./scenario.ts";

/** Incidents that have happened to real fleets, one after the other; then it starts again. */
export const tour: Scenario = {
  name: "tour",
  about:
    "one incident a minute: lying provider, freeze, shared lag, rows that lack, refused key, quota, missing chain, re-index, halt, wrong chain",
  steps: [
    {
      atSec: 0,
      say: "Studio lies from its first answer: on every chain it is 30 million blocks ahead. The others outvote it: one incident",
      changes: [
        { kind: "heal_all" },
        { kind: "set", targets: "*/subgraph/testing/*", behaviour: { offsetBlocks: 30_000_000 } },
      ],
    },
    {
      atSec: 22,
      say: "Studio tells the truth again: everything is healthy",
      changes: [{ kind: "set", targets: "*/subgraph/testing/*", behaviour: { offsetBlocks: 0 } }],
    },
    {
      atSec: 30,
      say: "The production subgraph of airdrops on Base freezes: it answers, but does not advance",
      changes: [{ kind: "freeze", targets: "airdrops/subgraph/production/base" }],
    },
    {
      atSec: 60,
      say: "The multi-chain indexer of airdrops falls behind on all its chains at once: one cause, one incident",
      changes: [{ kind: "slow", targets: "airdrops/multichain/production/*", pace: 0.3 }],
    },
    {
      atSec: 65,
      say: "The subgraph of airdrops on ZKsync Era skips every second event: its height is perfect, its data are not, as parity shows within four minutes",
      changes: [{ kind: "skip_events", targets: "airdrops/subgraph/production/zksync", nth: 2 }],
    },
    {
      atSec: 120,
      say: "The gateway rejects the API key of lockup, with HTTP 200",
      changes: [{ kind: "fail", endpoints: "lockup/subgraph/production/*", fault: "unknown_key" }],
    },
    {
      atSec: 140,
      say: "The multi-chain indexer catches up",
      changes: [{ kind: "thaw", targets: "airdrops/multichain/production/*", withinSec: 5 }],
    },
    {
      atSec: 150,
      say: "The key works again; the frozen subgraph on Base resumes and catches up",
      changes: [
        { kind: "heal", endpoints: "lockup/subgraph/production/*" },
        { kind: "thaw", targets: "airdrops/subgraph/production/base", withinSec: 20 },
      ],
    },
    {
      atSec: 180,
      say: "Studio answers every request for lockup with 429 and Retry-After: 2",
      changes: [{ kind: "fail", endpoints: "lockup/subgraph/testing/*", fault: "http_429_retry_after" }],
    },
    {
      atSec: 225,
      say: "Studio answers again",
      changes: [{ kind: "heal", endpoints: "lockup/subgraph/testing/*" }],
    },
    {
      atSec: 240,
      say: "Arbitrum One disappears from the multi-chain answer of lockup, without an error",
      changes: [{ kind: "set", targets: "lockup/multichain/production/arbitrum", behaviour: { rows: 0 } }],
    },
    {
      atSec: 285,
      say: "Arbitrum One is back in the answer",
      changes: [{ kind: "set", targets: "lockup/multichain/production/arbitrum", behaviour: { rows: 1 } }],
    },
    {
      atSec: 300,
      say: "The subgraph of airdrops on Arbitrum One re-indexes the last two million blocks",
      changes: [
        {
          kind: "reindex",
          targets: "airdrops/subgraph/production/arbitrum",
          backBlocks: 2_000_000,
          withinSec: 90,
        },
      ],
    },
    {
      atSec: 360,
      say: "Arbitrum Sepolia itself halts: no indexer advances, and none is to blame",
      changes: [{ kind: "halt", chain: "arbitrum-sepolia" }],
    },
    {
      atSec: 400,
      say: "The subgraph on ZKsync Era has all rows again",
      changes: [{ kind: "set", targets: "airdrops/subgraph/production/zksync", behaviour: { skips: null } }],
    },
    {
      atSec: 420,
      say: "Arbitrum Sepolia produces blocks again",
      changes: [{ kind: "resume", chain: "arbitrum-sepolia" }],
    },
    {
      atSec: 435,
      say: "The testing subgraph of airdrops on Polygon answers for Gnosis instead",
      changes: [{ kind: "wrong_chain", targets: "airdrops/subgraph/testing/polygon", chain: "gnosis" }],
    },
    {
      atSec: 495,
      say: "Polygon is correct again; deployments of lockup on Scroll and of vaults on Base fail, the latter with a reason; lockup's indexers on Ethereum are up to 60 blocks apart",
      changes: [
        { kind: "heal", endpoints: "airdrops/subgraph/testing/polygon" },
        { kind: "fail", endpoints: "lockup/subgraph/production/scroll", fault: "indexers_indexing_error" },
        { kind: "freeze", targets: "vaults/subgraph/production/base" },
        { kind: "freeze", targets: "vaults/subgraph/production/base/*" },
        { kind: "set", targets: "vaults/subgraph/production/base", behaviour: { indexingErrors: true } },
        // The same deployment, as the index-node API beside it tells of it.
        { kind: "set", targets: "vaults/subgraph/production/base/*", behaviour: { indexingErrors: true } },
        { kind: "set", targets: "lockup/subgraph/production/ethereum", behaviour: { wobbleBlocks: 60 } },
      ],
    },
    {
      atSec: 540,
      say: "Everything is healthy; the tour starts again in a minute",
      changes: [{ kind: "heal_all" }],
    },
  ],
  loopSec: 600,
};
