import { describe, expect, it } from "vitest";
import { PACE_CASES, paceSummaryOf } from "../../../bench/accuracy/chain-paces.ts";
import { CLOCK_STEPS, clockStepSummaryOf } from "../../../bench/accuracy/clock-steps.ts";

// A part of what bench/accuracy-sweeps.ts plays.
describe("a restless chain", () => {
  it.each(PACE_CASES)("that $name has no healthy target bad, and no lag at its head", (given) => {
    expect(paceSummaryOf(given, 2)).toMatchObject({
      "a healthy target bad": 0,
      "a lag at the reference's block": 0,
    });
  });
});

describe("a wall clock that is set", () => {
  it.each(CLOCK_STEPS.filter(({ name }) => name === "−1 h" || name === "+30 d"))(
    "by $name for a while makes nobody diverged, and all is right three polls later",
    (step) => {
      expect(clockStepSummaryOf(step, 1)).toMatchObject({
        "a healthy target diverged": 0,
        "wrong three polls after it is right again": 0,
      });
    },
  );
});
