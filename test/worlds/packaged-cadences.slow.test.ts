import { describe, expect, it } from "vitest";
import { playCadences, WORLDS } from "./packaged-cadences.ts";

const SEEDS = Array.from({ length: 8 }, (_, index) => index + 1);

describe("many fleets with the packaged cadences", () => {
  it.each(WORLDS)(
    "have the right reference and lags; blocks $spread, pauses: $pauses, laggard: $hasLaggard",
    (world) => {
      const wrong = SEEDS.map((seed) => ({ seed, wrong: playCadences({ ...world, seed }) }));

      expect(wrong.filter((played) => played.wrong.length > 0)).toEqual([]);
    },
  );
});
