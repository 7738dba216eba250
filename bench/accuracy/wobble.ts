import type { ChainState, WatchedChain } from "../../src/core/head/chain-state.ts";
import type { Observation } from "../../src/core/model/observation.ts";
import type { Status } from "../../src/core/model/report.ts";
import { createChain, driftingPaces } from "../../src/sim/model/chain-model.ts";
import { AT_THE_TIP, type IndexerModel } from "../../src/sim/model/indexer-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import { chainOf, deliver, newState, poll, T0, targetOf } from "./simulated-polls.ts";

/** A healthy chain, as restless as healthy chains are. */
export interface WobbleCase {
  readonly name: string;
  readonly blockTimeMs: number;
  /** How far the replicas behind a subgraph's URL are apart. */
  readonly wobbleBlocks: number;
  readonly reorgBlocks: number;
  readonly hours: number;
}

export const WOBBLE_CASES: readonly WobbleCase[] = [
  { name: "0.25 s blocks", blockTimeMs: 250, wobbleBlocks: 200, reorgBlocks: 64, hours: 24 },
  { name: "2 s blocks", blockTimeMs: 2_000, wobbleBlocks: 200, reorgBlocks: 64, hours: 24 },
  // 200 blocks of 12 s are 40 min: no wobble, but replicas that lag. 40 blocks are 8 min, just within `lagging`.
  { name: "12 s blocks", blockTimeMs: 12_000, wobbleBlocks: 40, reorgBlocks: 64, hours: 24 },
];

export interface WobbleFigures {
  readonly polls: number;
  readonly timeouts: number;
  /** What must not happen: each change of a settled status after the first. */
  readonly changes: readonly {
    readonly atMs: number;
    readonly key: string;
    readonly from: Status;
    readonly to: Status;
  }[];
  /** Polls that a monitor without memory alarms on: they fail, or are 20 blocks behind the highest of the round. */
  readonly naiveAlarms: number;
  readonly stepsBack: number;
  readonly reindexes: number;
}

const SCHEDULE_MS = 15_000;
const TIMEOUT_SHARE = 0.01;
const NAMES = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain", "lockup/subgraph"] as const;

/** Plays a day of healthy wobble and lists every change of status. */
export function playWobble(wobble: WobbleCase): WobbleFigures {
  const ticks = (wobble.hours * 3_600_000) / SCHEDULE_MS;
  const chainModel = createChain({
    slug: "bench",
    id: 10,
    blockTimeMs: wobble.blockTimeMs,
    startMs: T0 - 1,
    startBlock: 100_000_000,
    jitter: 0.5,
    paces: driftingPaces({
      seed: wobble.name,
      blockTimeMs: wobble.blockTimeMs,
      fromMs: T0,
      toMs: T0 + ticks * SCHEDULE_MS,
      everyMs: 1_800_000,
      ratio: 0.3,
    }),
  });
  const chain = chainOf(chainModel, wobble.blockTimeMs);
  const watched = { chain, targets: NAMES.map((name) => targetOf(chain, name, SCHEDULE_MS)) };
  const models = NAMES.map((seed): IndexerModel => {
    const isSubgraph = seed.endsWith("subgraph");
    const replicas = isSubgraph ? { replicas: 3, wobbleBlocks: wobble.wobbleBlocks } : { batchBlocks: 5 };
    return {
      seed,
      chain: chainModel,
      behaviour: { ...AT_THE_TIP, ...replicas, reorgEveryMs: 60_000, reorgBlocks: wobble.reorgBlocks },
    };
  });
  return run(watched, models, { wobble, ticks });
}

function run(
  watched: WatchedChain,
  models: readonly IndexerModel[],
  { wobble, ticks }: { readonly wobble: WobbleCase; readonly ticks: number },
): WobbleFigures {
  const random = createRandom(`wobble/${wobble.name}`);
  const changes: WobbleFigures["changes"][number][] = [];
  let [timeouts, naiveAlarms] = [0, 0];
  let state = newState(watched);
  for (let tick = 0; tick < ticks; tick += 1) {
    const sentAtMs = T0 + tick * SCHEDULE_MS;
    const round = watched.targets.map((target, index): Observation => {
      const model = models[index];
      if (model === undefined || random() < TIMEOUT_SHARE) {
        return {
          kind: "failed",
          source: target.key,
          sentAtMs,
          receivedAtMs: sentAtMs + 10_000,
          reason: "timeout",
          detail: "",
        };
      }
      return poll(target.key, model, { sentAtMs: sentAtMs + random(), random }).observation;
    });
    timeouts += round.filter(({ kind }) => kind === "failed").length;
    naiveAlarms += naiveAlarmsOf(round);
    const next = deliver(state, watched, round);
    changes.push(...changesBetween(state, next, sentAtMs));
    state = next;
  }
  const { sources } = state;
  return {
    polls: ticks * watched.targets.length,
    timeouts,
    changes,
    naiveAlarms,
    stepsBack: sources.reduce((sum, { regressions }) => sum + regressions.reorg, 0),
    reindexes: sources.reduce((sum, { regressions }) => sum + regressions.reindex, 0),
  };
}

function changesBetween(before: ChainState, after: ChainState, atMs: number): WobbleFigures["changes"] {
  return after.sources.flatMap(({ key, verdict }) => {
    const from = before.sources.find((source) => source.key === key)?.verdict?.status;
    return from !== undefined && verdict !== null && verdict.status !== from
      ? [{ atMs, key, from, to: verdict.status }]
      : [];
  });
}

function naiveAlarmsOf(round: readonly Observation[]): number {
  const highest = Math.max(...round.map((said) => (said.kind === "head" ? said.head.block : 0)));
  return round.filter((said) => said.kind !== "head" || highest - said.head.block > 20).length;
}

/** One row of the table. */
export function wobbleSummaryOf(
  wobble: WobbleCase,
  figures: WobbleFigures,
): Readonly<Record<string, string | number>> {
  return {
    chain: wobble.name,
    hours: wobble.hours,
    polls: figures.polls,
    timeouts: figures.timeouts,
    "steps back": figures.stepsBack,
    "taken for re-indexes": figures.reindexes,
    "changes of status": figures.changes.length,
    "naive alarms": figures.naiveAlarms,
  };
}
