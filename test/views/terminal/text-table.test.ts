import { describe, expect, it } from "vitest";
import { renderTextTable, wrapWords } from "../../../src/views/terminal/text-table.ts";

describe("renderTextTable()", () => {
  it("aligns columns and leaves no trailing spaces", () => {
    const columns = [
      { title: "NAME", align: "left" },
      { title: "COUNT", align: "right" },
      { title: "NOTE", align: "left" },
    ] as const;

    expect(
      renderTextTable(columns, [
        ["a", "7", ""],
        ["longer", "1,240", "x"],
      ]),
    ).toEqual(["NAME    COUNT  NOTE", "a           7", "longer  1,240  x"]);
  });
});

describe("wrapWords()", () => {
  it.each([
    { line: "one two three", widthColumns: null, lines: ["one two three"] },
    { line: "one two three", widthColumns: 13, lines: ["one two three"] },
    { line: "one two three", widthColumns: 12, lines: ["one two", "three"] },
    { line: "one two three", widthColumns: 7, lines: ["one two", "three"] },
    { line: "one two three", widthColumns: 6, lines: ["one", "two", "three"] },
    {
      line: "see http://127.0.0.1:9855/x now",
      widthColumns: 8,
      lines: ["see", "http://127.0.0.1:9855/x", "now"],
    },
    { line: "", widthColumns: 8, lines: [""] },
  ])("breaks $line at $widthColumns", ({ line, widthColumns, lines }) => {
    expect(wrapWords(line, widthColumns)).toEqual(lines);
  });
});
