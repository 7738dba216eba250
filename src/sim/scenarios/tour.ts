import type { Scenario } from "./scenario.ts";

/** One incident a minute, each of which has happened to a real fleet; then it begins anew. */
export const tour: Scenario = {
  name: "tour",
  about:
    "one incident a minute: freeze, shared lag, refused key, quota, missing chain, re-index, halt, wrong chain",
  steps: [
    { atSec: 0, say: "All is well", changes: [{ kind: "heal_all" }] },
    {
      atSec: 30,
      say: "The production subgraph of airdrops on Base freezes: it answers, and stands still",
      changes: [{ kind: "freeze", targets: "airdrops/subgraph/production/base" }],
    },
    {
      atSec: 60,
      say: "airdrops' multi-chain indexer falls behind on all its chains at once: one cause, so one incident",
      changes: [{ kind: "slow", targets: "airdrops/multichain/production/*", pace: 0.3 }],
    },
    {
      atSec: 120,
      say: "The gateway no longer knows lockup's API key, and says so with HTTP 200",
      changes: [{ kind: "fail", endpoints: "lockup/subgraph/production/*", fault: "unknown_key" }],
    },
    {
      atSec: 140,
      say: "The multi-chain indexer catches up",
      changes: [{ kind: "thaw", targets: "airdrops/multichain/production/*", withinSec: 5 }],
    },
    {
      atSec: 150,
      say: "The key works again; the frozen subgraph on Base wakes up and catches up",
      changes: [
        { kind: "heal", endpoints: "lockup/subgraph/production/*" },
        { kind: "thaw", targets: "airdrops/subgraph/production/base", withinSec: 20 },
      ],
    },
    {
      atSec: 180,
      say: "Studio answers 429 to every question about lockup: come back in two seconds, each time",
      changes: [{ kind: "fail", endpoints: "lockup/subgraph/testing/*", fault: "http_429_retry_after" }],
    },
    {
      atSec: 225,
      say: "Studio answers again",
      changes: [{ kind: "heal", endpoints: "lockup/subgraph/testing/*" }],
    },
    {
      atSec: 240,
      say: "lockup's multi-chain answer silently lacks Arbitrum One",
      changes: [{ kind: "set", targets: "lockup/multichain/production/arbitrum", behaviour: { rows: 0 } }],
    },
    {
      atSec: 285,
      say: "Arbitrum One is in the answer again",
      changes: [{ kind: "set", targets: "lockup/multichain/production/arbitrum", behaviour: { rows: 1 } }],
    },
    {
      atSec: 300,
      say: "airdrops on Arbitrum One is indexed anew, from two million blocks back",
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
      say: "Arbitrum Sepolia itself halts: everyone stands still, and no indexer is to blame",
      changes: [{ kind: "halt", chain: "arbitrum-sepolia" }],
    },
    {
      atSec: 420,
      say: "Arbitrum Sepolia makes blocks again",
      changes: [{ kind: "resume", chain: "arbitrum-sepolia" }],
    },
    {
      atSec: 435,
      say: "The testing subgraph of airdrops on Polygon turns out to index Gnosis",
      changes: [{ kind: "wrong_chain", targets: "airdrops/subgraph/testing/polygon", chain: "gnosis" }],
    },
    {
      atSec: 495,
      say: "Polygon is right again; lockup's deployment on Scroll fails; its indexers on Ethereum drift 60 blocks apart",
      changes: [
        { kind: "heal", endpoints: "airdrops/subgraph/testing/polygon" },
        { kind: "fail", endpoints: "lockup/subgraph/production/scroll", fault: "indexers_indexing_error" },
        { kind: "set", targets: "lockup/subgraph/production/ethereum", behaviour: { wobbleBlocks: 60 } },
      ],
    },
    {
      atSec: 540,
      say: "Everything heals; the tour begins anew in a minute",
      changes: [{ kind: "heal_all" }],
    },
  ],
  loopSec: 600,
};
