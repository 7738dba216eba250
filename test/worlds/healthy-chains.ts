import type { Observation } from "../../src/core/model/observation.ts";
import type { ChainReport, TargetReport } from "../../src/core/model/report.ts";
import { STATUSES, type Status } from "../../src/core/model/statuses.ts";
import { type ChainModel, headAt, paceAt, timeOf } from "../../src/sim/model/chain-model.ts";
import { AT_THE_HEAD, type IndexerModel } from "../../src/sim/model/indexer-model.ts";
import { createRandom, unitAt } from "../../src/sim/model/random.ts";
import { driftingPaces } from "../support/drifting-paces.ts";
import { startMonitor } from "./core.ts";
import type { Row } from "./figures.ts";
import { chainsOf, isNode, polledEach } from "./fleet.ts";
import { benchChain, healthyPoll, keyOf, poll, rounds, T0 } from "./simulated-poll.ts";

const MINUTE_MS = 60_000;
const POLL_MS = 15_000;

/** A healthy chain with the irregularities of real ones. */
interface WobbleCase {
  readonly name: string;
  readonly blockTimeMs: number;
  /** How far the replicas behind a subgraph's URL are apart. */
  readonly wobbleBlocks: number;
}

export const WOBBLE_CASES: readonly WobbleCase[] = [
  { name: "0.25 s blocks", blockTimeMs: 250, wobbleBlocks: 200 },
  { name: "2 s blocks", blockTimeMs: 2_000, wobbleBlocks: 200 },
  // 200 blocks of 12 s are 40 min: such replicas lag. 40 blocks are 8 min, just within `lagging`.
  { name: "12 s blocks", blockTimeMs: 12_000, wobbleBlocks: 40 },
];

const HOURS = 24;
const TIMEOUT_SHARE = 0.01;
const WOBBLING = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain", "lockup/subgraph"];
/** How deep reorgs are, and how long a step back is visible; there is one each minute. */
const REORG_BLOCKS = 64;
const REORG_SEEN_MS = 2_000;

/** Plays hours of healthy wobble, and returns a row of the table. */
export function wobbleRowOf({ blockTimeMs, name, wobbleBlocks }: WobbleCase): Row {
  const span = { fromMs: T0, toMs: T0 + HOURS * 60 * MINUTE_MS };
  const paces = driftingPaces({ seed: name, blockTimeMs, ...span, everyMs: 1_800_000, ratio: 0.3 });
  const chain = benchChain({ blockTimeMs, startMs: T0 - 1, jitter: 0.5, paces });
  const models = WOBBLING.map((seed): IndexerModel => {
    const replicas = { replicas: 3, wobbleBlocks };
    const behaviour = seed.endsWith("subgraph") ? replicas : { batchBlocks: 5 };
    return { seed, chain, behaviour: { ...AT_THE_HEAD, ...behaviour } };
  });
  const core = startMonitor(chainsOf(polledEach(POLL_MS, WOBBLING.map(keyOf)), blockTimeMs));
  const random = createRandom(`wobble/${name}`);
  const polls: Observation[] = [];
  const played = rounds(core, { ...span, everyMs: POLL_MS, lookAfterMs: POLL_MS - 1 }, (sentAtMs) => {
    const round = models.map((model) => wobblingPoll(model, sentAtMs, random));
    polls.push(...round);
    return round;
  });
  let changes = 0;
  let targets: readonly TargetReport[] = [];
  for (const { report } of played) {
    changes += report.targets.filter(({ status }, index) => {
      const before = targets[index]?.status ?? "unknown";
      return before !== "unknown" && before !== status;
    }).length;
    targets = report.targets;
  }
  const sumOf = (kind: "reorg" | "reindex") =>
    targets.reduce((sum, { regressions }) => sum + regressions[kind], 0);
  return {
    ...{ chain: name, hours: HOURS, polls: polls.length },
    timeouts: polls.filter(({ kind }) => kind === "failed").length,
    "steps back": sumOf("reorg"),
    "taken for re-indexes": sumOf("reindex"),
    "changes of status": changes,
  };
}

function wobblingPoll(model: IndexerModel, sentAtMs: number, random: () => number): Observation {
  const source = keyOf(model.seed);
  if (random() < TIMEOUT_SHARE) {
    const receivedAtMs = sentAtMs + 10_000;
    return { kind: "failed", source, sentAtMs, receivedAtMs, reason: "timeout", detail: "" };
  }
  const { observation, readAtMs } = poll(source, model, { sentAtMs: sentAtMs + random(), random });
  if (observation.kind !== "head" || readAtMs % MINUTE_MS >= REORG_SEEN_MS) {
    return observation;
  }
  const depth =
    1 + Math.floor(unitAt(`${model.seed}/reorg`, Math.floor(readAtMs / MINUTE_MS)) * REORG_BLOCKS);
  return { ...observation, head: { ...observation.head, block: observation.head.block - depth } };
}

