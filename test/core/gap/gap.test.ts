import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addMeasure, estimateGap, type GapMeasures, NO_MEASURES } from "../../../src/core/gap/gap.ts";
import type { Sample } from "../../../src/core/model/sample.ts";

const PACE = { least: 0.001, most: 0.001 };

function sample(block: number, sentAtMs: number, receivedAtMs: number): Sample {
  return { block, sentAtMs, receivedAtMs, timestampSec: null, hash: null };
}

function measures(...intervals: readonly (readonly number[])[]): GapMeasures {
  const last = intervals.length - 1;
  return {
    lows: intervals.map(([low = 0]) => low),
    highs: intervals.map(([, high = 0]) => high),
    newest: { atMs: last, partnerMs: last },
  };
}

describe("addMeasure()", () => {
  it("pairs a height with the nearest one in time, and again when a nearer one comes", () => {
    const driver = sample(1_000, 60_000, 60_000);
    const far = sample(900, 45_000, 45_000);
    const near = sample(1_001, 61_000, 61_000);
    const farther = sample(1_030, 90_000, 90_000);
    const first = addMeasure(NO_MEASURES, { driver, partners: [far], driverIs: "target" }, PACE);

    const second = addMeasure(first, { driver, partners: [far, near, farther], driverIs: "target" }, PACE);

    expect(first.newest?.partnerMs).toBe(45_000);
    expect(second.newest?.partnerMs).toBe(61_000);
    expect(second.lows).toHaveLength(1);
  });

  it("keeps sixteen measures", () => {
    const all = Array.from({ length: 40 }, (_, index) => index).reduce<GapMeasures>((kept, index) => {
      const [driver, partner] = [sample(1, index, index), sample(1 + index, index, index)];
      return addMeasure(kept, { driver, partners: [partner], driverIs: "target" }, PACE);
    }, NO_MEASURES);

    const latest = Array.from({ length: 16 }, (_, index) => 24 + index);
    expect(all.lows).toEqual(latest.map((blocks) => blocks - 0.75));
    expect(all.highs).toEqual(latest.map((blocks) => blocks + 0.75));
    expect(all.newest).toEqual({ atMs: 39, partnerMs: 39 });
  });

  it("has the true gap within its uncertainty, whatever the latencies, the pace and the distance", () => {
    const anyMs = fc.integer({ min: 0, max: 900 });
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const anyPair = fc.record({
      pace: fc.double({ min: 0.00005, max: 0.01, noNaN: true }),
      gap: fc.integer({ min: -1_000, max: 100_000 }),
      apartMs: fc.integer({ min: -900_000, max: 900_000 }),
      latency: fc.tuple(anyMs, anyMs),
      read: fc.tuple(share, share),
    });
    fc.assert(
      fc.property(anyPair, ({ pace, gap, apartMs, latency, read }) => {
        const startMs = 10_000_000;
        const head = (atMs: number) => 1_000_000 + pace * atMs;
        const againstMs = startMs + apartMs;
        const target = sample(
          Math.floor(head(startMs + read[0] * latency[0])) - gap,
          startMs,
          startMs + latency[0],
        );
        const against = sample(
          Math.floor(head(againstMs + read[1] * latency[1])),
          againstMs,
          againstMs + latency[1],
        );

        const measure = addMeasure(
          NO_MEASURES,
          { driver: target, partners: [against], driverIs: "target" },
          { least: pace * 0.97, most: pace * 1.03 },
        );

        // Rounding to whole blocks may add a quarter block to the error that the uncertainty allows.
        expect(measure.lows[0]).toBeLessThanOrEqual(gap + 0.25 + 1e-6);
        expect(measure.highs[0]).toBeGreaterThanOrEqual(gap - 0.25 - 1e-6);
      }),
    );
  });
});

describe("estimateGap()", () => {
  it.each([
    ["one measure is all there is", "2..6", "4 ± 2"],
    ["all share an interval", "0..10 3..20 -5..5 1..6 2..9", "4 ± 1"],
    ["the oldest do not meet the others any more", "90..99 80..89 0..10 3..20 -5..5 1..6 2..9", "4 ± 1"],
    [
      "the gap has just changed, and only the newest knows it",
      "0..10 3..20 -5..5 1..6 2..9 50..54",
      "52 ± 2",
    ],
    [
      "the gap never holds still, and older measures would pull it back",
      "0..4 3..7 6..10 9..13 12..16",
      "14 ± 2",
    ],
    ["there are few measures, and all meet", "0..10 8..20", "9 ± 1"],
    ["the newest begins where the one before ends", "0..4 4..8", "4 ± 0"],
    ["the newest ends where the one before begins", "4..8 0..4", "4 ± 0"],
  ])("if %s: the gap of %s is %s", (_, intervals, gap) => {
    const estimate = estimateGap(measures(...intervals.split(" ").map((one) => one.split("..").map(Number))));

    expect(`${estimate?.blocks} ± ${estimate?.uncertaintyBlocks}`).toBe(gap);
  });

  it("is null without measures", () => {
    expect(estimateGap(NO_MEASURES)).toBeNull();
  });
});
