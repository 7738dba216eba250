import { graphError } from "../servers/answer.ts";
import { each, type Step } from "./scenario.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** The steps of the day before the demo starts, at the pace of a real fleet. `atSec` counts from the beginning of that day. */
export const YESTERDAY: readonly Step[] = [
  {
    atSec: 3 * HOUR,
    say: "The production subgraph of lockup on Base freezes for 70 minutes, and catches up within 20",
    happens: (fleet) => fleet.target("lockup/subgraph/production/base").freeze(),
  },
  {
    atSec: 4 * HOUR + 10 * MINUTE,
    say: "It resumes",
    happens: (fleet) => fleet.target("lockup/subgraph/production/base").thaw(20 * MINUTE * 1_000),
  },
  {
    atSec: 8 * HOUR,
    say: "The gateway rejects the API key of lockup for 40 minutes",
    happens: (fleet) =>
      each(fleet.endpoints("lockup/subgraph/production/*"), (endpoint) =>
        endpoint.fail(graphError("auth error: API key not found")),
      ),
  },
  {
    atSec: 8 * HOUR + 40 * MINUTE,
    say: "The key works again",
    happens: (fleet) => each(fleet.endpoints("lockup/subgraph/production/*"), (endpoint) => endpoint.heal()),
  },
  {
    atSec: 12 * HOUR,
    say: "The multi-chain indexer of airdrops falls behind on all its chains for two hours",
    happens: (fleet) => each(fleet.targets("airdrops/multichain/production/*"), (target) => target.slow(0.6)),
  },
  {
    atSec: 14 * HOUR,
    say: "It catches up",
    happens: (fleet) =>
      each(fleet.targets("airdrops/multichain/production/*"), (target) => target.thaw(30 * MINUTE * 1_000)),
  },
  {
    atSec: 17 * HOUR,
    say: "Arbitrum Sepolia halts for 50 minutes",
    happens: (fleet) => fleet.chain("arbitrum-sepolia").halt(),
  },
  {
    atSec: 17 * HOUR + 50 * MINUTE,
    say: "It produces blocks again",
    happens: (fleet) => fleet.chain("arbitrum-sepolia").resume(),
  },
  {
    atSec: 20 * HOUR,
    say: "The testing subgraph of airdrops on Polygon reports the heights of Gnosis for half an hour",
    happens: (fleet) =>
      fleet.target("airdrops/subgraph/testing/polygon").set({ wrongChain: fleet.chain("gnosis").model }),
  },
  { atSec: 20 * HOUR + 30 * MINUTE, say: "Everything is healthy", happens: (fleet) => fleet.heal() },
];
