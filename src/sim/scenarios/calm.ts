import type { Scenario } from "./scenario.ts";

/** A healthy fleet. */
export const calm: Scenario = {
  name: "calm",
  about: "healthy indexers with the small variations of real ones; nothing should be reported",
  steps: [{ atSec: 0, say: "Everything is healthy and stays so", changes: [{ kind: "heal_all" }] }],
  loopSec: 3_600,
};
