import type { GapReport } from "../../src/core/model/report.ts";
import { type ChainModel, createChain, type PaceChange } from "../../src/sim/model/chain-model.ts";
import {
  AT_THE_TIP,
  type IndexerBehaviour,
  type IndexerModel,
  processedAt,
} from "../../src/sim/model/indexer-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import type { StartCore } from "./core.ts";
import { percentile, type Row } from "./figures.ts";
import { chainsOf } from "./fleet.ts";
import { deliver, keyOf, poll, type Read, T0 } from "./simulated-poll.ts";

/** One situation in which the gap between two variants is measured. */
export interface GapCase {
  readonly name: string;
  readonly scheduleMs: number;
  /** Where it is not that of the other variant. */
  readonly targetScheduleMs?: number;
  readonly blockTimeMs: number;
  readonly jitter?: number;
  readonly paces?: (endMs: number) => readonly PaceChange[];
  readonly against?: Partial<IndexerBehaviour>;
  readonly target?: Partial<IndexerBehaviour>;
}

const TICKS = 1_500;
/** Estimates before so many ticks are not judged: the first ones have nothing to go by. */
const WARM_UP = 20;
const FAST = { blockTimeMs: 250, scheduleMs: 15_000 } as const;

function paceFrom(blockTimeMs: number): NonNullable<GapCase["paces"]> {
  return (endMs) => [{ atMs: (T0 + endMs) / 2, blockTimeMs }];
}

export const GAP_CASES: readonly GapCase[] = [
  { name: "equal, each 1 s", ...FAST, scheduleMs: 1_000 },
  { name: "equal, each 15 s", ...FAST },
  { name: "equal, each 60 s", ...FAST, scheduleMs: 60_000 },
  { name: "equal, blocks up to 80 % late", ...FAST, jitter: 0.8 },
  { name: "10 behind", ...FAST, target: { lagBlocks: 10 } },
  { name: "1,000 behind", ...FAST, target: { lagBlocks: 1_000 } },
  { name: "100,000 behind", ...FAST, target: { lagBlocks: 100_000 } },
  { name: "pace doubles midway", ...FAST, paces: paceFrom(125) },
  { name: "pace halves midway", ...FAST, paces: paceFrom(500) },
  { name: "batches of 1 to 50, each 1 s", ...FAST, scheduleMs: 1_000, target: { batchBlocks: 25 } },
  { name: "batches of 1 to 50, each 15 s", ...FAST, target: { batchBlocks: 25 } },
  { name: "batches of 1 to 50, 12 s blocks", ...FAST, blockTimeMs: 12_000, target: { batchBlocks: 25 } },
  { name: "15 s against 30 min", ...FAST, targetScheduleMs: 1_800_000 },
];

/** What came of it. Blocks. */
interface GapFigures {
  readonly errors: readonly number[];
  readonly errorsWithinPoll: readonly number[];
  readonly uncertainties: readonly number[];
  readonly inside: number;
  readonly naiveErrors: readonly number[];
}

/** Plays a case and holds each estimate against the true gap at the instant at which the target was read. */
function measureGapCase(gapCase: GapCase, start: StartCore): GapFigures {
  const endMs = T0 + TICKS * gapCase.scheduleMs;
  const model = createChain({
    slug: "bench",
    id: 42161,
    blockTimeMs: gapCase.blockTimeMs,
    startMs: T0 - 86_400_000,
    startBlock: 300_000_000,
    jitter: gapCase.jitter ?? 0,
    paces: gapCase.paces?.(endMs) ?? [],
  });
  return play(gapCase, model, start);
}

