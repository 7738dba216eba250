/** Values at even times; null where nothing is known. */
export type Column = readonly (number | null)[];

/** A ring as plain data, slot by slot. */
export interface SavedRing {
  /** The step that each slot holds, counted since 1970; NaN where it holds none. */
  readonly steps: Float64Array;
  /** All columns of a series, one after the other; NaN where nothing is known. */
  readonly series: Readonly<Record<string, Float64Array>>;
}

/** Values of one step: some columns for each series. */
export type Rows = ReadonlyMap<string, Column>;

/** Chooses between the value that a step has already and another one. */
export type Merge = (before: number, value: number) => number;

/** The values of the last `size` steps of `stepMs`, of any number of series. A new step overwrites the oldest. */
export class Ring {
  readonly stepMs: number;
  readonly #size: number;
  readonly #merges: readonly Merge[];
  #steps: Float64Array;
  #series = new Map<string, Float64Array>();

  /** `merges`: one for each column, for the values of one step. */
  constructor(stepMs: number, size: number, merges: readonly Merge[]) {
    this.stepMs = stepMs;
    this.#size = size;
    this.#merges = merges;
    this.#steps = new Float64Array(size).fill(Number.NaN);
  }

  /** Adds values to the step of `nowMs`. A series that a new step lacks is dropped. */
  add(nowMs: number, rows: Rows): void {
    const step = Math.floor(nowMs / this.stepMs);
    const slot = step % this.#size;
    if (this.#steps[slot] !== step) {
      this.#begin(slot, rows);
      this.#steps[slot] = step;
    }
    for (const [name, row] of rows) {
      const values = this.#valuesOf(name, row.length);
      for (const [column, value] of row.entries()) {
        const at = column * this.#size + slot;
        values[at] = this.#merged(column, values[at] ?? Number.NaN, value ?? Number.NaN);
      }
    }
  }

  /** The steps from the first one between these times that holds anything to the last; all have a value, or null. */
  stepsBetween(fromMs: number, toMs: number): readonly number[] {
    const last = Math.floor(toMs / this.stepMs);
    const earliest = Math.ceil(Math.max(fromMs, this.earliestMs(toMs)) / this.stepMs);
    const kept = this.#steps.filter((step) => step >= earliest && step <= last);
    const first = kept.length === 0 ? last + 1 : Math.min(...kept);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  }

  /** The beginning of the earliest step that can be held together with that of `toMs`. */
  earliestMs(toMs: number): number {
    return (Math.floor(toMs / this.stepMs) - this.#size + 1) * this.stepMs;
  }

  read(name: string, column: number, steps: readonly number[]): Column {
    const values = this.#series.get(name);
    return steps.map((step) => {
      const slot = step % this.#size;
      const value = this.#steps[slot] === step ? values?.[column * this.#size + slot] : undefined;
      return value === undefined || Number.isNaN(value) ? null : value;
    });
  }

  save(): SavedRing {
    return { steps: this.#steps, series: Object.fromEntries(this.#series) };
  }

  /** Continues from saved data; what does not fit is ignored. */
  restore({ steps, series }: SavedRing): void {
    if (steps.length === this.#size) {
      this.#steps = steps;
      this.#series = new Map(
        Object.entries(series).filter(([, { length }]) => length > 0 && length % this.#size === 0),
      );
    }
  }

  #begin(slot: number, rows: Rows): void {
    for (const [name, values] of this.#series) {
      if (!rows.has(name)) {
        this.#series.delete(name);
      }
      for (let at = slot; at < values.length; at += this.#size) {
        values[at] = Number.NaN;
      }
    }
  }

  #merged(column: number, before: number, value: number): number {
    if (Number.isNaN(before) || Number.isNaN(value)) {
      return Number.isNaN(before) ? value : before;
    }
    return this.#merges[column]?.(before, value) ?? value;
  }

  #valuesOf(name: string, columns: number): Float64Array {
    const known = this.#series.get(name);
    if (known?.length === columns * this.#size) {
      return known;
    }
    const values = new Float64Array(columns * this.#size).fill(Number.NaN);
    this.#series.set(name, values);
    return values;
  }
}
