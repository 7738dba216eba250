import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAILY, HOURLY, lived, step } from "../support/shared-budget-life.ts";

describe("SharedBudgets, through crashes, partitions, lost replies, take-overs, emptied stores and clocks that differ", () => {
  it("never permit more requests than the limit in any window", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
        const life = await lived(steps);

        expect(life.mostInAWindow(HOURLY)).toBeLessThanOrEqual(HOURLY.limit);
        expect(life.mostInAWindow(DAILY)).toBeLessThanOrEqual(DAILY.limit);
      }),
      { numRuns: 250 },
    );
  });
});
