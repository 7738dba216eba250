import { type ColumnKind, RingColumn, type SavedColumn } from "./ring-column.ts";

/** Values at even times; null where nothing is known. */
export type Column = readonly (number | null)[];

/** A ring as plain data. */
export interface SavedRing {
  /** The step that each slot holds, counted since 1970; NaN where it holds none. */
  readonly steps: Float64Array<ArrayBuffer>;
  readonly columns: readonly SavedColumn[];
}

/** Values of one step: for each column those of the series, by name. The first column names all series. */
export type Step = readonly ReadonlyMap<string, number | null>[];

/** The values of the last `size` steps of `stepMs`, of any number of series. A new step overwrites the oldest. */
export class Ring {
  readonly stepMs: number;
  readonly #size: number;
  readonly #kinds: readonly ColumnKind[];
  #steps: Float64Array<ArrayBuffer>;
  #columns: readonly RingColumn[];

  constructor(stepMs: number, size: number, kinds: readonly ColumnKind[]) {
    this.stepMs = stepMs;
    this.#size = size;
    this.#kinds = kinds;
    this.#steps = new Float64Array(size).fill(Number.NaN);
    this.#columns = kinds.map((kind) => new RingColumn(size, kind));
  }

  /** Adds values to the step of `nowMs`. A series that a new step lacks is dropped. */
  add(nowMs: number, values: Step): void {
    const step = Math.floor(nowMs / this.stepMs);
    const slot = step % this.#size;
    if (this.#steps[slot] !== step) {
      this.#steps[slot] = step;
      const names = values[0] ?? new Map();
      for (const column of this.#columns) {
        column.retain(names);
        column.clear(slot);
      }
    }
    for (const [index, column] of this.#columns.entries()) {
      column.add(slot, values[index] ?? new Map());
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
    return steps.map((step) => {
      const slot = step % this.#size;
      return this.#steps[slot] === step ? (this.#columns[column]?.valueAt(name, slot) ?? null) : null;
    });
  }

  save(): SavedRing {
    return { steps: this.#steps, columns: this.#columns.map((column) => column.save()) };
  }

  /** Continues from saved data; ignored unless all of it fits. */
  restore({ steps, columns }: SavedRing): void {
    const restored = columns.flatMap((saved, index) => {
      const kind = this.#kinds[index];
      const column = kind === undefined ? null : RingColumn.restored(this.#size, kind, saved);
      return column === null ? [] : [column];
    });
    const hasAll = columns.length === this.#kinds.length && restored.length === columns.length;
    if (hasAll && steps.length === this.#size) {
      this.#steps = steps;
      this.#columns = restored;
    }
  }
}
