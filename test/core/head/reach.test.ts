import { describe, expect, it } from "vitest";
import { mostBlocksIn, usualBlocksIn } from "../../../src/core/head/reach.ts";

const MEASURED = { intervalMs: 2_000, isMeasured: true, fastestMs: 2_000 };
const CONFIGURED = { ...MEASURED, isMeasured: false };
const UNKNOWN = { intervalMs: null, isMeasured: false, fastestMs: null };

describe("mostBlocksIn()", () => {
  it("grows by four times the measured pace or eight times the configured one, and is 0 for the past", () => {
    const growth = (pace: typeof MEASURED) => mostBlocksIn(70_000, pace) - mostBlocksIn(60_000, pace);

    expect(growth(MEASURED)).toBeCloseTo(20);
    expect(growth(CONFIGURED)).toBeCloseTo(40);
    expect(mostBlocksIn(-60_000, MEASURED)).toBe(mostBlocksIn(0, MEASURED));
  });

  it("is largest while the pace is unknown", () => {
    expect(mostBlocksIn(60_000, UNKNOWN)).toBeGreaterThan(mostBlocksIn(60_000, CONFIGURED));
  });
});

describe("usualBlocksIn()", () => {
  it("is the usual number, plus a minute, plus three deviations of blocks that come at random", () => {
    expect(usualBlocksIn(200_000, MEASURED)).toBeCloseTo(100 + 30 + 30);
    expect(usualBlocksIn(0, MEASURED)).toBe(30);
    expect(usualBlocksIn(0, UNKNOWN)).toBe(Number.POSITIVE_INFINITY);
  });

  it("follows the last minute at once if the chain has become faster", () => {
    expect(usualBlocksIn(200_000, { ...MEASURED, fastestMs: 1_000 })).toBeGreaterThan(
      usualBlocksIn(200_000, MEASURED),
    );
  });
});
