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
export type Step = readonly ReadonlyMap<string, number | null>[];

/** A step that a ring may hold. */
export interface Slot {
  /** When its values were true; the beginning of a step that holds none. */
  readonly timeMs: number;
  /** Whether it holds values. */
  readonly isFull: boolean;
  read(column: number, name: string): number | null;
}

type Numbers = Float64Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

/** The values of one moment of each of the last `size` steps of `stepMs`. A new step overwrites the oldest. */
export class Ring {
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
