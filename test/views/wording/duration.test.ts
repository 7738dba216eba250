import { describe, expect, it } from "vitest";
import { formatAgo, formatClock, shortDuration } from "../../../src/views/wording/duration.ts";
import { NOW_MS } from "../sample-report.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

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
