import { describe, expect, it } from "vitest";
import { CLOCK_STEPS, clockStepRowOf } from "./clock-steps.ts";
import { startMonitor } from "./core.ts";
import { PACE_CASES, paceRowOf } from "./restless-chains.ts";

// A part of what `npm run worlds` plays.
describe("a restless chain", () => {
  it.each(PACE_CASES)("that $name has no healthy target bad, and no lag at its head", (given) => {
    expect(paceRowOf(given, 1, startMonitor)).toMatchObject({
      "a healthy target bad": 0,
      "a lag at the reference's block": 0,
    });
  });
});

describe("a wall clock that is set", () => {
  it.each(CLOCK_STEPS.filter(({ name }) => ["−1 min", "−1 h", "+30 d"].includes(name)))(
    "by $name for a while makes none diverged, and all is right three polls later",
    (step) => {
      expect(clockStepRowOf(step, 1, startMonitor)).toMatchObject({
        "a healthy target diverged": 0,
        "wrong three polls after it is right again": 0,
      });
    },
  );
});
