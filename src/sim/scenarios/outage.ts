import type { Scenario } from "./scenario.ts";

/** The monitor's own network goes away, and comes back. */
export const outage: Scenario = {
  name: "outage",
  about: "every host refuses connections, as if our own network were gone; then all is back",
  steps: [
    { atSec: 0, say: "All is well", changes: [{ kind: "heal_all" }] },
    {
      atSec: 30,
      say: "Every host refuses connections: after two polls one incident of scope network, not one alarm a target",
      changes: [{ kind: "close_all" }],
    },
    { atSec: 150, say: "The network is back", changes: [{ kind: "heal_all" }] },
  ],
  loopSec: 180,
};
