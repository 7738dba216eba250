import type { WatchedChain } from "./chain-state.ts";
import type { Target } from "./fleet.ts";

/** The target that `target`'s variant is compared with, or null where there is none, or it is itself that one. */
export function baselineOf(watched: WatchedChain, target: Target): Target | null {
  const { baselines, targets } = watched;
  const baseline =
    baselines === undefined
      ? targets.find(({ protocol }) => protocol === target.protocol)
      : targets.find(({ key }) => key === baselines[target.protocol]);
  return baseline === undefined || baseline.key === target.key ? null : baseline;
}
