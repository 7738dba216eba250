import { describe, expect, it } from "vitest";
import { playCadences, WORLDS } from "./packaged-cadences.ts";

// All families, with more seeds: packaged-cadences.slow.test.ts.
describe("a fleet with the packaged cadences", () => {
  it.each(WORLDS.filter(({ hasLaggard, pauses, spread }) => hasLaggard && (pauses || spread !== "even")))(
    "has the right reference and lags; blocks $spread, pauses: $pauses",
    (world) => {
      expect(playCadences({ ...world, seed: 4 })).toEqual([]);
    },
  );
});
