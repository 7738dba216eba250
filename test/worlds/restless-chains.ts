import { type ChainReport, STATUSES, type Status } from "../../src/core/model/report.ts";
import {
  type ChainModel,
  createChain,
  headAt,
  type PaceChange,
  paceAt,
  timeOf,
} from "../../src/sim/model/chain-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import type { StartCore } from "./core.ts";
import type { Row } from "./figures.ts";
import { chainsOf, isNode } from "./fleet.ts";
import { deliver, healthyPoll, keyOf, T0 } from "./simulated-poll.ts";

/** A family of chains that are restless, while all that index them are healthy. */
export interface PaceCase {
  readonly name: string;
  /** What the chain does from `fromMs` on, until it goes on as before. */
  readonly event: (chance: () => number) => { readonly lastsMs: number; readonly factor: number | null };
}

const MINUTE_MS = 60_000;
const POLL_MS = 15_000;
const SLOW_POLL_MS = 60_000;
const STALLED_MS = 600_000;
const STALLED_BLOCKS = 50;
const BEFORE_MS = 20 * MINUTE_MS;
const AFTER_MS = 20 * MINUTE_MS;
/** The shortest and the longest block time. */
const PACES_MS = { least: 250, most: 300_000 };

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

const NAMES = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain"];

interface PacePlay {
  readonly bad: readonly Status[];
  /** Polls in which a target has a lag though it has the reference's block, or a higher one. */
  readonly lagAtHead: number;
}

/** One row of the table: a play counts once, whatever went wrong in it. */
export function paceRowOf(given: PaceCase, plays: number, start: StartCore): Row {
  const played = Array.from({ length: plays }, (_, index) => playPace(given, index, start));
  const bad = new Set(played.flatMap((play) => play.bad));
  return {
    "the chain": given.name,
    plays,
    "a healthy target bad": played.filter((play) => play.bad.length > 0).length,
    "which was": STATUSES.filter((status) => bad.has(status)).join(", ") || "–",
    "a lag at the reference's block": played.filter(({ lagAtHead }) => lagAtHead > 0).length,
  };
}

interface Setting {
  readonly model: ChainModel;
  readonly blockTimeMs: number;
  readonly lastsMs: number;
  readonly hasNode: boolean;
  readonly datedEvery: number;
}

function settingOf(given: PaceCase, index: number): Setting {
  const chance = createRandom(`paces/${given.name}/${index}`);
  const blockTimeMs = Math.round(PACES_MS.least * (PACES_MS.most / PACES_MS.least) ** chance());
  const { factor, lastsMs } = given.event(chance);
  const fromMs = T0 + BEFORE_MS + chance() * MINUTE_MS;
  const paces: readonly PaceChange[] = [
    { atMs: fromMs, blockTimeMs: factor === null ? null : blockTimeMs * factor },
    { atMs: fromMs + lastsMs, blockTimeMs },
  ];
  const model = createChain({
    slug: "bench",
    id: 10,
    blockTimeMs,
    startMs: T0 - 1,
    startBlock: 100_000_000,
    jitter: 0.3,
    paces,
  });
  return {
    model,
    blockTimeMs,
    lastsMs: BEFORE_MS + lastsMs + AFTER_MS,
    hasNode: chance() < 0.5,
    datedEvery: 1 + Math.floor(chance() * 4),
  };
}

function playPace(given: PaceCase, index: number, start: StartCore): PacePlay {
  const setting = settingOf(given, index);
  const { blockTimeMs, datedEvery, hasNode, model } = setting;
  const random = createRandom(`paces/${given.name}/${index}/play`);
  const isConfigured = random() < 0.7;
  const sources = [
    ...NAMES.map((name, at) => ({ key: keyOf(name), pollIntervalMs: at === 2 ? SLOW_POLL_MS : POLL_MS })),
    ...(hasNode ? [{ key: "rpc/bench/0", pollIntervalMs: POLL_MS }] : []),
  ];
  const bad: Status[] = [];
  let lagAtHead = 0;
  const core = start(chainsOf(sources, isConfigured ? blockTimeMs : null));
  for (let elapsedMs = 0; elapsedMs < setting.lastsMs; elapsedMs += POLL_MS) {
    const round = sources
      .filter(({ pollIntervalMs }) => elapsedMs % pollIntervalMs === 0)
      .map(({ key }, at) =>
        healthyPoll(key, model, {
          sentAtMs: T0 + elapsedMs + random() * 300,
          random,
          isDated: isNode({ key }) || at % datedEvery === 1,
        }),
      );
    deliver(core, round);
    const report = core.report(T0 + elapsedMs + 2_000);
    bad.push(...badOf(report, model, T0 + elapsedMs + 2_000));
    lagAtHead += report.targets.filter(
      ({ block_number: block, lag_blocks }) =>
        (block ?? 0) >= (report.reference?.block_number ?? Number.POSITIVE_INFINITY) && (lag_blocks ?? 0) > 0,
    ).length;
  }
  return { bad, lagAtHead };
}

/** Where the chain has stood still for as long as `stalled`, that is what is to be said: by the node, or of all. */
function badOf(report: ChainReport, model: ChainModel, nowMs: number): readonly Status[] {
  const standsMs = nowMs - timeOf(model, headAt(model, nowMs));
  const bearsMs = Math.max(STALLED_MS, STALLED_BLOCKS * (report.block_time_seconds ?? 0) * 1_000);
  const mayStand =
    standsMs > bearsMs - POLL_MS || (paceAt(model, nowMs) !== null && standsMs < 3 * SLOW_POLL_MS);
  return report.targets
    .map(({ status }) => status)
    .filter(
      (status) => status !== "ok" && !(mayStand && (status === "stalled" || status === "chain_halted")),
    );
}
