import type { ChainReport, GapReport } from "../model/report.ts";
import { type Column, Ring, type SavedRing, type Step } from "./ring.ts";
import { type ColumnKind, inFourBytes } from "./ring-column.ts";

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

/** The columns. Of a step the first height, so that heights are evenly spaced, and the largest lag and gap. */
const [BLOCK, LAG, GAP, UNCERTAINTY] = [0, 1, 2, 3];
const COLUMNS: readonly ColumnKind[] = [
  { merge: first, bytes: 8 },
  { merge: larger, bytes: 4 },
  { merge: larger, bytes: 4 },
  { merge: larger, bytes: 4 },
];

/** The history of one chain, for the plots: two hours by the minute, and a day by five minutes; 8 kB a target. */
export class ChainHistory {
  readonly #fine = new Ring(MINUTE_MS, 120, COLUMNS);
  readonly #coarse = new Ring(5 * MINUTE_MS, 288, COLUMNS);
  #sampledMs = Number.NEGATIVE_INFINITY;

  /** Takes a sample of the report, at most every 15 s. A report in which nothing is known yet is left out. */
  record(report: ChainReport, nowMs: number): void {
    if (Math.abs(nowMs - this.#sampledMs) < SAMPLE_MS) {
      return;
    }
    const step = stepOf(report);
    if (step.some((values) => [...values.values()].some((value) => value !== null))) {
      this.#sampledMs = nowMs;
      this.#fine.add(nowMs, step);
      this.#coarse.add(nowMs, step);
    }
  }

  /**
   * Reads a span for these targets, from the first known value on: by the minute where it is recent, else by five minutes. Of
   * more than `points` points, neighbours are joined: the last height, the largest lag and gap.
   */
  read(keys: readonly string[], { fromMs, toMs, points }: Span): HistorySlice {
    const fine = this.#fine.stepsBetween(fromMs, toMs);
    // A step of five minutes that lies within reach of the other ring holds only what that one has too.
    const coarse = this.#coarse.stepsBetween(fromMs, this.#fine.earliestMs(toMs) - 1);
    const size = Math.ceil((coarse.length + fine.length) / points);
    const read = (name: string, column: number) =>
      joined(
        [...this.#coarse.read(name, column, coarse), ...this.#fine.read(name, column, fine)],
        size,
        column === BLOCK ? (_, value) => value : larger,
      );
    const timesMs = [
      ...coarse.map((step) => step * this.#coarse.stepMs),
      ...fine.map((step) => step * this.#fine.stepMs),
    ];
    return {
      timesMs: joined(timesMs, size, (_, timeMs) => timeMs).filter((timeMs) => timeMs !== null),
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
  const heights = new Map(targets.map(({ target, block }) => [target.key, block]));
  return [
    heights.set(REFERENCE, reference?.block ?? null),
    new Map(targets.map(({ target, lagMs }) => [target.key, lagMs])),
    new Map(gaps.map(({ target, blocks }) => [target.key, blocks])),
    new Map(gaps.map((gap) => [gap.target.key, savedUncertainty(gap)])),
  ];
}

/** In tenths, rounded up, with the rounding of the gap itself: the interval must still contain the true gap. */
function savedUncertainty({ blocks, uncertaintyBlocks }: GapReport): number {
  return Math.ceil((uncertaintyBlocks + Math.abs(blocks - inFourBytes(blocks))) * 10) / 10;
}

function first(before: number): number {
  return before;
}

function larger(before: number, value: number): number {
  return Math.abs(value) > Math.abs(before) ? value : before;
}

/** Joins so many neighbours each, counted from the end, so that the newest group is complete. */
function joined(column: Column, size: number, merge: ColumnKind["merge"]): Column {
  if (size <= 1) {
    return column;
  }
  const groups = new Array<number | null>(Math.ceil(column.length / size)).fill(null);
  for (const [index, value] of column.entries()) {
    const group = groups.length - 1 - Math.floor((column.length - 1 - index) / size);
    const before = groups[group] ?? null;
    groups[group] = before === null || value === null ? (before ?? value) : merge(before, value);
  }
  return groups;
}
