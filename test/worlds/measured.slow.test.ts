import { describe, expect, it } from "vitest";
import { startMonitor } from "./core.ts";
import { GAP_CASES, gapRowOf, LAG_CASES, lagRowOf } from "./measured-cases.ts";
import { parityWorld } from "./parity-world.ts";
import { playParity } from "./play-parity.ts";

// A part of what `npm run worlds` plays.
describe("the gap between two variants", () => {
  it.each(GAP_CASES.filter(({ name }) => name === "1,000 behind"))(
    "is within a block of the truth, and the truth inside what is stated: $name",
    (given) => {
      const row = gapRowOf(given, startMonitor);

      expect(Number(row["error p99"])).toBeLessThanOrEqual(1);
      expect(Number.parseFloat(String(row["truth inside"]))).toBeGreaterThanOrEqual(95);
    },
  );
});

describe("the lag of a target without timestamps", () => {
  it.each(LAG_CASES.filter(({ lagMs, blockTimeMs }) => lagMs === 60_000 && blockTimeMs === 2_000))(
    "is within a block of the truth: $name",
    (given) => {
      expect(Number(lagRowOf(given, startMonitor)["error p99 (s)"])).toBeLessThanOrEqual(2);
    },
  );
});

describe("parity in random worlds", () => {
  it("never reports a false difference between variants, and reports the true ones", () => {
    const played = Array.from({ length: 3 }, (_, index) => playParity(parityWorld(index), startMonitor));

    expect(played.map(({ falseDifferences }) => falseDifferences)).toEqual(played.map(() => 0));
    expect(played.flatMap(({ comparisonsToTell }) => comparisonsToTell)).not.toContain(null);
    expect(played.flatMap(({ comparisonsToTell }) => comparisonsToTell)).not.toEqual([]);
  });
});
