import { describe, expect, it } from "vitest";
import {
  formatAgo,
  formatClock,
  formatDuration,
  shortDuration,
} from "../../../src/views/wording/duration.ts";
import { NOW_MS } from "../sample-report.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

describe("formatDuration()", () => {
  it.each([
    { durationMs: 0, long: "0 s", short: "0s" },
    { durationMs: 1540, long: "1.5 s", short: "1.5s" },
    { durationMs: 9 * SECOND_MS, long: "9 s", short: "9s" },
    { durationMs: 95_400, long: "95 s", short: "95s" },
    { durationMs: 41 * MINUTE_MS, long: "41 min", short: "41m" },
    { durationMs: 119 * MINUTE_MS, long: "119 min", short: "119m" },
    { durationMs: 2 * HOUR_MS, long: "2 h", short: "2h" },
    { durationMs: 3 * HOUR_MS + 20 * MINUTE_MS, long: "3 h 20 min", short: "3h" },
    { durationMs: 5 * HOUR_MS - 10 * SECOND_MS, long: "5 h", short: "5h" },
    { durationMs: 124 * HOUR_MS, long: "5 d 4 h", short: "5d" },
    { durationMs: 400 * 24 * HOUR_MS, long: "400 d", short: "400d" },
  ])("reads $long for $durationMs ms, $short in a cell", ({ durationMs, long, short }) => {
    expect(formatDuration(durationMs)).toBe(long);
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
