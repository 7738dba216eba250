import { addMeasure, NO_MEASURES, type PaceRange } from "../gap/gap.ts";
import type { ChainState } from "../head/chain-state.ts";
import type { Target } from "../model/fleet.ts";
import type { SourceState } from "../source/source-state.ts";
import { contradictionOf } from "../status/judge.ts";
import { paceRangeOf } from "../status/view.ts";
import { baselineOf } from "./baseline.ts";
import { headsReceived, type Tick } from "./tick.ts";

/** What the consensus of this instant has made known. */
type Known = Pick<ChainState, "consensus" | "clock">;

/** Adds what the heights of this instant say of the gaps between the chain's targets. */
export function measureGaps(tick: Tick, { clock, consensus }: Known): void {
  const pace = paceRangeOf(clock, tick.watched.chain);
  if (pace === null) {
    return;
  }
  for (const { target } of headsReceived(tick)) {
    if (target !== null) {
      measureGapsOf(tick, target, { pace, consensus });
    }
  }
}

interface Measure extends Pick<Known, "consensus"> {
  readonly pace: PaceRange;
}

/** A target is paired with what it is compared with; that one is paired with all that are compared with it. */
function measureGapsOf(tick: Tick, target: Target, by: Measure): void {
  const { watched, sources } = tick;
  const against = baselineOf(watched, target);
  if (against !== null) {
    pair(sources, { target, against }, by);
    return;
  }
  for (const other of watched.targets) {
    if (other.protocol === target.protocol && baselineOf(watched, other)?.key === target.key) {
      pair(sources, { target: other, against: target }, by);
    }
  }
}

/**
 * The one that is polled less often drives, so that its few heights meet the nearest of the other's many. There is no
 * gap to a height that the others contradict, and what was measured before says nothing of the time after.
 */
function pair(
  sources: SourceState[],
  { target, against }: { readonly target: Target; readonly against: Target },
  { pace, consensus }: Measure,
): void {
  const index = sources.findIndex(({ key }) => key === target.key);
  const own = sources[index];
  const other = sources.find(({ key }) => key === against.key);
  if (own === undefined || other === undefined) {
    return;
  }
  if ([own, other].some((source) => contradictionOf(source, { consensus }) !== null)) {
    sources[index] = { ...own, gap: NO_MEASURES };
    return;
  }
  const targetDrives = target.pollIntervalMs >= against.pollIntervalMs;
  const driver = (targetDrives ? own : other).samples.at(-1);
  const partners = (targetDrives ? other : own).samples;
  if (driver !== undefined) {
    const driverIs = targetDrives ? "target" : "against";
    const gap = addMeasure(own.gap, { driver, partners, driverIs }, pace);
    if (gap !== own.gap) {
      sources[index] = { ...own, gap };
    }
  }
}