/** A family of chains with irregular blocks, whose indexers are all healthy. */
interface PaceCase {
  readonly name: string;
  /** What the chain does from the twentieth minute on, before it continues as before. */
  readonly event: (chance: () => number) => { readonly lastsMs: number; readonly factor: number | null };
}

export const PACE_CASES: readonly PaceCase[] = [
  {
    name: "halts for 2 to 40 min",
    event: (chance) => ({ lastsMs: (2 + 38 * chance()) * MINUTE_MS, factor: null }),
  },
  {
    name: "goes 2 to 10 times as fast for 1 to 20 min",
    event: (chance) => ({ lastsMs: (1 + 19 * chance()) * MINUTE_MS, factor: 1 / (2 + 8 * chance()) }),
  },
  {
    name: "goes at a half to a tenth for 5 to 60 min",
    event: (chance) => ({ lastsMs: (5 + 55 * chance()) * MINUTE_MS, factor: 2 + 8 * chance() }),
  },
  { name: "goes on as ever", event: () => ({ lastsMs: 30 * MINUTE_MS, factor: 1 }) },
];

/** Before and after the event. */
const CALM_MS = 20 * MINUTE_MS;
/** The shortest and the longest block time. */
const PACES_MS = { least: 250, most: 300_000 };
const STALLED = { ms: 600_000, blocks: 50 };

/** One row of the table: a play counts once, even if more than one thing went wrong in it. */
export function paceRowOf(given: PaceCase, plays: number): Row {
  const played = Array.from({ length: plays }, (_, index) => playPace(given, index));
  const bad = new Set(played.flatMap((play) => play.bad));
  return {
    "the chain": given.name,
    plays,
    "a healthy target bad": played.filter((play) => play.bad.length > 0).length,
    "which was": STATUSES.filter((status) => bad.has(status)).join(", ") || "–",
    "a lag at the reference's block": played.filter(({ lagAtHead }) => lagAtHead > 0).length,
  };
}

function playPace(given: PaceCase, index: number) {
  const chance = createRandom(`paces/${given.name}/${index}`);
  const blockTimeMs = Math.round(PACES_MS.least * (PACES_MS.most / PACES_MS.least) ** chance());
  const { factor, lastsMs } = given.event(chance);
  const fromMs = T0 + CALM_MS + chance() * MINUTE_MS;
  const paces = [
    { atMs: fromMs, blockTimeMs: factor === null ? null : blockTimeMs * factor },
    { atMs: fromMs + lastsMs, blockTimeMs },
  ];
  const model = benchChain({ blockTimeMs, startMs: T0 - 1, jitter: 0.3, paces });
  const hasNode = chance() < 0.5;
  const datedEvery = 1 + Math.floor(chance() * 4);
  const random = createRandom(`paces/${given.name}/${index}/play`);
  const isConfigured = random() < 0.7;
  const sources = [
    ...polledEach(POLL_MS, [keyOf("airdrops/multichain"), keyOf("airdrops/subgraph")]),
    ...polledEach(MINUTE_MS, [keyOf("lockup/multichain")]),
    ...polledEach(POLL_MS, hasNode ? ["rpc/bench/0"] : []),
  ];
  const core = startMonitor(chainsOf(sources, isConfigured ? blockTimeMs : null));
  const bad: Status[] = [];
  let lagAtHead = 0;
  const span = { fromMs: T0, toMs: T0 + 2 * CALM_MS + lastsMs, everyMs: POLL_MS };
  const played = rounds(core, span, (tickMs) => {
    const due = sources.filter(({ pollIntervalMs }) => (tickMs - T0) % pollIntervalMs === 0);
    return due.map(({ key }, at) => {
      const isDated = isNode({ key }) || at % datedEvery === 1;
      return healthyPoll(key, model, { sentAtMs: tickMs + random() * 300, random, isDated });
    });
  });
  for (const { atMs, report } of played) {
    bad.push(...badOf(report, model, atMs));
    const head = report.reference?.block_number ?? Number.POSITIVE_INFINITY;
    lagAtHead += report.targets.filter(
      ({ block_number: block, lag_blocks }) => (block ?? 0) >= head && (lag_blocks ?? 0) > 0,
    ).length;
  }
  return { bad, lagAtHead };
}

/** If the chain has made no block for `stalled`, the right status is `chain_halted` with an RPC node, and `stalled` for all targets without one. */
function badOf(report: ChainReport, model: ChainModel, nowMs: number): readonly Status[] {
  const standsMs = nowMs - timeOf(model, headAt(model, nowMs));
  const bearsMs = Math.max(STALLED.ms, STALLED.blocks * (report.block_time_seconds ?? 0) * 1_000);
  const mayStand =
    standsMs > bearsMs - POLL_MS || (paceAt(model, nowMs) !== null && standsMs < 3 * MINUTE_MS);
  return report.targets
    .map(({ status }) => status)
    .filter(
      (status) => status !== "ok" && !(mayStand && (status === "stalled" || status === "chain_halted")),
    );
}
