import { describe, expect, it } from "vitest";
import { mostBlocksIn } from "../../../src/core/head/claim.ts";

describe("mostBlocksIn()", () => {
  const pace = { intervalMs: 2_000, measured: true };
  const growth = (fromMs: number, toMs: number) => mostBlocksIn(toMs, pace) - mostBlocksIn(fromMs, pace);

  it("grows at the chain's own pace for a poll either way, and by bursts of four times the pace after that", () => {
    expect(growth(-15_000, 0)).toBeCloseTo(7.5);
    expect(growth(0, 15_000)).toBeCloseTo(7.5);
    expect(growth(15_000, 25_000)).toBeCloseTo(20);
    expect(growth(-60_000, -15_000)).toBe(0);
  });

  it("allows more on a chain with a configured pace, and most if the pace is unknown", () => {
    const unknown = { intervalMs: null, measured: false };

    expect(mostBlocksIn(60_000, { ...pace, measured: false })).toBeGreaterThan(mostBlocksIn(60_000, pace));
    expect(mostBlocksIn(60_000, unknown)).toBeGreaterThan(mostBlocksIn(60_000, { ...pace, measured: false }));
  });
});
