import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COLUMN_TEXT, readColumn, writeColumn } from "../../../src/core/history/number-column.ts";

const anyColumn = fc.array(fc.option(fc.integer({ min: -(2 ** 50), max: 2 ** 50 }), { nil: null }));

describe("writeColumn()", () => {
  it("takes a character or two a number for what moves evenly", () => {
    const heights = Array.from({ length: 60 }, (_, minute) => 38_000_000 + 30 * minute);

    expect(writeColumn(heights).length).toBeLessThan(2 * 60 + 10);
  });

  it("takes one character for what is not known", () => {
    expect(writeColumn([null, null, null])).toHaveLength(3);
  });

  it("writes nothing that JSON must escape", () => {
    fc.assert(
      fc.property(anyColumn, (column) => {
        expect(writeColumn(column)).toMatch(COLUMN_TEXT);
      }),
    );
  });
});

describe("readColumn()", () => {
  it("reads what was written, whatever it is", () => {
    fc.assert(
      fc.property(anyColumn, (column) => {
        expect(readColumn(writeColumn(column))).toEqual(column);
      }),
    );
  });

  it("drops a number that was cut off", () => {
    const text = writeColumn([1_000_000, 2_000_000]);

    expect(readColumn(text.slice(0, -1))).toEqual([1_000_000]);
  });
});
