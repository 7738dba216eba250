import type { Observation } from "../../src/core/model/observation.ts";
import type { Status, TargetReport } from "../../src/core/model/report.ts";
import { createChain } from "../../src/sim/model/chain-model.ts";
import { AT_THE_TIP, type IndexerModel } from "../../src/sim/model/indexer-model.ts";
import { createRandom, unitAt } from "../../src/sim/model/random.ts";
import { driftingPaces } from "../support/drifting-paces.ts";
import type { StartCore } from "./core.ts";
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
  /** What must not happen: each change of a status after the first. */
  readonly changes: readonly { readonly key: string; readonly from: Status; readonly to: Status }[];
  readonly stepsBack: number;
  readonly reindexes: number;
}

const SCHEDULE_MS = 15_000;
const TIMEOUT_SHARE = 0.01;
const NAMES = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain", "lockup/subgraph"] as const;

/** Plays hours of healthy wobble and lists every change of status. */
export function playWobble(wobble: WobbleCase, start: StartCore): WobbleFigures {
  const { blockTimeMs } = wobble;
  const endMs = T0 + wobble.hours * 3_600_000;
  const chain = createChain({
    slug: "bench",
    id: 10,
    blockTimeMs,
    startMs: T0 - 1,
    startBlock: 100_000_000,
    jitter: 0.5,
    paces: driftingPaces({
      seed: wobble.name,
      blockTimeMs,
      fromMs: T0,
      toMs: endMs,
      everyMs: 1_800_000,
      ratio: 0.3,
    }),
  });
  const models = NAMES.map((seed): IndexerModel => {
    const isSubgraph = seed.endsWith("subgraph");
    const replicas = isSubgraph ? { replicas: 3, wobbleBlocks: wobble.wobbleBlocks } : { batchBlocks: 5 };
    return { seed, chain, behaviour: { ...AT_THE_TIP, ...replicas } };
  });
  const sources = NAMES.map((name) => ({ key: keyOf(name), pollIntervalMs: SCHEDULE_MS }));
  const core = start(chainsOf(sources, blockTimeMs));
  const random = createRandom(`wobble/${wobble.name}`);
  const changes: WobbleFigures["changes"][number][] = [];
  let [polls, timeouts] = [0, 0];
  let targets: readonly TargetReport[] = [];
  for (let sentAtMs = T0; sentAtMs < endMs; sentAtMs += SCHEDULE_MS) {
    const round = models.map((model) => ask(model, wobble, sentAtMs, random));
    deliver(core, round);
    const now = core.report(sentAtMs + SCHEDULE_MS - 1).targets;
    changes.push(...changesBetween(targets, now));
    targets = now;
    polls += round.length;
    timeouts += round.filter(({ kind }) => kind === "failed").length;
  }
  const sumOf = (kind: "reorg" | "reindex") =>
    targets.reduce((sum, { regressions }) => sum + regressions[kind], 0);
  return { polls, timeouts, changes, stepsBack: sumOf("reorg"), reindexes: sumOf("reindex") };
}

function ask(
  model: IndexerModel,
  { reorgBlocks }: WobbleCase,
  sentAtMs: number,
  random: () => number,
): Observation {
  const source = keyOf(model.seed);
  if (random() < TIMEOUT_SHARE) {
    const receivedAtMs = sentAtMs + 10_000;
    return { kind: "failed", source, sentAtMs, receivedAtMs, reason: "timeout", detail: "" };
  }
  const { observation, readAtMs } = poll(source, model, { sentAtMs: sentAtMs + random(), random });
  const depth = reorgDepth(model.seed, reorgBlocks, readAtMs);
  return observation.kind === "head"
    ? { ...observation, head: { ...observation.head, block: observation.head.block - depth } }
    : observation;
}

const REORG_EVERY_MS = 60_000;
/** How long a step back by a reorg is visible. */
const REORG_SEEN_MS = 2_000;

/** By how many blocks an indexer has stepped back at an instant. */
function reorgDepth(seed: string, reorgBlocks: number, atMs: number): number {
  const turn = Math.floor(atMs / REORG_EVERY_MS);
  return atMs - turn * REORG_EVERY_MS < REORG_SEEN_MS
    ? 1 + Math.floor(unitAt(`${seed}/reorg`, turn) * reorgBlocks)
    : 0;
}

function changesBetween(
  before: readonly TargetReport[],
  after: readonly TargetReport[],
): WobbleFigures["changes"] {
  return after.flatMap(({ key, status: to }, index) => {
    const from = before[index]?.status;
    return from !== undefined && from !== "unknown" && from !== to ? [{ key, from, to }] : [];
  });
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
  };
}
