import type { ChainReport } from "../model/report.ts";

/** Values at even times; null: unknown. */
type Column = readonly (number | null)[];

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

/** The columns, with the bytes of a number in each. Four bytes hold seven digits. */
const [BLOCK, LAG, GAP, UNCERTAINTY] = [0, 1, 2, 3];
const COLUMNS = [8, 4, 4, 4] as const;

/** The history of one chain, for the plots: two hours by the minute, and a day by five minutes; 8 kB a target. */
export class ChainHistory {
  readonly #fine = new Ring(MINUTE_MS, 120, COLUMNS);
  readonly #coarse = new Ring(5 * MINUTE_MS, 288, COLUMNS);
  #sampledMs = Number.NEGATIVE_INFINITY;

  /**
   * Takes a sample of the report, at most every 15 s. A report without any known value is skipped. A step keeps one sample, so that its
   * heights and lags are of one moment: the moment at which the targets were furthest behind.
   */
  record(report: ChainReport, nowMs: number): void {
    if (Math.abs(nowMs - this.#sampledMs) < SAMPLE_MS) {
      return;
    }
    const step = stepOf(report);
    if (step.every((values) => [...values.values()].every((value) => value === null))) {
      return;
    }
    this.#sampledMs = nowMs;
    const keys = report.targets.map(({ key }) => key);
    const badness = badnessOf(keys, (column, key) => step[column]?.get(key) ?? null);
    for (const ring of [this.#fine, this.#coarse]) {
      const slot = ring.at(nowMs);
      if (!slot.isFull || badness > badnessOf(keys, slot.read)) {
        ring.put(nowMs, step);
      }
    }
  }

  /**
   * Reads a span for these targets, from the first known value on: by the minute where it is recent, else by five minutes. Of
   * more than `points` points, neighbours are replaced by the one at which these targets were furthest behind.
   */
  read(keys: readonly string[], { fromMs, toMs, points }: Span): HistorySlice {
    const recentMs = this.#fine.earliestMs(toMs);
    const all = [
      ...this.#coarse.between(fromMs, recentMs).filter(({ timeMs }) => timeMs < recentMs),
      ...this.#fine.between(fromMs, toMs),
    ];
    const slots = worstOfEach(all, Math.max(1, Math.ceil(all.length / points)), keys);
    const blocksOf = (key: string) => slots.map((slot) => slot.read(BLOCK, key));
    const tenthsOf = (key: string, column: number) => slots.map((slot) => inTenths(slot.read(column, key)));
    return {
      timesMs: slots.map(({ timeMs }) => timeMs),
      reference: blocksOf(REFERENCE),
      targets: Object.fromEntries(
        keys.map((key) => [
          key,
          {
            block: blocksOf(key),
            lagMs: slots.map((slot) => slot.read(LAG, key)),
            gapBlocks: tenthsOf(key, GAP),
            uncertaintyBlocks: tenthsOf(key, UNCERTAINTY),
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
  const gapOf = new Map(gaps.map((gap) => [gap.key, gap]));
  const step: readonly Map<string, number | null>[] = COLUMNS.map(() => new Map());
  const [blocks, lags, gapBlocks, uncertainties] = step;
  blocks?.set(REFERENCE, reference?.block_number ?? null);
  for (const { key, block_number: block, lag_seconds: lag } of targets) {
    const gap = gapOf.get(key);
    blocks?.set(key, block);
    lags?.set(key, lag === null ? null : Math.round(lag * 1_000));
    gapBlocks?.set(key, gap?.blocks ?? null);
    uncertainties?.set(key, gap === undefined ? null : savedUncertainty(gap));
  }
  return step;
}

/** In tenths, rounded up, with the rounding of the gap itself: the interval must still contain the true gap. */
function savedUncertainty(gap: ChainReport["gaps"][number]): number {
  const rounding = Math.abs(gap.blocks - (inTenths(Math.fround(gap.blocks)) ?? 0));
  return Math.ceil((gap.uncertainty_blocks + rounding) * 10) / 10;
}

/** Rounded so that a value in four bytes reads as it was written. */
function inTenths(value: number | null): number | null {
  return value === null ? null : Math.round(value * 10) / 10;
}

/** The sum of all lags; less than any lag where none is known. */
function badnessOf(keys: readonly string[], read: Slot["read"]): number {
  const lags = keys.map((key) => read(LAG, key)).filter((lagMs) => lagMs !== null);
  return lags.length === 0 ? -1 : lags.reduce((total, lagMs) => total + lagMs);
}

/** Of each `size` neighbours, counted from the end, the one at which these targets were furthest behind; of equal ones the latest. */
function worstOfEach(slots: readonly Slot[], size: number, keys: readonly string[]): readonly Slot[] {
  if (size === 1) {
    return slots;
  }
  const worst = slots.slice(0, Math.ceil(slots.length / size)).map((slot) => ({ slot, badness: -Infinity }));
  for (const [index, slot] of slots.entries()) {
    const most = worst[worst.length - 1 - Math.floor((slots.length - 1 - index) / size)];
    const badness = badnessOf(keys, slot.read);
    if (most !== undefined && badness >= most.badness) {
      Object.assign(most, { slot, badness });
    }
  }
  return worst.map(({ slot }) => slot);
}

/** Values of one kind, of any number of series. All are in one array: thousands of small ones take much more memory. */
interface SavedColumn {
  /** The series that have values. */
  readonly names: readonly string[];
  /** The values of all slots, series after series; NaN: unknown. */
  readonly values: Numbers;
}

/** A ring as plain data. */
export interface SavedRing {
  /** The time of each slot's values, in Unix milliseconds; NaN: an empty slot. */
  readonly timesMs: Float64Array<ArrayBuffer>;
  readonly columns: readonly SavedColumn[];
}

/** The values of one moment by column and series; null: unknown. Every column has all series. */
type Step = readonly ReadonlyMap<string, number | null>[];

/** A step that a ring may hold. */
interface Slot {
  /** When its values were true; the beginning of a step that holds none. */
  readonly timeMs: number;
  /** Whether it holds values. */
  readonly isFull: boolean;
  read(column: number, name: string): number | null;
}

type Numbers = Float64Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

/** The values of one moment of each of the last `size` steps of `stepMs`. A new step overwrites the oldest. */
class Ring {
  readonly #stepMs: number;
  readonly #size: number;
  #timesMs: Float64Array<ArrayBuffer>;
  #columns: { readonly rows: ReadonlyMap<string, number>; readonly values: Numbers }[];

  /** `bytes`: of a number, for each column. */
  constructor(stepMs: number, size: number, bytes: readonly (4 | 8)[]) {
    this.#stepMs = stepMs;
    this.#size = size;
    this.#timesMs = new Float64Array(size).fill(Number.NaN);
    this.#columns = bytes.map((each) => ({
      rows: new Map(),
      values: each === 4 ? new Float32Array() : new Float64Array(),
    }));
  }

  /** Replaces what the step of `nowMs` holds. A series takes no memory before its first value, and is forgotten once a step lacks it. */
  put(nowMs: number, step: Step): void {
    const slot = this.#stepOf(nowMs) % this.#size;
    for (const [index, series] of step.entries()) {
      this.#keep(index, series);
      const { rows = [], values = [] } = this.#columns[index] ?? {};
      for (const [name, row] of rows) {
        values[row * this.#size + slot] = series.get(name) ?? Number.NaN;
      }
    }
    this.#timesMs[slot] = nowMs;
  }

  /** The step of this time. */
  at(timeMs: number): Slot {
    return this.#slot(this.#stepOf(timeMs));
  }

  /** The steps from the first one between these times that holds anything to the last. */
  between(fromMs: number, toMs: number): readonly Slot[] {
    const last = this.#stepOf(toMs);
    const earliest = Math.ceil(Math.max(fromMs, this.earliestMs(toMs)) / this.#stepMs);
    const kept = [...this.#timesMs]
      .map((timeMs) => this.#stepOf(timeMs))
      .filter((step) => step >= earliest && step <= last);
    const first = Math.min(last + 1, ...kept);
    return Array.from({ length: last - first + 1 }, (_, index) => this.#slot(first + index));
  }

  /** The beginning of the earliest step that can be held together with that of `toMs`. */
  earliestMs(toMs: number): number {
    return (this.#stepOf(toMs) - this.#size + 1) * this.#stepMs;
  }

  save(): SavedRing {
    const columns = this.#columns.map(({ rows, values }) => ({ names: [...rows.keys()], values }));
    return { timesMs: this.#timesMs, columns };
  }

  restore({ timesMs, columns }: SavedRing): void {
    this.#timesMs = timesMs;
    this.#columns = columns.map(({ names, values }) => ({ rows: rowsOf(names), values }));
  }

  #stepOf(timeMs: number): number {
    return Math.floor(timeMs / this.#stepMs);
  }

  #slot(step: number): Slot {
    const index = step % this.#size;
    const timeMs = this.#timesMs[index] ?? Number.NaN;
    const isFull = this.#stepOf(timeMs) === step;
    return {
      timeMs: isFull ? timeMs : step * this.#stepMs,
      isFull,
      read: (column, name) => {
        const { rows, values = [] } = this.#columns[column] ?? {};
        const row = rows?.get(name);
        const value = isFull && row !== undefined ? values[row * this.#size + index] : undefined;
        return value === undefined || Number.isNaN(value) ? null : value;
      },
    };
  }

  /** Gives a row to each series of a column that has had a value, and to no other. */
  #keep(index: number, series: ReadonlyMap<string, number | null>): void {
    const column = this.#columns[index];
    if (column === undefined) {
      return;
    }
    const { rows, values } = column;
    const kept = [...rows.keys()].filter((name) => series.has(name));
    const fresh = [...series].flatMap(([name, value]) => (value === null || rows.has(name) ? [] : [name]));
    if (kept.length === rows.size && fresh.length === 0) {
      return;
    }
    const length = (kept.length + fresh.length) * this.#size;
    const moved = values instanceof Float32Array ? new Float32Array(length) : new Float64Array(length);
    moved.fill(Number.NaN);
    for (const [row, name] of kept.entries()) {
      const from = (rows.get(name) ?? 0) * this.#size;
      moved.set(values.subarray(from, from + this.#size), row * this.#size);
    }
    this.#columns[index] = { rows: rowsOf([...kept, ...fresh]), values: moved };
  }
}

function rowsOf(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name, row) => [name, row]));
}
