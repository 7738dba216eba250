import { describe, expect, it } from "vitest";
import {
  formatAgo,
  formatClock,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  perWindow,
  shortDuration,
} from "../../../src/core/model/text.ts";

const NOW_MS = Date.UTC(2026, 11, 1, 3, 12, 44);
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

describe("shortDuration()", () => {
  it.each([
    { durationMs: 0, short: "0s" },
    { durationMs: 1540, short: "1.5s" },
    { durationMs: 9 * SECOND_MS, short: "9s" },
    { durationMs: 95_400, short: "95s" },
    { durationMs: 41 * MINUTE_MS, short: "41m" },
    { durationMs: 119 * MINUTE_MS, short: "119m" },
    { durationMs: 2 * HOUR_MS, short: "2h" },
    { durationMs: 3 * HOUR_MS + 20 * MINUTE_MS, short: "3h" },
    { durationMs: 5 * HOUR_MS - 10 * SECOND_MS, short: "5h" },
    { durationMs: 124 * HOUR_MS, short: "5d" },
    { durationMs: 400 * 24 * HOUR_MS, short: "400d" },
  ])("reads $short for $durationMs ms", ({ durationMs, short }) => {
    expect(shortDuration(durationMs)).toBe(short);
  });
});

describe("formatAgo()", () => {
  it.each([
    { agoMs: 300, text: "just now" },
    { agoMs: 41 * MINUTE_MS, text: "41 min ago" },
    { agoMs: -5 * SECOND_MS, text: "in 5 s" },
  ])("reads $text for $agoMs ms ago", ({ agoMs, text }) => {
    expect(formatAgo(NOW_MS - agoMs, NOW_MS)).toBe(text);
  });
});

describe("formatClock()", () => {
  it("names the date only when it is not today's", () => {
    expect(formatClock(NOW_MS, NOW_MS)).toBe("03:12:44 UTC");
    expect(formatClock(NOW_MS - 4 * HOUR_MS, NOW_MS)).toBe("2026-11-30 23:12:44 UTC");
  });
});

describe("formatPercent()", () => {
  it.each([
    { share: 0, text: "0%" },
    { share: 0.7592, text: "75.9%" },
    { share: 12.5, text: "1,250%" },
  ])("reads $text for $share", ({ share, text }) => {
    expect(formatPercent(share)).toBe(text);
  });
});

describe("perWindow()", () => {
  it.each([
    { per: "hour", text: "an hour" },
    { per: "day", text: "a day" },
    { per: "month", text: "a month" },
  ] as const)("reads $text for $per", ({ per, text }) => {
    expect(perWindow(per)).toBe(text);
  });
});
