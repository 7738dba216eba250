import type { WatchedChain } from "../head/chain-state.ts";
import type { Target } from "../model/fleet.ts";
import { memoize } from "../model/memoize.ts";

/** The target that `target`'s variant is compared with, or null where there is none, or it is itself that one. */
export function baselineOf(watched: WatchedChain, target: Target): Target | null {
  const baseline = baselinesOf(watched).get(target.protocol);
  return baseline === undefined || baseline.key === target.key ? null : baseline;
}

/** By protocol. */
const baselinesOf = memoize(({ baselines, targets }: WatchedChain): ReadonlyMap<string, Target> => {
  const named = targets.filter(({ key, protocol }) => baselines === undefined || key === baselines[protocol]);
  // Of several the first.
  return new Map(named.toReversed().map((target) => [target.protocol, target]));
});
