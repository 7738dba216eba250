import { addMeasure, type PaceRange } from "../gap/gap.ts";
import type { ChainClock } from "../head/chain-clock.ts";
import type { Target } from "../model/fleet.ts";
import { changed, type SourceState } from "../source/source-state.ts";
import { paceRangeOf } from "../status/view.ts";
import { baselineOf } from "./baseline.ts";
import { headsReceived, type Tick } from "./tick.ts";

/** Adds what the heights of this instant say of the gaps between the chain's targets. */
export function measureGaps(bench: Tick, clock: ChainClock): void {
  const pace = paceRangeOf(clock, bench.watched.chain);
  if (pace === null) {
    return;
  }
  for (const { target } of headsReceived(bench)) {
    if (target !== null) {
      measureGapsOf(bench, target, pace);
    }
  }
}

/** A target is paired with what it is compared with; that one is paired with all that are compared with it. */
function measureGapsOf(bench: Tick, target: Target, pace: PaceRange): void {
  const { watched, sources } = bench;
  const against = baselineOf(watched, target);
  if (against !== null) {
    pair(sources, { target, against }, pace);
    return;
  }
  for (const other of watched.targets) {
    if (other.protocol === target.protocol && baselineOf(watched, other)?.key === target.key) {
      pair(sources, { target: other, against: target }, pace);
    }
  }
}

/** The one that is polled less often drives, so that its few heights meet the nearest of the other's many. */
function pair(
  sources: SourceState[],
  { target, against }: { readonly target: Target; readonly against: Target },
  pace: PaceRange,
): void {
  const index = sources.findIndex(({ key }) => key === target.key);
  const own = sources[index];
  const other = sources.find(({ key }) => key === against.key);
  if (own === undefined || other === undefined) {
    return;
  }
  const targetDrives = target.pollIntervalMs >= against.pollIntervalMs;
  const driver = (targetDrives ? own : other).samples.at(-1);
  const partners = (targetDrives ? other : own).samples;
  if (driver !== undefined) {
    const driverIs = targetDrives ? "target" : "against";
    const gap = addMeasure(own.gap, { driver, partners, driverIs }, pace);
    if (gap !== own.gap) {
      sources[index] = changed(own, { gap });
    }
  }
}
