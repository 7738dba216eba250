import { reportedTimeOf } from "../head/chain-clock.ts";
import type { HeadState } from "../head/consensus.ts";
import { type End, isReached } from "../model/end.ts";
import type { Target } from "../model/fleet.ts";
import { madeAtMs } from "../model/sample.ts";
import { reached, type SourceState } from "../source/source-state.ts";
import { type Lag, measureLag } from "./lag.ts";
import type { ChainView } from "./view.ts";

/** The end that a target has reached. `isOwn`: of its indexer, while its chain may go on. */
export interface Ended {
  readonly end: End;
  readonly isOwn: boolean;
}

/** The end that a target has reached: its own, else that of its chain. Null: it goes on. */
export function endedOf(source: SourceState, view: ChainView): Ended | null {
  const { consensus, targets, until, wallMs } = view;
  const own = targets.get(source.key)?.until;
  if (own !== undefined && hasReached(source, own, wallMs)) {
    return { end: own, isOwn: true };
  }
  const isOver =
    until !== null &&
    (hasReached(source, until, wallMs) || isReached(until, consensus.head?.block ?? 0, wallMs));
  return isOver ? { end: until, isOwn: false } : null;
}

/** Whether it is at its own end: from then on it says nothing about the head of its chain. */
export function hasOwnEnd(source: SourceState, target: Target | undefined, wallMs: number): boolean {
  return target?.until !== undefined && hasReached(source, target.until, wallMs);
}

function hasReached(source: SourceState, end: End, wallMs: number): boolean {
  return isReached(end, reached(source)?.block ?? 0, wallMs);
}

/** How far behind it is; null also where it need not get further: at its own end, and on a chain that is over and has no reference. */
export function lagIn(source: SourceState, view: ChainView): Lag | null {
  const ended = endedOf(source, view);
  if (ended === null) {
    return measureLag(source, view);
  }
  return ended.isOwn || view.reference === null ? null : lagAtEnd(source, view.reference, view);
}

/** What its data lack of a chain that is over: no time passes there any more, so the lag does not grow. */
function lagAtEnd(source: SourceState, last: HeadState, { clock, intervalMs }: ChainView): Lag | null {
  const own = reached(source);
  if (own === null) {
    return null;
  }
  const blocks = Math.max(0, last.block - own.block);
  const lastMs = reportedTimeOf(clock, last.block);
  const reportedMs =
    lastMs === null || own.timestampSec === null ? null : lastMs - madeAtMs(own.timestampSec, clock);
  const usualMs = intervalMs === null ? null : blocks * intervalMs;
  const ms = blocks === 0 ? 0 : (reportedMs ?? usualMs);
  return {
    blocks,
    ms: ms === null ? null : Math.max(0, ms),
    extrapolated: blocks > 0 && reportedMs === null,
  };
}
