import { MINUTE_MS } from "../model/durations.ts";
import type { ChainReport } from "../model/report.ts";

/** One value for each time; null: unknown. */
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

/** A history as plain data. */
export interface SavedHistory {
  /** The time of each slot's values, in Unix milliseconds; NaN: an empty slot. */
  readonly timesMs: Float64Array<ArrayBuffer>;
  /** `reference`, and for each target `block KEY`, `lag KEY`, `gap KEY`, `uncertainty KEY`. */
  readonly series: Readonly<Record<string, Numbers>>;
}

/** A value for each slot; NaN: unknown. */
type Numbers = Float64Array<ArrayBuffer> | Float32Array<ArrayBuffer>;
type NumbersType = typeof Float64Array | typeof Float32Array;

/** A ring of `size` slots from `first` on, each for a step of `stepMs`. A new step overwrites the oldest. */
interface Ring {
  readonly stepMs: number;
  readonly size: number;
  readonly first: number;
}

/** A stretch of time for which a ring has at most one value of each series. */
interface Step {
  /** When the values were sampled; for a step without values, its beginning. */
  readonly timeMs: number;
  /** Null if the step has no values. */
  readonly slot: number | null;
}

/** Two hours by the minute. */
const FINE: Ring = { stepMs: MINUTE_MS, size: 120, first: 0 };
/** A day by five minutes. */
const COARSE: Ring = { stepMs: 5 * MINUTE_MS, size: 288, first: FINE.size };
const SLOTS = FINE.size + COARSE.size;

/** The history of one chain, for the plots: 8 kB a target. */
export class ChainHistory {
  #timesMs = new Float64Array(SLOTS).fill(Number.NaN);
  /** By their names in `SavedHistory`. A series takes no memory before its first value. */
  #series: ReadonlyMap<string, Numbers> = new Map();

  /**
   * Takes a sample of the report, unless nothing in the report is known. Of all samples in a step, the step keeps the one at
   * which the targets were furthest behind: a short peak is not missed, and heights and lags are of one moment.
   */
  record({ gaps, reference, targets }: ChainReport, nowMs: number): void {
    const keys = targets.map(({ key }) => key);
    const totalLag = totalLagOf(targets.map(({ lag_seconds: lag }) => inMs(lag)));
    const rings = [FINE, COARSE].filter((ring) => {
      const known = this.#stepAt(ring, stepOf(ring, nowMs));
      return known.slot === null || totalLag > this.#totalLagAt(known, keys);
    });
    const isKnown =
      reference !== null ||
      gaps.length > 0 ||
      targets.some(({ block_number: block, lag_seconds: lag }) => block !== null || lag !== null);
    if (rings.length === 0 || !isKnown) {
      return;
    }
    const slots = rings.map((ring) => slotOf(ring, stepOf(ring, nowMs)));
    for (const slot of slots) {
      this.#timesMs[slot] = nowMs;
    }
    const former = this.#series;
    const series = new Map<string, Numbers>();
    function note(name: string, value: number | null, Values: NumbersType): void {
      const values = withValue(former.get(name), slots, value, Values);
      if (values !== undefined) {
        series.set(name, values);
      }
    }
    note("reference", reference?.block_number ?? null, Float64Array);
    const gapOf = new Map(gaps.map((gap) => [gap.key, gap]));
    for (const { key, block_number: block, lag_seconds: lag } of targets) {
      const gap = gapOf.get(key);
      note(`block ${key}`, block, Float64Array);
      note(`lag ${key}`, inMs(lag), Float32Array);
      note(`gap ${key}`, gap?.blocks ?? null, Float32Array);
      // Rounded up, so that the interval still contains the true gap.
      const uncertainty = gap === undefined ? null : Math.ceil(gap.uncertainty_blocks * 10) / 10;
      note(`uncertainty ${key}`, uncertainty, Float32Array);
    }
    this.#series = series;
  }

