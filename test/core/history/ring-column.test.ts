import { describe, expect, it } from "vitest";
import { inFourBytes, RingColumn } from "../../../src/core/history/ring-column.ts";

const SLOTS = 3;

/** A column into which these were put, each into its slot. */
function columnOf(...added: readonly (readonly [slot: number, values: Record<string, number | null>])[]) {
  const column = new RingColumn(SLOTS, 8);
  for (const [slot, values] of added) {
    column.put(slot, new Map(Object.entries(values)));
  }
  return column;
}

/** The values of a series in all slots. */
function slotsOf(column: RingColumn, name: string): readonly (number | null)[] {
  return [0, 1, 2].map((slot) => column.valueAt(name, slot));
}

describe("RingColumn.put()", () => {
  it("keeps a value for each slot of each series, and has null where none was put", () => {
    const column = columnOf([0, { a: 5, b: 7 }], [1, { a: 6, c: 0 }]);

    expect(["a", "b", "c", "never"].map((name) => slotsOf(column, name))).toEqual([
      [5, 6, null],
      [7, null, null],
      [null, 0, null],
      [null, null, null],
    ]);
  });

  it("replaces everything that a slot held", () => {
    const column = columnOf([1, { a: 5, b: 6 }], [1, { a: 7 }]);

    expect(["a", "b"].map((name) => slotsOf(column, name))).toEqual([
      [null, 7, null],
      [null, null, null],
    ]);
  });

  it("gives a decimal back that is kept in four bytes, not the nearest number that they hold", () => {
    const column = new RingColumn(SLOTS, 4);

    column.put(0, new Map([["a", 0.1]]));

    expect(column.valueAt("a", 0)).toBe(0.1);
    expect(column.save().values[0]).toBe(Math.fround(0.1));
  });

  it("takes null for nothing known, not for 0 and not for an end of what is known", () => {
    const column = columnOf([0, { a: -5 }], [1, { a: null }]);

    expect(slotsOf(column, "a")).toEqual([-5, null, null]);
  });

  it("gives a series no memory before its first value", () => {
    const { names, values } = columnOf([0, { a: null, b: 5 }]).save();

    expect(names).toEqual(["b"]);
    expect(values).toHaveLength(SLOTS);
  });
});

describe("RingColumn.retain()", () => {
  const filled = () =>
    columnOf([0, { a: 1, b: 2, c: 3 }], [1, { a: 4, b: 5, c: 6 }], [2, { a: 7, b: 8, c: 9 }]);

  it.each([
    { kept: ["b", "c"], dropped: "a" },
    { kept: ["a", "c"], dropped: "b" },
    { kept: ["a", "b"], dropped: "c" },
  ])("keeps the values of $kept and frees the memory of $dropped", ({ kept, dropped }) => {
    const column = filled();
    const before = kept.map((name) => slotsOf(column, name));

    column.retain(new Set(kept));

    expect(kept.map((name) => slotsOf(column, name))).toEqual(before);
    expect(slotsOf(column, dropped)).toEqual([null, null, null]);
    expect(column.save().values).toHaveLength(kept.length * SLOTS);
  });

  it("lets a series begin again, without the values of before", () => {
    const column = filled();
    column.retain(new Set(["c"]));

    column.put(1, new Map(Object.entries({ a: 10, c: 6 })));

    expect(["a", "c"].map((name) => slotsOf(column, name))).toEqual([
      [null, 10, null],
      [3, 6, 9],
    ]);
  });

  it("drops nothing where all series are named, nor does a name without values matter", () => {
    const column = filled();

    column.retain(new Set(["a", "b", "c", "new"]));

    expect(["a", "b", "c"].map((name) => slotsOf(column, name))).toEqual([
      [1, 4, 7],
      [2, 5, 8],
      [3, 6, 9],
    ]);
  });
});

describe("inFourBytes()", () => {
  it.each([0, 0.1, 0.5, -1.5, 1.4995, 12_345.5, 900_000, 16_777_216, 86_400_000])(
    "gives %d back",
    (value) => {
      expect(inFourBytes(value)).toBe(value);
    },
  );

  it("gives exactly what is kept where eight digits would be another number", () => {
    const value = Math.fround(1_000.00006);

    expect(Math.fround(Number(value.toPrecision(8)))).not.toBe(value);
    expect(inFourBytes(value)).toBe(value);
  });
});
