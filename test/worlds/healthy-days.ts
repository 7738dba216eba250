import type { Observation } from "../../src/core/model/observation.ts";
import type { ChainReport, Status } from "../../src/core/model/report.ts";
import { createChain, driftingPaces } from "../../src/sim/model/chain-model.ts";
import { AT_THE_TIP, type IndexerModel } from "../../src/sim/model/indexer-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import type { Core, StartCore } from "./core.ts";
import type { Row } from "./figures.ts";
import { chainsOf } from "./fleet.ts";
import { deliver, keyOf, poll, T0 } from "./simulated-poll.ts";

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
export function playWobble(wobble: WobbleCase, start: StartCore): WobbleFigures {
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
  const sources = NAMES.map((name) => ({ key: keyOf(name), pollIntervalMs: SCHEDULE_MS }));
  const core = start(chainsOf(sources, wobble.blockTimeMs));
  const models = NAMES.map((seed): IndexerModel => {
    const isSubgraph = seed.endsWith("subgraph");
    const replicas = isSubgraph ? { replicas: 3, wobbleBlocks: wobble.wobbleBlocks } : { batchBlocks: 5 };
    return {
      seed,
      chain: chainModel,
      behaviour: { ...AT_THE_TIP, ...replicas, reorgEveryMs: 60_000, reorgBlocks: wobble.reorgBlocks },
    };
  });
  return run(core, models, { wobble, ticks });
}

function run(
  core: Core,
  models: readonly IndexerModel[],
  { wobble, ticks }: { readonly wobble: WobbleCase; readonly ticks: number },
): WobbleFigures {
  const random = createRandom(`wobble/${wobble.name}`);
  const changes: WobbleFigures["changes"][number][] = [];
  let [timeouts, naiveAlarms] = [0, 0];
  let before: ChainReport | null = null;
  for (let tick = 0; tick < ticks; tick += 1) {
    const sentAtMs = T0 + tick * SCHEDULE_MS;
    const round = models.map((model): Observation => {
      const source = keyOf(model.seed);
      if (random() < TIMEOUT_SHARE) {
        const receivedAtMs = sentAtMs + 10_000;
        return { kind: "failed", source, sentAtMs, receivedAtMs, reason: "timeout", detail: "" };
      }
      return poll(source, model, { sentAtMs: sentAtMs + random(), random }).observation;
    });
    timeouts += round.filter(({ kind }) => kind === "failed").length;
    naiveAlarms += naiveAlarmsOf(round);
    deliver(core, round);
    const report = core.report(sentAtMs + SCHEDULE_MS - 1);
    changes.push(...changesBetween(before, report, sentAtMs));
    before = report;
  }
  const targets = before?.targets ?? [];
  return {
    polls: ticks * models.length,
    timeouts,
    changes,
    naiveAlarms,
    stepsBack: targets.reduce((sum, { regressions }) => sum + regressions.reorg, 0),
    reindexes: targets.reduce((sum, { regressions }) => sum + regressions.reindex, 0),
  };
}

function changesBetween(
  before: ChainReport | null,
  after: ChainReport,
  atMs: number,
): WobbleFigures["changes"] {
  return after.targets.flatMap(({ target: { key }, status: to }, index) => {
    const from = before?.targets[index]?.status;
    return from !== undefined && from !== "unknown" && from !== to ? [{ atMs, key, from, to }] : [];
  });
}

function naiveAlarmsOf(round: readonly Observation[]): number {
  const highest = Math.max(...round.map((said) => (said.kind === "head" ? said.head.block : 0)));
  return round.filter((said) => said.kind !== "head" || highest - said.head.block > 20).length;
}

/** One row of the table. */
export function wobbleRowOf(wobble: WobbleCase, start: StartCore): Row {
  const figures = playWobble(wobble, start);
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