  /**
   * Reads a span for these targets, from the first known value on: the last two hours by the minute, the time before by five
   * minutes. If there are more than `points` points, each group of neighbours is reduced to the point at which these targets
   * were furthest behind.
   */
  read(keys: readonly string[], { fromMs, toMs, points }: Span): HistorySlice {
    const recentMs = earliestMs(FINE, toMs);
    const all = [
      ...this.#between(COARSE, fromMs, recentMs).filter(({ timeMs }) => timeMs < recentMs),
      ...this.#between(FINE, fromMs, toMs),
    ];
    const steps = this.#worstOfEach(all, Math.max(1, Math.ceil(all.length / points)), keys);
    const column = (name: string) => steps.map((step) => valueAt(step, this.#series.get(name)));
    const history = (key: string): TargetHistory => ({
      block: column(`block ${key}`),
      lagMs: column(`lag ${key}`),
      gapBlocks: column(`gap ${key}`).map(inTenths),
      uncertaintyBlocks: column(`uncertainty ${key}`).map(inTenths),
    });
    return {
      timesMs: steps.map(({ timeMs }) => timeMs),
      reference: column("reference"),
      targets: Object.fromEntries(keys.map((key) => [key, history(key)])),
    };
  }

  save(): SavedHistory {
    return { timesMs: this.#timesMs, series: Object.fromEntries(this.#series) };
  }

  restore({ timesMs, series }: SavedHistory): this {
    this.#timesMs = timesMs;
    this.#series = new Map(Object.entries(series));
    return this;
  }

  /** The steps between two times, from the first step that has values. */
  #between(ring: Ring, fromMs: number, toMs: number): readonly Step[] {
    const last = stepOf(ring, toMs);
    let step = Math.ceil(Math.max(fromMs, earliestMs(ring, toMs)) / ring.stepMs);
    while (step <= last && this.#stepAt(ring, step).slot === null) {
      step += 1;
    }
    const first = step;
    return Array.from({ length: last - first + 1 }, (_, index) => this.#stepAt(ring, first + index));
  }

  #stepAt(ring: Ring, step: number): Step {
    const slot = slotOf(ring, step);
    const timeMs = this.#timesMs[slot] ?? Number.NaN;
    return stepOf(ring, timeMs) === step ? { timeMs, slot } : { timeMs: step * ring.stepMs, slot: null };
  }

  #totalLagAt(step: Step, keys: readonly string[]): number {
    return totalLagOf(keys.map((key) => valueAt(step, this.#series.get(`lag ${key}`))));
  }

  /**
   * Groups `size` neighbours, counted from the end, and keeps the step of each group at which these targets were furthest
   * behind; of equal steps the latest.
   */
  #worstOfEach(steps: readonly Step[], size: number, keys: readonly string[]): readonly Step[] {
    const groups: (readonly Step[])[] = [];
    for (let end = steps.length; end > 0; end -= size) {
      groups.unshift(steps.slice(Math.max(0, end - size), end));
    }
    const isWorse = (one: Step, other: Step) => this.#totalLagAt(one, keys) >= this.#totalLagAt(other, keys);
    return groups.map((group) => group.reduce((worst, step) => (isWorse(step, worst) ? step : worst)));
  }
}

function stepOf({ stepMs }: Ring, timeMs: number): number {
  return Math.floor(timeMs / stepMs);
}

function slotOf({ first, size }: Ring, step: number): number {
  return first + (step % size);
}

/** The beginning of the earliest step that a ring still has at `toMs`. */
function earliestMs(ring: Ring, toMs: number): number {
  return (stepOf(ring, toMs) - ring.size + 1) * ring.stepMs;
}

function valueAt({ slot }: Step, values: Numbers | undefined): number | null {
  const value = slot === null ? undefined : values?.[slot];
  return value === undefined || Number.isNaN(value) ? null : value;
}

/**
 * Writes a value into these slots of a series. The series is created with its first known value. Seven digits (four bytes) are
 * enough for all values but heights.
 */
function withValue(
  series: Numbers | undefined,
  slots: readonly number[],
  value: number | null,
  Values: NumbersType,
): Numbers | undefined {
  if (series === undefined && value === null) {
    return undefined;
  }
  const values = series ?? new Values(SLOTS).fill(Number.NaN);
  for (const slot of slots) {
    values[slot] = value ?? Number.NaN;
  }
  return values;
}

function inMs(lagSeconds: number | null): number | null {
  return lagSeconds === null ? null : Math.round(lagSeconds * 1_000);
}

/** Removes the rounding error of a value that was stored in four bytes. */
function inTenths(value: number | null): number | null {
  return value === null ? null : Math.round(value * 10) / 10;
}

/** The sum of all known lags; -1 if no lag is known. */
function totalLagOf(lags: readonly (number | null)[]): number {
  const known = lags.filter((lagMs) => lagMs !== null);
  return known.length === 0 ? -1 : known.reduce((total, lagMs) => total + lagMs);
}
