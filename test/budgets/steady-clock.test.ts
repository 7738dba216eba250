import { describe, expect, it } from "vitest";
import { createSteadyClock } from "../../src/budgets/steady-clock.ts";

const T0 = Date.UTC(2026, 10, 20, 12);
const DAY_MS = 86_400_000;

describe("createSteadyClock()", () => {
  it.each([
    { case: "was set back by two days", savedAtMs: T0 + 2 * DAY_MS, startsMs: T0 + 2 * DAY_MS },
    { case: "is right", savedAtMs: T0 - DAY_MS, startsMs: T0 },
    { case: "was set back by ten years", savedAtMs: T0 + 3_650 * DAY_MS, startsMs: T0 + 3_650 * DAY_MS },
  ])(
    "starts no earlier than the budgets were saved, where the wall clock $case",
    ({ savedAtMs, startsMs }) => {
      const clocks = { monotonicNow: 500 };
      const clock = createSteadyClock({ nowMs: () => T0, monotonicMs: () => clocks.monotonicNow }, savedAtMs);

      clocks.monotonicNow += 1_000;

      expect(clock.nowMs()).toBe(startsMs + 1_000);
    },
  );
});
