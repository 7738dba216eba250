import { graphError, json } from "../servers/answer.ts";
import { each, type Scenario } from "./scenario.ts";

const UNKNOWN_KEY = graphError("auth error: API key not found");
const TOO_MANY_REQUESTS = {
  ...json({ message: "Too many requests" }, 429),
  headers: { "content-type": "application/json", "retry-after": "2" },
};
const INDEXING_ERROR = graphError(
  "bad indexers: {0xbdfb5ee5a2abf4fc7bb1bd1221067aef7f9de491: BadResponse(no attestation: indexing_error)}",
);

/** Incidents that have happened to real fleets, one after the other. */
const tour: Scenario = {
  name: "tour",
  about:
    "about one incident a minute: lying provider, freeze, shared lag, missing rows, rejected key, quota, missing chain, re-index, halt, wrong chain",
  steps: [
    {
      atSec: 0,
      say: "Studio lies from its first reply: on every chain it reports 30 million blocks too many. The other sources outvote Studio: one incident",
      async happens(fleet) {
        await fleet.heal();
        each(fleet.targets("*/subgraph/testing/*"), (target) => target.set({ offsetBlocks: 30_000_000 }));
      },
    },
    {
      atSec: 22,
      say: "Studio tells the truth again: everything is healthy",
      happens: (fleet) =>
        each(fleet.targets("*/subgraph/testing/*"), (target) => target.set({ offsetBlocks: 0 })),
    },
    {
      atSec: 30,
      say: "The production subgraph of airdrops on Base freezes: it replies, but does not advance",
      happens: (fleet) => fleet.target("airdrops/subgraph/production/base").freeze(),
    },
    {
      atSec: 60,
      say: "The multi-chain indexer of airdrops falls behind on all its chains, which becomes one incident",
      happens: (fleet) =>
        each(fleet.targets("airdrops/multichain/production/*"), (target) => target.slow(0.3)),
    },
    {
      atSec: 65,
      say: "The subgraph of airdrops on ZKsync Era skips every second event: its height is right, but its data are wrong, as parity shows within four minutes",
      happens: (fleet) => fleet.target("airdrops/subgraph/production/zksync").skipEvents(2),
    },
    {
      atSec: 120,
      say: "The gateway rejects the API key of lockup, with HTTP 200",
      happens: (fleet) =>
        each(fleet.endpoints("lockup/subgraph/production/*"), (endpoint) => endpoint.fail(UNKNOWN_KEY)),
    },
    {
      atSec: 140,
      say: "The multi-chain indexer catches up",
      happens: (fleet, speed) =>
        each(fleet.targets("airdrops/multichain/production/*"), (target) => target.thaw(5_000 / speed)),
    },
    {
      atSec: 150,
      say: "The key works again; the frozen subgraph on Base resumes and catches up",
      happens(fleet, speed) {
        each(fleet.endpoints("lockup/subgraph/production/*"), (endpoint) => endpoint.heal());
        fleet.target("airdrops/subgraph/production/base").thaw(20_000 / speed);
      },
    },
    {
      atSec: 180,
      say: "Studio answers every request for lockup with 429 and Retry-After: 2",
      happens: (fleet) =>
        each(fleet.endpoints("lockup/subgraph/testing/*"), (endpoint) => endpoint.fail(TOO_MANY_REQUESTS)),
    },
    {
      atSec: 225,
      say: "Studio answers again",
      happens: (fleet) => each(fleet.endpoints("lockup/subgraph/testing/*"), (endpoint) => endpoint.heal()),
    },
    {
      atSec: 240,
      say: "Arbitrum One disappears from the multi-chain reply of lockup, without an error",
      happens: (fleet) => fleet.target("lockup/multichain/production/arbitrum").set({ rows: 0 }),
    },
    {
      atSec: 285,
      say: "Arbitrum One is back in the reply",
      happens: (fleet) => fleet.target("lockup/multichain/production/arbitrum").set({ rows: 1 }),
    },
    {
      atSec: 300,
      say: "The subgraph of airdrops on Arbitrum One re-indexes the last two million blocks",
      happens: (fleet, speed) =>
        fleet
          .target("airdrops/subgraph/production/arbitrum")
          .reindex({ backBlocks: 2_000_000, withinMs: 90_000 / speed }),
    },
    {
      atSec: 360,
      say: "Arbitrum Sepolia itself halts: no indexer advances, and none is to blame",
      happens: (fleet) => fleet.chain("arbitrum-sepolia").halt(),
    },
    {
      atSec: 400,
      say: "The subgraph on ZKsync Era has all rows again",
      happens: (fleet) => fleet.target("airdrops/subgraph/production/zksync").set({ skips: null }),
    },
    {
      atSec: 420,
      say: "Arbitrum Sepolia produces blocks again",
      happens: (fleet) => fleet.chain("arbitrum-sepolia").resume(),
    },
    {
      atSec: 435,
      say: "The testing subgraph of airdrops on Polygon reports the heights of Gnosis instead",
      happens: (fleet) =>
        fleet.target("airdrops/subgraph/testing/polygon").set({ wrongChain: fleet.chain("gnosis").model }),
    },
    {
      atSec: 495,
      say: "Polygon is correct again. The subgraphs of lockup on Scroll and vaults on Base fail; for Base, graph-node says why. The replicas of the subgraph of lockup on Ethereum are up to 60 blocks apart",
      happens(fleet) {
        fleet.endpoint("airdrops/subgraph/testing/polygon").heal();
        fleet.endpoint("lockup/subgraph/production/scroll").fail(INDEXING_ERROR);
        // The subgraph and the index-node API report the same deployment.
        for (const key of ["vaults/subgraph/production/base", "vaults/subgraph/production/base/*"]) {
          for (const target of fleet.targets(key)) {
            target.freeze();
            target.set({ indexingErrors: true });
          }
        }
        fleet.target("lockup/subgraph/production/ethereum").set({ wobbleBlocks: 60 });
      },
    },
    {
      atSec: 540,
      say: "Everything is healthy; the tour starts again in a minute",
      happens: (fleet) => fleet.heal(),
    },
  ],
  loopSec: 600,
};

/** A healthy fleet. */
const calm: Scenario = {
  name: "calm",
  about: "healthy indexers with the small variations of real ones; nothing should be reported",
  steps: [{ atSec: 0, say: "Everything is and stays healthy", happens: (fleet) => fleet.heal() }],
  loopSec: 3_600,
};

/** The monitor's own network fails and recovers. */
const outage: Scenario = {
  name: "outage",
  about: "every host refuses connections, as if the network of Synclag were down; then all recover",
  steps: [
    { atSec: 0, say: "Everything is healthy", happens: (fleet) => fleet.heal() },
    {
      atSec: 30,
      say: "Every host refuses connections: after two polls there is one incident of the network, not an alert for each target",
      happens: (fleet) => fleet.close(),
    },
    { atSec: 150, say: "The network is back", happens: (fleet) => fleet.heal() },
  ],
  loopSec: 180,
};

/** Every scenario that `--scenario` may name; the first is the default. */
export const SCENARIOS: readonly [Scenario, ...Scenario[]] = [tour, calm, outage];
