import { describe, expect, it } from "vitest";
import {
  formatAgo,
  formatClock,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  oneLine,
  perWindow,
  shortDuration,
  shorten,
} from "../../../src/core/model/text.ts";

const NOW_MS = Date.UTC(2026, 11, 1, 3, 12, 44);
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];

describe("numbers", () => {
  it("have their thousands separated, and one decimal place at most", () => {
    const texts = [0, 999, 1_240, 421_000_123, -1_240, 0.46, 1_234.04, 999.96].map(formatNumber);

    expect(texts).toEqual(["0", "999", "1,240", "421,000,123", "-1,240", "0.5", "1,234", "1,000"]);
  });

  it("have a noun in the singular for exactly one", () => {
    expect([0, 1, 1_240].map((count) => formatCount(count, "block"))).toEqual([
      "0 blocks",
      "1 block",
      "1,240 blocks",
    ]);
  });

  it("are a percentage of a share", () => {
    expect([0, 0.7592, 12.5].map(formatPercent)).toEqual(["0%", "75.9%", "1,250%"]);
  });

  it("name the window of a budget", () => {
    expect(["hour", "day", "month"].map(perWindow)).toEqual(["an hour", "a day", "a month"]);
  });
});

describe("durations", () => {
  it("have two units at most, and one in a cell of the matrix", () => {
    const texts = {
      0: "0 s = 0s",
      1540: "1.5 s = 1.5s",
      9949: "9.9 s = 9.9s",
      10000: "10 s = 10s",
      119499: "119 s = 119s",
      120000: "2 min = 2m",
      7140000: "119 min = 119m",
      7200000: "2 h = 2h",
      12000000: "3 h 20 min = 3h",
      17990000: "5 h = 5h",
      169200000: "47 h = 47h",
      172800000: "2 d = 2d",
      446400000: "5 d 4 h = 5d",
      34560000000: "400 d = 400d",
      55346400000: "640 d 14 h = 640d",
    };

    const found = Object.keys(texts).map(
      (ms) => `${formatDuration(Number(ms))} = ${shortDuration(Number(ms))}`,
    );

    expect(found).toEqual(Object.values(texts));
  });

  it("say how far a time is in the past or the future", () => {
    const texts = [300, 999, 1_000, 41 * MINUTE_MS, -300, -5_000].map((agoMs) =>
      formatAgo(NOW_MS - agoMs, NOW_MS),
    );

    expect(texts).toEqual(["just now", "just now", "1 s ago", "41 min ago", "just now", "in 5 s"]);
  });

  it("become a clock time, with the date if it is not today", () => {
    expect(formatClock(NOW_MS, NOW_MS)).toBe("03:12:44 UTC");
    expect(formatClock(NOW_MS - 4 * HOUR_MS, NOW_MS)).toBe("2026-11-30 23:12:44 UTC");
  });
});

describe("texts of others", () => {
  it("are cut with a mark, and joined to one line", () => {
    expect([shorten("abcd", 4), shorten("abcde", 4)]).toEqual(["abcd", "abcd…"]);
    expect(oneLine(" a\u0000\n\tb\u200b  c ")).toBe("a b c");
  });
});