function play(gapCase: GapCase, model: ChainModel, start: StartCore): GapFigures {
  const against = indexer(model, "against", gapCase.against);
  const target = indexer(model, "target", gapCase.target);
  const targetScheduleMs = gapCase.targetScheduleMs ?? gapCase.scheduleMs;
  const [a, b] = [
    { key: keyOf("airdrops/multichain"), pollIntervalMs: gapCase.scheduleMs },
    { key: keyOf("airdrops/subgraph"), pollIntervalMs: targetScheduleMs },
  ];
  const core = start(chainsOf([a, b], gapCase.blockTimeMs));
  const random = createRandom(`gaps/${gapCase.name}`);
  const rounds = targetScheduleMs / gapCase.scheduleMs;
  const judges = (tick: number) => tick >= WARM_UP && tick % rounds === 0;
  const measured: Measured[] = [];
  for (let tick = 0; tick < TICKS * Math.min(rounds, 20); tick += 1) {
    const sentAtMs = T0 + tick * gapCase.scheduleMs + random();
    const first = poll(a.key, against, { sentAtMs, random });
    const second = tick % rounds === 0 ? poll(b.key, target, { sentAtMs, random }) : null;
    const round = second === null ? [first] : [first, second];
    deliver(
      core,
      round.map(({ observation }) => observation),
    );
    if (second !== null && judges(tick)) {
      const [gap] = core.report(sentAtMs + 1_000).gaps;
      measured.push({
        ...errorsOf(gap, { against, target }, second),
        naiveError: naiveError({ against, target }, { sentAtMs, random }),
      });
    }
  }
  return figuresOf(measured);
}

interface Measured {
  readonly error: number;
  /** Against the nearest of the gaps that were true at some instant of the target's poll. */
  readonly errorWithinPoll: number;
  readonly uncertainty: number;
  readonly naiveError: number;
}

interface Pair {
  readonly against: IndexerModel;
  readonly target: IndexerModel;
}

function errorsOf(gap: GapReport | undefined, pair: Pair, read: Read): Omit<Measured, "naiveError"> {
  const none = Number.POSITIVE_INFINITY;
  if (gap === undefined) {
    return { error: none, errorWithinPoll: none, uncertainty: none };
  }
  const { sentAtMs, receivedAtMs } = read.observation;
  const instants = Array.from(
    { length: 21 },
    (_, index) => sentAtMs + (index / 20) * (receivedAtMs - sentAtMs),
  );
  const errorAt = (atMs: number) => Math.abs(gap.blocks - gapAt(pair, atMs));
  const error = errorAt(read.readAtMs);
  return {
    error,
    errorWithinPoll: Math.min(error, ...instants.map(errorAt)),
    uncertainty: gap.uncertaintyBlocks,
  };
}

function figuresOf(measured: readonly Measured[]): GapFigures {
  // A gap is reported to a tenth of a block.
  const inside = measured.filter(({ error, uncertainty }) => error <= uncertainty + 0.05);
  return {
    errors: measured.map(({ error }) => error),
    errorsWithinPoll: measured.map((entry) => entry.errorWithinPoll),
    uncertainties: measured.map(({ uncertainty }) => uncertainty),
    naiveErrors: measured.map((entry) => entry.naiveError),
    inside: inside.length / measured.length,
  };
}

/** Two monitors that poll each variant each 15 s at a phase of its own, and subtract what they have. */
function naiveError(models: Pair, at: { readonly sentAtMs: number; readonly random: () => number }): number {
  const first = poll("", models.against, { ...at, sentAtMs: at.sentAtMs - at.random() * 15_000 });
  const second = poll("", models.target, { ...at, sentAtMs: at.sentAtMs - at.random() * 15_000 });
  return Math.abs(blockOf(first) - blockOf(second) - gapAt(models, at.sentAtMs));
}

function gapAt({ against, target }: Pair, atMs: number): number {
  return (processedAt(against, atMs) ?? 0) - (processedAt(target, atMs) ?? 0);
}

function indexer(chain: ChainModel, seed: string, behaviour: Partial<IndexerBehaviour> = {}): IndexerModel {
  return { seed, chain, behaviour: { ...AT_THE_TIP, ...behaviour } };
}

function blockOf({ observation }: Read): number {
  return observation.kind === "head" ? observation.head.block : 0;
}

/** One row of the table. */
export function gapRowOf(gapCase: GapCase, start: StartCore): Row {
  const figures = measureGapCase(gapCase, start);
  const show = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));
  return {
    case: gapCase.name,
    "error p50": show(percentile(figures.errors, 0.5)),
    "error p99": show(percentile(figures.errors, 0.99)),
    "p99 within the poll": show(percentile(figures.errorsWithinPoll, 0.99)),
    "truth inside": `${(figures.inside * 100).toFixed(1)} %`,
    "± median": show(percentile(figures.uncertainties, 0.5)),
    "naive p50": show(percentile(figures.naiveErrors, 0.5)),
    "naive p99": show(percentile(figures.naiveErrors, 0.99)),
  };
}
