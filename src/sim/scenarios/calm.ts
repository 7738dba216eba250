import type { Scenario } from "./scenario.ts";

/** Nothing but what healthy fleets do. */
export const calm: Scenario = {
  name: "calm",
  about: "healthy indexers that wobble as real ones do; nothing should ever be reported",
  steps: [{ atSec: 0, say: "All is well, and stays so", changes: [{ kind: "heal_all" }] }],
  loopSec: 3_600,
};
