import { type NumberBytes, RingColumn, type SavedColumn } from "./ring-column.ts";

/** Values at even times; null: unknown. */
export type Column = readonly (number | null)[];

/** A ring as plain data. */
export interface SavedRing {
  /** The time of each slot's values, in Unix milliseconds; NaN: an empty slot. */
  readonly timesMs: Float64Array<ArrayBuffer>;
  readonly columns: readonly SavedColumn[];
}

/** The values of one step by column and series name. The first column names all series. */
export type Step = readonly ReadonlyMap<string, number | null>[];

/** The values of one moment of each of the last `size` steps of `stepMs`, of any number of series. A new step overwrites the oldest. */
export class Ring {
  readonly #stepMs: number;
  readonly #size: number;
  readonly #kinds: readonly NumberBytes[];
  #timesMs: Float64Array<ArrayBuffer>;
  #columns: readonly RingColumn[];

  constructor(stepMs: number, size: number, kinds: readonly NumberBytes[]) {
    this.#stepMs = stepMs;
    this.#size = size;
    this.#kinds = kinds;
    this.#timesMs = new Float64Array(size).fill(Number.NaN);
    this.#columns = kinds.map((bytes) => new RingColumn(size, bytes));
  }

  /** Replaces what the step of `nowMs` holds. A series that a new step lacks is dropped. */
  put(nowMs: number, values: Step): void {
    const step = this.stepOf(nowMs);
    const slot = step % this.#size;
    const names = values[0] ?? new Map();
    for (const [index, column] of this.#columns.entries()) {
      if (!this.holds(step)) {
        column.retain(names);
      }
      column.put(slot, values[index] ?? new Map());
    }
    this.#timesMs[slot] = nowMs;
  }

  stepOf(timeMs: number): number {
    return Math.floor(timeMs / this.#stepMs);
  }

  holds(step: number): boolean {
    return this.stepOf(this.#timesMs[step % this.#size] ?? Number.NaN) === step;
  }

  /** When the values of a step were true; the beginning of one that holds none. */
  timeOf(step: number): number {
    return this.holds(step) ? (this.#timesMs[step % this.#size] ?? Number.NaN) : step * this.#stepMs;
  }

  /** The steps from the first one between these times that holds anything to the last; all have a value, or null. */
  stepsBetween(fromMs: number, toMs: number): readonly number[] {
    const last = this.stepOf(toMs);
    const earliest = Math.ceil(Math.max(fromMs, this.earliestMs(toMs)) / this.#stepMs);
    const kept = this.#timesMs
      .map((timeMs) => this.stepOf(timeMs))
      .filter((step) => step >= earliest && step <= last);
    const first = kept.length === 0 ? last + 1 : Math.min(...kept);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  }

  /** The beginning of the earliest step that can be held together with that of `toMs`. */
  earliestMs(toMs: number): number {
    return (this.stepOf(toMs) - this.#size + 1) * this.#stepMs;
  }

  read(name: string, column: number, steps: readonly number[]): Column {
    return steps.map((step) =>
      this.holds(step) ? (this.#columns[column]?.valueAt(name, step % this.#size) ?? null) : null,
    );
  }

  save(): SavedRing {
    return { timesMs: this.#timesMs, columns: this.#columns.map((column) => column.save()) };
  }

  /** Continues from saved data; ignored unless all of it fits. */
  restore({ timesMs, columns }: SavedRing): void {
    const restored = columns.flatMap((saved, index) => {
      const bytes = this.#kinds[index];
      const column = bytes === undefined ? null : RingColumn.restored(this.#size, bytes, saved);
      return column === null ? [] : [column];
    });
    const hasAll = columns.length === this.#kinds.length && restored.length === columns.length;
    if (hasAll && timesMs.length === this.#size) {
      this.#timesMs = timesMs;
      this.#columns = restored;
    }
  }
}
