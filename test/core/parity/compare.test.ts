import { describe, expect, it } from "vitest";
import { differenceOf } from "../../../src/core/parity/compare.ts";

const number = (text: string) => ({ text, isNumber: true });

describe("differenceOf()", () => {
  it.each([
    ["12345678901234567890.5", "12345678901234567891.75", 1.25],
    ["-0.1", "-0.3", -0.2],
    ["1e3", "999", -1],
    ["7", "1.5e1", 8],
    ["1e999", "1", null],
  ])("from %s to %s is %s", (own, against, difference) => {
    expect(differenceOf(number(own), number(against))).toBe(difference);
  });

  it("is null where one is no number", () => {
    expect(differenceOf(number("1"), { text: "1", isNumber: false })).toBeNull();
  });
});
