import { describe, expect, it } from "vitest";
import { wrapWords } from "../../../src/views/terminal/wrap-words.ts";

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
