import type { TargetReport } from "../../src/core/model/report.ts";
import { createChain } from "../../src/sim/model/chain-model.ts";
import { AT_THE_TIP, type IndexerBehaviour } from "../../src/sim/model/indexer-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import type { StartCore } from "./core.ts";
import type { Row } from "./figures.ts";
import { chainsOf } from "./fleet.ts";
import { deliver, keyOf, poll, T0 } from "./simulated-poll.ts";

/** A URL behind which some replicas are far behind the others. */
export interface ReplicaCase {
  readonly name: string;
  /** The share of answers that come from a replica that is behind. */
  readonly share: number;
  readonly blockTimeMs: number;
  readonly behindMs: number;
  /** Whether that replica goes on, or stands still. */
  readonly low: "advances" | "frozen";
}

const HOUR_MS = 3_600_000;
const SCHEDULE_MS = 15_000;
const HOURS = 24;
/** For so long all of its replicas are at the tip. */
const HEALTHY_MS = HOUR_MS / 2;
/** And again at the end. */
const HEALED_MS = HOUR_MS;
const FROM_MS = T0 + HEALTHY_MS;
const UNTIL_MS = FROM_MS + HOURS * HOUR_MS;
/** The first has the replicas. */
const TARGETS = ["airdrops/subgraph", "airdrops/multichain", "lockup/multichain"].map((name) => ({
  key: keyOf(name),
  pollIntervalMs: SCHEDULE_MS,
}));

const SHARES = [
  ["1 in 10", 1 / 10],
  ["1 in 4", 1 / 4],
  ["1 in 3", 1 / 3],
  ["1 in 2", 1 / 2],
  ["2 in 3", 2 / 3],
  ["3 in 4", 3 / 4],
] as const;

export const REPLICA_CASES: readonly ReplicaCase[] = SHARES.flatMap(([name, share]) => [
  { name: `${name}, 55 h behind`, share, blockTimeMs: 2_000, behindMs: 55 * HOUR_MS, low: "advances" },
  { name: `${name}, stopped`, share, blockTimeMs: 250, behindMs: HOUR_MS, low: "frozen" },
]);

/** What was said of the target after one poll, and of how many healthy ones beside it that they are not `ok`. */
interface Step {
  readonly atMs: number;
  readonly said: TargetReport | undefined;
  readonly accused: number;
}

/** One row of the table. */
export function replicaRowOf(given: ReplicaCase, start: StartCore): Row {
  const steps = play(given, start);
  const on = steps.filter(({ atMs }) => isOn(atMs));
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

/** Half an hour of health, a day in which some answers are low, and an hour of health. */
function play(given: ReplicaCase, start: StartCore): readonly Step[] {
  const chain = createChain({
    slug: "bench",
    id: 10,
    blockTimeMs: given.blockTimeMs,
    startMs: T0 - 30 * 86_400_000,
    startBlock: 100_000_000,
    jitter: 0.2,
  });
  const core = start(chainsOf(TARGETS, given.blockTimeMs));
  const random = createRandom(`replicas/${given.name}`);
  const steps: Step[] = [];
  for (let atMs = T0; atMs < UNTIL_MS + HEALED_MS; atMs += SCHEDULE_MS) {
    const isLow = isOn(atMs) && random() < given.share;
    const round = TARGETS.map(({ key }, index) => {
      const behaviour = index === 0 && isLow ? lowBehaviour(given) : AT_THE_TIP;
      return poll(key, { seed: key, chain, behaviour }, { sentAtMs: atMs + random(), random }).observation;
    });
    deliver(core, round);
    const [said, ...others] = core.report(atMs + 2_000).targets;
    steps.push({ atMs, said, accused: others.filter(({ status }) => status !== "ok").length });
  }
  return steps;
}

function isOn(atMs: number): boolean {
  return atMs >= FROM_MS && atMs < UNTIL_MS;
}

function lowBehaviour({ behindMs, low }: ReplicaCase): IndexerBehaviour {
  return low === "advances"
    ? { ...AT_THE_TIP, lagMs: behindMs }
    : { ...AT_THE_TIP, freezeAtMs: FROM_MS - behindMs };
}
