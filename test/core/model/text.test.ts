import { describe, expect, it } from "vitest";
import { formatCount, formatDuration, formatNumber } from "../../../src/core/model/text.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

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

describe("formatDuration()", () => {
  it.each([
    { durationMs: 0, text: "0 s" },
    { durationMs: 1540, text: "1.5 s" },
    { durationMs: 9 * SECOND_MS, text: "9 s" },
    { durationMs: 95_400, text: "95 s" },
    { durationMs: 41 * MINUTE_MS, text: "41 min" },
    { durationMs: 119 * MINUTE_MS, text: "119 min" },
    { durationMs: 2 * HOUR_MS, text: "2 h" },
    { durationMs: 3 * HOUR_MS + 20 * MINUTE_MS, text: "3 h 20 min" },
    { durationMs: 5 * HOUR_MS - 10 * SECOND_MS, text: "5 h" },
    { durationMs: 124 * HOUR_MS, text: "5 d 4 h" },
    { durationMs: 400 * 24 * HOUR_MS, text: "400 d" },
  ])("reads $text for $durationMs ms", ({ durationMs, text }) => {
    expect(formatDuration(durationMs)).toBe(text);
  });
});
