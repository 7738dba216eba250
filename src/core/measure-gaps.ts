import { baselineOf } from "./baseline.ts";
import type { ChainClock } from "./chain-clock.ts";
import type { ChainState } from "./chain-state.ts";
import type { Target } from "./fleet.ts";
import { addMeasure, type GapMeasure, type PaceRange } from "./gap.ts";
import type { Sample } from "./sample.ts";
import { paceRangeOf } from "./view.ts";
import { headsHeard, type Workbench } from "./workbench.ts";

/** Adds what the heights of this instant say of the gaps between the chain's targets. */
export function measureGaps(bench: Workbench, clock: ChainClock): ChainState["gaps"] {
  const pace = paceRangeOf(clock, bench.watched.chain);
  const heads = new Set(headsHeard(bench));
  if (pace === null || heads.size === 0) {
    return bench.before.gaps;
  }
  const gaps: Record<string, readonly GapMeasure[]> = { ...bench.before.gaps };
  for (const target of bench.watched.targets) {
    const against = baselineOf(bench.watched, target);
    if (against !== null && (heads.has(target.key) || heads.has(against.key))) {
      gaps[target.key] = withPair(bench, { target, against }, { measures: gaps[target.key] ?? [], pace });
    }
  }
  return gaps;
}

/** The one that is polled less often drives, so that its few heights meet the nearest of the other's many. */
function withPair(
  bench: Workbench,
  { target, against }: { readonly target: Target; readonly against: Target },
  { measures, pace }: { readonly measures: readonly GapMeasure[]; readonly pace: PaceRange },
): readonly GapMeasure[] {
  const targetDrives = target.pollIntervalMs >= against.pollIntervalMs;
  const driver = samplesOf(bench, targetDrives ? target : against).at(-1);
  const partners = samplesOf(bench, targetDrives ? against : target);
  if (driver === undefined) {
    return measures;
  }
  return addMeasure(measures, { driver, partners, driverIs: targetDrives ? "target" : "against" }, pace);
}

function samplesOf(bench: Workbench, target: Target): readonly Sample[] {
  return bench.sources[target.key]?.samples ?? [];
}
