/** Bytes of a number. Four of them hold six to nine significant digits. */
export type NumberBytes = 4 | 8;

/** A column as plain data. */
export interface SavedColumn {
  /** The series that have values. */
  readonly names: readonly string[];
  /** The values of all slots, series after series; NaN: unknown. */
  readonly values: Numbers;
}

type Numbers = Float64Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

/**
 * One kind of value of any number of series, in the slots of a ring. All are in one array: thousands of small ones take much
 * more memory than their numbers.
 */
export class RingColumn {
  readonly #size: number;
  readonly #bytes: NumberBytes;
  #rows = new Map<string, number>();
  #values: Numbers;

  constructor(size: number, bytes: NumberBytes) {
    this.#size = size;
    this.#bytes = bytes;
    this.#values = arrayOf(bytes, 0);
  }

  /** Continues from saved data; null if it does not fit. */
  static restored(size: number, bytes: NumberBytes, { names, values }: SavedColumn): RingColumn | null {
    if (values.BYTES_PER_ELEMENT !== bytes || values.length !== names.length * size) {
      return null;
    }
    const column = new RingColumn(size, bytes);
    column.#values = values;
    column.#rows = new Map(names.map((name, row) => [name, row]));
    return column;
  }

  /** Replaces what a slot holds. A series takes no memory before it has its first value. */
  put(slot: number, values: ReadonlyMap<string, number | null>): void {
    const fresh = [...values].filter(([name, value]) => value !== null && !this.#rows.has(name));
    this.#grow(fresh.map(([name]) => name));
    for (const [name, row] of this.#rows) {
      this.#values[row * this.#size + slot] = values.get(name) ?? Number.NaN;
    }
  }

  /** Drops the series that are not among these. */
  retain(names: { readonly has: (name: string) => boolean }): void {
    const kept = [...this.#rows].filter(([name]) => names.has(name));
    if (kept.length === this.#rows.size) {
      return;
    }
    const values = arrayOf(this.#bytes, kept.length * this.#size);
    for (const [row, [, former]] of kept.entries()) {
      values.set(this.#values.subarray(former * this.#size, (former + 1) * this.#size), row * this.#size);
    }
    this.#values = values;
    this.#rows = new Map(kept.map(([name], row) => [name, row]));
  }

  /** Null: unknown. */
  valueAt(name: string, slot: number): number | null {
    const row = this.#rows.get(name);
    const value = row === undefined ? undefined : this.#values[row * this.#size + slot];
    if (value === undefined || Number.isNaN(value)) {
      return null;
    }
    return this.#bytes === 4 ? inFourBytes(value) : value;
  }

  save(): SavedColumn {
    return { names: [...this.#rows.keys()], values: this.#values };
  }

  #grow(names: readonly string[]): void {
    if (names.length === 0) {
      return;
    }
    const values = arrayOf(this.#bytes, (this.#rows.size + names.length) * this.#size);
    values.set(this.#values);
    this.#values = values;
    for (const name of names) {
      this.#rows.set(name, this.#rows.size);
    }
  }
}

function arrayOf(bytes: NumberBytes, length: number): Numbers {
  return (bytes === 4 ? new Float32Array(length) : new Float64Array(length)).fill(Number.NaN);
}

/** What is read back of a value that is kept in four bytes: the shortest decimal that is nearest to them, so mostly the value itself. */
export function inFourBytes(value: number): number {
  const kept = Math.fround(value);
  for (let digits = 6; digits < 9; digits += 1) {
    const decimal = Number(kept.toPrecision(digits));
    if (Math.fround(decimal) === kept) {
      return decimal;
    }
  }
  return kept;
}
