import type { Observation } from "../../src/core/model/observation.ts";
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
/** So many low answers are enough to know that replicas disagree. */
const LOWS_TO_KNOW = 8;
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

interface ReplicaFigures {
  readonly changes: readonly Pick<Step, "atMs">[];
  /** Of the day with low answers. */
  readonly laggingShare: number;
  readonly regressions: { readonly reorg: number; readonly reindex: number };
  /** Polls whose detail does not say that replicas disagree, once that can be known. */
  readonly untold: number;
  readonly recoveredMs: number;
  /** Statuses of the healthy targets beside it, other than `ok`. */
  readonly accused: number;
}

/** Half an hour of health, a day in which some answers are low, and an hour of health. */
function playReplicas(given: ReplicaCase, start: StartCore): ReplicaFigures {
  const chainModel = createChain({
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
    const round = TARGETS.map(({ key }, index): Observation => {
      const behaviour = index === 0 && isLow ? lowBehaviour(given) : AT_THE_TIP;
      return poll(key, { seed: key, chain: chainModel, behaviour }, { sentAtMs: atMs + random(), random })
        .observation;
    });
    deliver(core, round);
    const { targets } = core.report(atMs + 2_000);
    steps.push({
      atMs,
      isLow,
      said: targets[0],
      accused: targets.slice(1).filter(({ status }) => status !== "ok").length,
    });
  }
  return figuresOf(steps);
}

interface Step {
  readonly atMs: number;
  readonly isLow: boolean;
  readonly said: TargetReport | undefined;
  readonly accused: number;
}

function isOn(atMs: number): boolean {
  return atMs >= FROM_MS && atMs < UNTIL_MS;
}

function figuresOf(steps: readonly Step[]): ReplicaFigures {
  const on = steps.filter(({ atMs }) => isOn(atMs));
  const lows = on.filter(({ isLow }) => isLow);
  const known = lows[LOWS_TO_KNOW]?.atMs ?? UNTIL_MS;
  return {
    changes: steps.filter(({ said }, index) => index > 0 && said?.status !== steps[index - 1]?.said?.status),
    laggingShare: on.filter(({ said }) => said?.status === "lagging").length / on.length,
    regressions: steps.at(-1)?.said?.regressions ?? { reorg: 0, reindex: 0 },
    untold: on.filter(({ atMs, said }) => atMs >= known && !said?.detail.includes("replicas disagree"))
      .length,
    recoveredMs:
      (steps.find(({ atMs, said }) => atMs >= UNTIL_MS && said?.status === "ok")?.atMs ?? Number.NaN) -
      UNTIL_MS,
    accused: steps.reduce((sum, { accused }) => sum + accused, 0),
  };
}

function lowBehaviour({ behindMs, low }: ReplicaCase): IndexerBehaviour {
  return low === "advances"
    ? { ...AT_THE_TIP, lagMs: behindMs }
    : { ...AT_THE_TIP, freezeAtMs: FROM_MS - behindMs };
}

/** The most changes of status within any hour. */
function mostInAnHour(changes: ReplicaFigures["changes"]): number {
  return Math.max(
    0,
    ...changes.map(
      ({ atMs }) => changes.filter((other) => other.atMs >= atMs && other.atMs < atMs + HOUR_MS).length,
    ),
  );
}

/** One row of the table. */
export function replicaRowOf(given: ReplicaCase, start: StartCore): Row {
  const figures = playReplicas(given, start);
  return {
    "low answers": given.name,
    "of the day lagging": `${(100 * figures.laggingShare).toFixed(1)} %`,
    "changes of status": figures.changes.length,
    "most in an hour": mostInAnHour(figures.changes),
    "counted as reorg": figures.regressions.reorg,
    "as re-index": figures.regressions.reindex,
    "polls untold": figures.untold,
    "min to recover": (figures.recoveredMs / 60_000).toFixed(1),
    "others accused": figures.accused,
  };
}
