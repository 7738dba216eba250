import { addMeasure, NO_MEASURES, type PaceRange } from "../gap/gap.ts";
import { baselineOf, sourceOf } from "../head/chain-state.ts";
import type { Target } from "../model/fleet.ts";
import { contradictionOf } from "../status/judge.ts";
import { paceRangeOf } from "../status/view.ts";
import type { Instant } from "./decide-head.ts";

/**
 * Adds this instant's heights to the gaps of the chain. Each target is paired with the target that it is compared
 * with, and that one with all that are compared with it.
 */
export function measureGaps(instant: Instant): void {
  const { heard, state, watched } = instant;
  const pace = paceRangeOf(state.clock, watched.chain);
  if (pace === null) {
    return;
  }
  for (const { source, target } of heard) {
    if (target === null || source.last?.kind !== "head") {
      continue;
    }
    const against = baselineOf(watched, target);
    if (against !== null) {
      pair(target, against, pace, instant);
      continue;
    }
    for (const other of watched.targets) {
      if (
        other.protocol === target.protocol &&
        other.key !== target.key &&
        watched.baselines.get(other.protocol)?.key === target.key
      ) {
        pair(other, target, pace, instant);
      }
    }
  }
}

/**
 * The one that is polled less often drives, so that its few heights meet the nearest of the other's many. There is no
 * gap to a height that the others contradict, and what was measured before says nothing of the time after.
 */
function pair(target: Target, against: Target, pace: PaceRange, { state }: Instant): void {
  const own = sourceOf(state, target.key);
  const other = sourceOf(state, against.key);
  if (own === undefined || other === undefined) {
    return;
  }
  if ([own, other].some((source) => contradictionOf(source, state) !== null)) {
    own.gap = NO_MEASURES;
    return;
  }
  const targetDrives = target.pollIntervalMs >= against.pollIntervalMs;
  const driver = (targetDrives ? own : other).samples.at(-1);
  const partners = (targetDrives ? other : own).samples;
  if (driver !== undefined) {
    own.gap = addMeasure(own.gap, { driver, partners, driverIs: targetDrives ? "target" : "against" }, pace);
  }
}
