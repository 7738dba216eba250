import { describe, expect, it } from "vitest";
import { blockAt, extendTimeline, newTimeline } from "../../../src/core/head/timeline.ts";

describe("blockAt()", () => {
  const timeline = newTimeline();
  for (const block of [100, 110, 120]) {
    extendTimeline(timeline, block, block * 1_000);
  }
  const beyond = { intervalMs: 1_000, horizonMs: 30_000 };

  it.each([
    ["between two points on the line between them", 104_500, 104.5],
    ["at most the horizon before the first point", 70_000, 70],
    ["nothing before that", 69_999, null],
    ["at most the horizon after the last point", 150_000, 150],
    ["no more after that", 400_000, 150],
  ])("is %s", (_, timeMs, block) => {
    expect(blockAt(timeline, timeMs, beyond)).toBe(block);
  });

  it("is the first block before the first point and the last block after the last point while the pace is unknown", () => {
    const unknown = { ...beyond, intervalMs: null };

    expect([90_000, 140_000].map((timeMs) => blockAt(timeline, timeMs, unknown))).toEqual([100, 120]);
  });
});
