import type { ChainReport, GapReport } from "../model/report.ts";
import { type Column, Ring, type SavedRing, type Step } from "./ring.ts";
import { inFourBytes } from "./ring-column.ts";

/** Part of a chain's history: every list is as long as `timesMs`. */
export interface HistorySlice {
  readonly timesMs: readonly number[];
  readonly reference: Column;
  /** By the target's key. */
  readonly targets: Readonly<Record<string, TargetHistory>>;
}

interface TargetHistory {
  readonly block: Column;
  readonly lagMs: Column;
  readonly gapBlocks: Column;
  readonly uncertaintyBlocks: Column;
}

/** Which part of a history is read, and how many points it may have. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly points: number;
}

export interface SavedHistory {
  readonly fine: SavedRing;
  readonly coarse: SavedRing;
}

const MINUTE_MS = 60_000;
/** A step is made of several samples, so that a short peak is not missed. */
const SAMPLE_MS = 15_000;
/** No target has this key. */
const REFERENCE = "reference";

/** The columns, with the bytes of a number in each. */
const [BLOCK, LAG, GAP, UNCERTAINTY] = [0, 1, 2, 3];
const COLUMNS = [8, 4, 4, 4] as const;

/** The history of one chain, for the plots: two hours by the minute, and a day by five minutes; 8 kB a target. */
export class ChainHistory {
  readonly #fine = new Ring(MINUTE_MS, 120, COLUMNS);
  readonly #coarse = new Ring(5 * MINUTE_MS, 288, COLUMNS);
  #sampledMs = Number.NEGATIVE_INFINITY;

  /** Takes a sample of the report, at most every 15 s. A report without any known value is skipped. */
  record(report: ChainReport, nowMs: number): void {
    if (Math.abs(nowMs - this.#sampledMs) < SAMPLE_MS) {
      return;
    }
    const step = stepOf(report);
    if (step.some((values) => [...values.values()].some((value) => value !== null))) {
      this.#sampledMs = nowMs;
      putIfWorse(this.#fine, nowMs, step);
      putIfWorse(this.#coarse, nowMs, step);
    }
  }

  /**
   * Reads a span for these targets, from the first known value on: by the minute where it is recent, else by five minutes. Of
   * more than `points` points, neighbours are replaced by the one at which these targets were furthest behind.
   */
  read(keys: readonly string[], { fromMs, toMs, points }: Span): HistorySlice {
    const fine = this.#fine.stepsBetween(fromMs, toMs);
    const recentMs = this.#fine.earliestMs(toMs);
    const coarse = this.#coarse
      .stepsBetween(fromMs, recentMs)
      .filter((step) => this.#coarse.timeOf(step) < recentMs);
    const column = (name: string, index: number) => [
      ...this.#coarse.read(name, index, coarse),
      ...this.#fine.read(name, index, fine),
    ];
    const lags = keys.map((key) => column(key, LAG));
    const blocks = keys.map((key) => column(key, BLOCK));
    const timesMs = [
      ...coarse.map((step) => this.#coarse.timeOf(step)),
      ...fine.map((step) => this.#fine.timeOf(step)),
    ];
    const badness = timesMs.map((_, index) =>
      badnessOf(
        lags.map((values) => values[index] ?? null),
        blocks.map((values) => values[index] ?? null),
      ),
    );
    const picked = worstOfEach(badness, Math.max(1, Math.ceil(timesMs.length / points)));
    const read = (name: string, index: number): Column => {
      const values = column(name, index);
      return picked.map((place) => values[place] ?? null);
    };
    return {
      timesMs: picked.flatMap((place) => timesMs[place] ?? []),
      reference: read(REFERENCE, BLOCK),
      targets: Object.fromEntries(
        keys.map((key) => [
          key,
          {
            block: read(key, BLOCK),
            lagMs: read(key, LAG),
            gapBlocks: read(key, GAP),
            uncertaintyBlocks: read(key, UNCERTAINTY),
          },
        ]),
      ),
    };
  }

  save(): SavedHistory {
    return { fine: this.#fine.save(), coarse: this.#coarse.save() };
  }

  restore({ fine, coarse }: SavedHistory): this {
    this.#fine.restore(fine);
    this.#coarse.restore(coarse);
    return this;
  }
}

function stepOf({ reference, targets, gaps }: ChainReport): Step {
  const heights = new Map(targets.map((target) => [target.key, target.block_number]));
  return [
    heights.set(REFERENCE, reference?.block_number ?? null),
    new Map(targets.map(({ key, lag_seconds: lag }) => [key, lag === null ? null : Math.round(lag * 1_000)])),
    new Map(gaps.map(({ key, blocks }) => [key, blocks])),
    new Map(gaps.map((gap) => [gap.key, savedUncertainty(gap)])),
  ];
}

/** In tenths, rounded up, with the rounding of the gap itself: the interval must still contain the true gap. */
function savedUncertainty({ blocks, uncertainty_blocks: uncertainty }: GapReport): number {
  return Math.ceil((uncertainty + Math.abs(blocks - inFourBytes(blocks))) * 10) / 10;
}

/** A step keeps one sample, so that its heights and lags are of one moment: the moment at which the targets were furthest behind. */
function putIfWorse(ring: Ring, nowMs: number, values: Step): void {
  const keys = [...(values[LAG]?.keys() ?? [])];
  const kept = (column: number) => keys.flatMap((key) => ring.read(key, column, [ring.stepOf(nowMs)]));
  const now = (column: number) => keys.map((key) => values[column]?.get(key) ?? null);
  if (
    !ring.holds(ring.stepOf(nowMs)) ||
    badnessOf(now(LAG), now(BLOCK)) > badnessOf(kept(LAG), kept(BLOCK))
  ) {
    ring.put(nowMs, values);
  }
}

/** The sum of all lags; less than any lag if no lag is known, and least if no height is known. */
function badnessOf(lagsMs: Column, blocks: Column): number {
  const known = lagsMs.filter((lagMs) => lagMs !== null);
  if (known.length > 0) {
    return known.reduce((total, lagMs) => total + lagMs);
  }
  return blocks.some((block) => block !== null) ? -1 : -2;
}

/** Of each `size` neighbours, counted from the end, the index of the worst; of equal ones the latest. */
function worstOfEach(badness: readonly number[], size: number): readonly number[] {
  const picked: number[] = [];
  for (const [index, value] of badness.entries()) {
    const group = Math.ceil(badness.length / size) - 1 - Math.floor((badness.length - 1 - index) / size);
    if (value >= (badness[picked[group] ?? -1] ?? Number.NEGATIVE_INFINITY)) {
      picked[group] = index;
    }
  }
  return picked;
}
