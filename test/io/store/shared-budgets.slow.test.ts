import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BudgetStoreModel } from "../../support/budget-store-model.ts";
import { DAILY, HOURLY, SharedLife, type Step, step } from "../../support/shared-budget-life.ts";

describe("SharedBudgets, through crashes, partitions, lost replies, take-overs, emptied stores and clocks that differ", () => {
  it("never let more through than the limit in any window", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
        const life = await lived(steps);

        expect(life.mostInAWindow(HOURLY)).toBeLessThanOrEqual(HOURLY.limit);
        expect(life.mostInAWindow(DAILY)).toBeLessThanOrEqual(DAILY.limit);
      }),
      { numRuns: 250 },
    );
  });

  it("draw nothing with a token older than the lease's", async () => {
    const poll = {
      kind: "poll",
      endpoint: 0,
      use: "scheduled",
      times: 2,
      crash: "none",
      loses: "nothing",
    } as const;

    const life = await lived([
      { ...poll, who: 0 },
      { kind: "take over", who: 1 },
      { ...poll, who: 0 },
    ]);
    const former = life.sent.get("hourly")?.length;
    await life.live({ ...poll, who: 1 });

    expect(former).toBe(2);
    expect(life.sent.get("hourly")).toHaveLength(4);
  });
});

async function lived(steps: readonly Step[]): Promise<SharedLife> {
  const life = new SharedLife((nowMs) => new BudgetStoreModel(nowMs));
  await life.start();
  for (const one of steps) {
    await life.live(one);
  }
  return life;
}
