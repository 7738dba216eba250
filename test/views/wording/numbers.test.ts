import { describe, expect, it } from "vitest";
import { formatCount, formatNumber } from "../../../src/views/wording/numbers.ts";

describe("formatNumber()", () => {
  it.each([
    { value: 0, text: "0" },
    { value: 999, text: "999" },
    { value: 1240, text: "1,240" },
    { value: 421_000_123, text: "421,000,123" },
    { value: -1240, text: "-1,240" },
    { value: 0.46, text: "0.5" },
    { value: 1234.04, text: "1,234" },
  ])("reads $text for $value", ({ value, text }) => {
    expect(formatNumber(value)).toBe(text);
  });
});

describe("formatCount()", () => {
  it("uses the singular for exactly one", () => {
    expect(formatCount(0, "block")).toBe("0 blocks");
    expect(formatCount(1, "block")).toBe("1 block");
    expect(formatCount(1240, "block")).toBe("1,240 blocks");
  });
});
