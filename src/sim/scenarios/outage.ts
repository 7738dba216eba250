import type { Scenario } from "./scenario.ts";

/** The monitor's own network fails and recovers. */
export const outage: Scenario = {
  name: "outage",
  about: "every host refuses connections, as if our own network were down; then all recover",
  steps: [
    { atSec: 0, say: "Everything is healthy", changes: [{ kind: "heal_all" }] },
    {
      atSec: 30,
      say: "Every host refuses connections: after two polls this is one incident of scope network, not one alert per target",
      changes: [{ kind: "close_all" }],
    },
    { atSec: 150, say: "The network is back", changes: [{ kind: "heal_all" }] },
  ],
  loopSec: 180,
};
