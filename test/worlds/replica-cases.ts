import { AT_THE_HEAD } from "../../src/sim/model/indexer-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import { startMonitor } from "./core.ts";
import type { Row } from "./figures.ts";
import { chainsOf, polledEach } from "./fleet.ts";
import { benchChain, keyOf, poll, rounds, T0 } from "./simulated-poll.ts";

/** A URL behind which some replicas are far behind the others. */
interface ReplicaCase {
  readonly name: string;
  /** The share of replies that come from a replica that is behind. */
  readonly share: number;
  readonly blockTimeMs: number;
  /** How that replica behaves. */
  readonly low: { readonly lagMs: number } | { readonly freezeAtMs: number };
}

const HOUR_MS = 3_600_000;
const SCHEDULE_MS = 15_000;
/** Half an hour without low replies, a day in which some replies are low, and an hour without them. */
const FROM_MS = T0 + HOUR_MS / 2;
const UNTIL_MS = FROM_MS + 24 * HOUR_MS;
/** The first target has the replicas. */
const TARGETS = ["airdrops/subgraph", "airdrops/multichain", "lockup/multichain"].map(keyOf);

const SHARES = [
  ["1 in 10", 1 / 10],
  ["1 in 4", 1 / 4],
  ["1 in 3", 1 / 3],
  ["1 in 2", 1 / 2],
  ["2 in 3", 2 / 3],
  ["3 in 4", 3 / 4],
] as const;

export const REPLICA_CASES: readonly ReplicaCase[] = SHARES.flatMap(([name, share]) => [
  { name: `${name}, 55 h behind`, share, blockTimeMs: 2_000, low: { lagMs: 55 * HOUR_MS } },
  { name: `${name}, stopped`, share, blockTimeMs: 250, low: { freezeAtMs: FROM_MS - HOUR_MS } },
]);

/** One row of the table. */
export function replicaRowOf(given: ReplicaCase): Row {
  const steps = play(given);
  const on = steps.filter(({ isOn }) => isOn);
  const lagging = on.filter(({ said }) => said?.status === "lagging");
  const changes = steps.filter(
    ({ said }, index) => index > 0 && said?.status !== steps[index - 1]?.said?.status,
  );
  const inTheHourFrom = (fromMs: number) =>
    changes.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + HOUR_MS).length;
  const recovered = steps.find(({ atMs, said }) => atMs >= UNTIL_MS && said?.status === "ok");
  const regressions = steps.at(-1)?.said?.regressions;
  return {
    "low answers": given.name,
    "of the day lagging": `${((100 * lagging.length) / on.length).toFixed(1)} %`,
    "changes of status": changes.length,
    "most in an hour": Math.max(0, ...changes.map(({ atMs }) => inTheHourFrom(atMs))),
    "counted as reorg": regressions?.reorg ?? "–",
    "as re-index": regressions?.reindex ?? "–",
    "min to recover": (((recovered?.atMs ?? Number.NaN) - UNTIL_MS) / 60_000).toFixed(1),
    "others accused": steps.reduce((sum, { accused }) => sum + accused, 0),
  };
}

/** The status of the target after each poll, and the number of healthy targets beside it that are not `ok`. */
function play({ blockTimeMs, low, name, share }: ReplicaCase) {
  const chain = benchChain({ blockTimeMs, startMs: T0 - 720 * HOUR_MS, jitter: 0.2 });
  const core = startMonitor(chainsOf(polledEach(SCHEDULE_MS, TARGETS), blockTimeMs));
  const random = createRandom(`replicas/${name}`);
  const isOn = (atMs: number): boolean => atMs >= FROM_MS && atMs < UNTIL_MS;
  const span = { fromMs: T0, toMs: UNTIL_MS + HOUR_MS, everyMs: SCHEDULE_MS };
  const played = rounds(core, span, (atMs) => {
    const isLow = isOn(atMs) && random() < share;
    return TARGETS.map((key, index) => {
      const behaviour = { ...AT_THE_HEAD, ...(index === 0 && isLow ? low : {}) };
      return poll(key, { seed: key, chain, behaviour }, { sentAtMs: atMs + random(), random }).observation;
    });
  });
  return Array.from(played, ({ atMs, report: { targets } }) => {
    const [said, ...others] = targets;
    const accused = others.filter(({ status }) => status !== "ok").length;
    return { atMs, isOn: isOn(atMs), said, accused };
  });
}
