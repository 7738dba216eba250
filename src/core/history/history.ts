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

/** A history as plain data. */
export interface SavedHistory {
  /** The time of each slot's values, in Unix milliseconds; NaN: an empty slot. */
  readonly timesMs: Float64Array<ArrayBuffer>;
  readonly series: Readonly<Record<string, Numbers>>;
}

/** A value for each slot; NaN: unknown. */
type Numbers = Float64Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

/** The slots of the steps of one length, from `first` on. A new step overwrites the oldest. */
interface Ring {
  readonly stepMs: number;
  readonly size: number;
  readonly first: number;
}

/** A step with its values. */
interface Step {
  /** When they were true; the beginning of a step without values. */
  readonly timeMs: number;
  /** Null: it has no values. */
  readonly slot: number | null;
}

const MINUTE_MS = 60_000;
/** Two hours by the minute. */
const FINE: Ring = { stepMs: MINUTE_MS, size: 120, first: 0 };
/** A day by five minutes. */
const COARSE: Ring = { stepMs: 5 * MINUTE_MS, size: 288, first: FINE.size };
const SLOTS = FINE.size + COARSE.size;
/** A step is made of several samples, so that a short peak is not missed. */
const SAMPLE_MS = 15_000;

/** The history of one chain, for the plots: 8 kB a target. */
export class ChainHistory {
  #timesMs = new Float64Array(SLOTS).fill(Number.NaN);
  /** By column and the target's key. A series takes no memory before its first value. */
  #series = new Map<string, Numbers>();
  #sampledMs = Number.NEGATIVE_INFINITY;

  /**
   * Takes a sample of the report, at most every 15 s. A report without any known value is skipped. A step keeps one sample, so that its
   * heights and lags are of one moment: the moment at which the targets were furthest behind.
   */
  record(report: ChainReport, nowMs: number): void {
    if (Math.abs(nowMs - this.#sampledMs) < SAMPLE_MS) {
      return;
    }
    const sample = sampleOf(report);
    if ([...sample.values()].every((value) => value === null)) {
      return;
    }
    this.#sampledMs = nowMs;
    this.#follow(sample);
    const keys = report.targets.map(({ key }) => key);
    const badness = badnessOf(keys.map((key) => sample.get(`lag ${key}`) ?? null));
    for (const ring of [FINE, COARSE]) {
      const known = this.#stepAt(ring, stepOf(ring, nowMs));
      if (known.slot === null || badness > this.#badnessAt(known, keys)) {
        const slot = slotOf(ring, stepOf(ring, nowMs));
        this.#timesMs[slot] = nowMs;
        for (const [name, values] of this.#series) {
          values[slot] = sample.get(name) ?? Number.NaN;
        }
      }
    }
  }

  /**
   * Reads a span for these targets, from the first known value on: by the minute where it is recent, else by five minutes. Of
   * more than `points` points, neighbours are replaced by the one at which these targets were furthest behind.
   */
  read(keys: readonly string[], { fromMs, toMs, points }: Span): HistorySlice {
    const recentMs = earliestMs(FINE, toMs);
    const all = [
      ...this.#between(COARSE, fromMs, recentMs).filter(({ timeMs }) => timeMs < recentMs),
      ...this.#between(FINE, fromMs, toMs),
    ];
    const steps = this.#worstOfEach(all, Math.max(1, Math.ceil(all.length / points)), keys);
    const column = (name: string) => steps.map((step) => this.#valueAt(step, name));
    return {
      timesMs: steps.map(({ timeMs }) => timeMs),
      reference: column(REFERENCE),
      targets: Object.fromEntries(
        keys.map((key) => [
          key,
          {
            block: column(`block ${key}`),
            lagMs: column(`lag ${key}`),
            gapBlocks: column(`gap ${key}`).map(inTenths),
            uncertaintyBlocks: column(`uncertainty ${key}`).map(inTenths),
          },
        ]),
      ),
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

  /** Begins a series with its first value, and drops those of former targets. */
  #follow(sample: Sample): void {
    for (const name of this.#series.keys()) {
      if (!sample.has(name)) {
        this.#series.delete(name);
      }
    }
    for (const [name, value] of sample) {
      if (value !== null && !this.#series.has(name)) {
        // Seven digits are enough for all but heights.
        const isHeight = name === REFERENCE || name.startsWith("block ");
        const values = isHeight ? new Float64Array(SLOTS) : new Float32Array(SLOTS);
        this.#series.set(name, values.fill(Number.NaN));
      }
    }
  }

  /** The steps from the first one between these times that has values to the last. */
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

  #valueAt({ slot }: Step, name: string): number | null {
    const value = slot === null ? undefined : this.#series.get(name)?.[slot];
    return value === undefined || Number.isNaN(value) ? null : value;
  }

  #badnessAt(step: Step, keys: readonly string[]): number {
    return badnessOf(keys.map((key) => this.#valueAt(step, `lag ${key}`)));
  }

  /** Of each `size` neighbours, counted from the end, the one at which these targets were furthest behind; of equal ones the latest. */
  #worstOfEach(steps: readonly Step[], size: number, keys: readonly string[]): readonly Step[] {
    const groups: (readonly Step[])[] = [];
    for (let end = steps.length; end > 0; end -= size) {
      groups.unshift(steps.slice(Math.max(0, end - size), end));
    }
    const isWorse = (one: Step, other: Step) => this.#badnessAt(one, keys) >= this.#badnessAt(other, keys);
    return groups.map((group) => group.reduce((worst, step) => (isWorse(step, worst) ? step : worst)));
  }
}

function stepOf({ stepMs }: Ring, timeMs: number): number {
  return Math.floor(timeMs / stepMs);
}

function slotOf({ first, size }: Ring, step: number): number {
  return first + (step % size);
}

/** The beginning of the earliest step that can be kept together with that of `toMs`. */
function earliestMs(ring: Ring, toMs: number): number {
  return (stepOf(ring, toMs) - ring.size + 1) * ring.stepMs;
}

/** No target has this key. */
const REFERENCE = "reference";

/** The values of one moment by series; null: unknown. */
type Sample = ReadonlyMap<string, number | null>;

function sampleOf({ reference, targets, gaps }: ChainReport): Sample {
  const gapOf = new Map(gaps.map((gap) => [gap.key, gap]));
  const sample = new Map<string, number | null>([[REFERENCE, reference?.block_number ?? null]]);
  for (const { key, block_number: block, lag_seconds: lag } of targets) {
    const gap = gapOf.get(key);
    sample.set(`block ${key}`, block);
    sample.set(`lag ${key}`, lag === null ? null : Math.round(lag * 1_000));
    sample.set(`gap ${key}`, gap?.blocks ?? null);
    // Rounded up, so that the interval still contains the true gap.
    sample.set(`uncertainty ${key}`, gap === undefined ? null : Math.ceil(gap.uncertainty_blocks * 10) / 10);
  }
  return sample;
}

/** Rounded so that a value in four bytes reads as it was written. */
function inTenths(value: number | null): number | null {
  return value === null ? null : Math.round(value * 10) / 10;
}

/** The sum of all known lags; -1 if no lag is known. */
function badnessOf(lags: readonly (number | null)[]): number {
  const known = lags.filter((lagMs) => lagMs !== null);
  return known.length === 0 ? -1 : known.reduce((total, lagMs) => total + lagMs);
}
