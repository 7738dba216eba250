import { describe, expect, it } from "vitest";
import { describeValue, quote } from "../../../src/dialects/answer/quote.ts";

describe("quote()", () => {
  it("keeps a short line as it is", () => {
    expect(quote("auth error: API key not found")).toBe("auth error: API key not found");
  });

  it("makes one space of several, in plain text too", () => {
    expect(quote(" one  two ")).toBe("one two");
  });

  it.each([
    { length: 200, text: "x".repeat(200) },
    { length: 201, text: `${"x".repeat(199)}…` },
    { length: 500, text: `${"x".repeat(199)}…` },
  ])("cuts plain text of $length characters after 200", ({ length, text }) => {
    expect(quote("x".repeat(length))).toBe(text);
  });

  it("makes one line, without control characters or marks that turn the text around", () => {
    expect(quote("\u0007one\n\ttwo\u202Ethree\u0000 ")).toBe("one two three");
  });

  it("cuts after 200 characters, never through one", () => {
    const quoted = quote("🦀".repeat(500));

    expect(Array.from(quoted)).toHaveLength(200);
    expect(quoted.endsWith("🦀…")).toBe(true);
  });
});

describe("describeValue()", () => {
  it.each([
    { value: "a\nb", text: '"a b"' },
    { value: -1, text: "-1" },
    { value: null, text: "null" },
    { value: undefined, text: "nothing" },
    { value: [[]], text: "a list" },
    { value: {}, text: "an object" },
  ])("says $text", ({ value, text }) => {
    expect(describeValue(value)).toBe(text);
  });
});
