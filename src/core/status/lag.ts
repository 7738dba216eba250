import { PACE_WINDOW_MS, referenceAt, reportedTimeOf, seenAtMs, timeSinceNext } from "../head/chain-clock.ts";
import type { HeadState } from "../head/consensus.ts";
import { DEVIATIONS } from "../head/reach.ts";
import type { TargetReport } from "../model/report.ts";
import { madeAtMs, readAtMs } from "../model/sample.ts";
import { type Status, traitsOf } from "../model/statuses.ts";
import {
  type Approach,
  highestSample,
  type Lag,
  newestSample,
  type SourceState,
  servedOf,
} from "../source/source-state.ts";
import { type ChainView, endedOf } from "./view.ts";

const LEVEL: Lag = { blocks: 0, ms: 0, isExtrapolated: false };

/** Measures how far behind each target is, by the heights that its users are served. */
export function measureLags(sources: readonly SourceState[], view: ChainView): void {
  for (const source of sources) {
    source.lag = source.kind === "rpc" ? null : lagIn(servedOf(source), view);
  }
}

/**
 * How far behind a target is. Null if that is unknown, or if the target need not advance: at its own end, or on a chain that is
 * over and has no reference.
 */
function lagIn(source: SourceState, view: ChainView): Lag | null {
  const ended = endedOf(source, view);
  if (ended === null) {
    return measureLag(source, view);
  }
  return ended.isOwn || view.reference === null ? null : lagAtEnd(source, view.reference, view);
}

/** How far a target is behind the last block of a chain that is over. No block follows, so the lag does not grow with time. */
function lagAtEnd(source: SourceState, last: HeadState, { clock, intervalMs }: ChainView): Lag | null {
  const own = highestSample(source);
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
    isExtrapolated: blocks > 0 && reportedMs === null,
  };
}

/**
 * Measures a target's lag: how long the block after its own has existed. The reference is taken at the instant of the target's
 * own reply; otherwise a target that is polled twice an hour would seem to lag. A target at the reference's block is level with
 * the reference at any time, because no source has shown a newer block. Between two sightings the reference is known to within
 * a block, so less than a block does not count as lag.
 *
 * Without a reference the lag is the age that the target's block had when it was read, less the usual time between blocks; without
 * a block time, the last reference shows how long the next block has existed. Never negative; null if unknown.
 */
function measureLag(target: SourceState, { clock, consensus, intervalMs, reference }: ChainView): Lag | null {
  const newest = newestSample(target);
  const head = highestSample(target);
  if (newest === null || head === null) {
    return null;
  }
  const { block, timestampSec } = head;
  if (reference === null && timestampSec !== null) {
    return lagByClock(newest.receivedAtMs - madeAtMs(timestampSec, clock), intervalMs);
  }
  const last = reference ?? lastAbove(block, consensus);
  if (last === null) {
    return null;
  }
  const to = block >= last.block ? block : referenceAt(clock, readAtMs(newest), intervalMs);
  if (to === null) {
    return null;
  }
  if (to - block < 1) {
    return LEVEL;
  }
  // If the reference reached its block before the reply, the time in between is added. Else the reference is estimated.
  const reachedMs = seenAtMs(clock, last.block) ?? last.reachedMs;
  const sinceMs = Math.max(0, readAtMs(newest) - reachedMs);
  const time = timeSinceNext(clock, { block, timestampSec }, sinceMs > 0 ? last.block : to, intervalMs);
  return {
    blocks: reference === null ? null : Math.round(to) - block,
    ms: time === null ? null : time.ms + sinceMs,
    isExtrapolated: time?.isExtrapolated ?? false,
  };
}

/** The last reference, whose evidence is stale, if it is above a block. */
function lastAbove(block: number, { head }: ChainView["consensus"]): HeadState | null {
  return head !== null && head.block > block ? head : null;
}

function lagByClock(ageMs: number, intervalMs: number | null): Lag {
  return { blocks: null, ms: Math.max(0, ageMs - (intervalMs ?? 0)), isExtrapolated: false };
}

/*
 * How fast a target that is behind catches up: the slope of a line through its distance from the head over the last ten
 * minutes. Indexers write in batches, so the slope has an error. A target counts as catching up once the slope exceeds three
 * times that error. Only a negative slope ends this: otherwise a target near the limit would change with each poll.
 */

/** One mark a minute, with room for a poll that was early. */
const MARK_EVERY_MS = 50_000;
/**
 * With fewer marks, the error of the line means nothing. For a target that is polled rarely, the window is extended to this
 * number of polls.
 */
const LEAST_MARKS = 4;

/**
 * The approach of a target after a poll; null if the target cannot catch up, or is judged by its low replicas. After a step back
 * the marks start again.
 */
export function followApproach(
  source: SourceState,
  { intervalMs }: Pick<ChainView, "intervalMs">,
): Approach | null {
  const { approach, lag, pollIntervalMs, replicas, verdict } = source;
  if (verdict === null || !canCatchUp(verdict.status) || replicas?.isStale === true) {
    return null;
  }
  const [newest, highest] = [newestSample(source), highestSample(source)];
  const behind = distanceOf(lag, intervalMs);
  if (newest === null || highest === null || behind === null) {
    return approach;
  }
  const mark = { atMs: readAtMs(newest), block: highest.block, behind };
  const last = approach?.marks.at(-1);
  if (approach === null || last === undefined || mark.block < last.block) {
    return { marks: [mark], isClosing: null };
  }
  if (mark.atMs - last.atMs < MARK_EVERY_MS) {
    return approach;
  }
  const windowMs = Math.max(PACE_WINDOW_MS, LEAST_MARKS * pollIntervalMs);
  const marks = [...approach.marks.filter(({ atMs }) => atMs > mark.atMs - windowMs - MARK_EVERY_MS), mark];
  return { marks, isClosing: isClosing(marks, windowMs, approach.isClosing) };
}

/** Whether the target catches up; null while there are too few marks to tell. A first `false` needs a whole window of marks. */
function isClosing(marks: Approach["marks"], windowMs: number, before: boolean | null): boolean | null {
  if (marks.length < LEAST_MARKS) {
    return null;
  }
  const { perMs, errorPerMs } = lineThrough(marks);
  if (perMs > DEVIATIONS * errorPerMs) {
    return true;
  }
  const spanMs = (marks.at(-1)?.atMs ?? 0) - (marks[0]?.atMs ?? 0);
  return before === null && spanMs < windowMs ? null : before === true && perMs > 0;
}

/**
 * How fast a target catches up, and in what time it reaches the head. Null if that is unknown, or if the target cannot catch up.
 */
export function reportCatchUp(
  { approach }: SourceState,
  status: Status,
  lag: Lag | null,
  intervalMs: number | null,
): TargetReport["catch_up"] {
  const behind = distanceOf(lag, intervalMs);
  if (!canCatchUp(status) || behind === null || approach === null || approach.isClosing === null) {
    return null;
  }
  const { perMs } = lineThrough(approach.marks);
  return {
    blocks_per_second: Math.round(perMs * 1e6) / 1e3,
    eta_seconds: approach.isClosing ? Math.round(behind / perMs / 1_000) : null,
  };
}

/** The distance from the head in blocks; without a reference, the lag in usual block times. */
function distanceOf(lag: Lag | null, intervalMs: number | null): number | null {
  return lag?.ms == null || intervalMs === null ? null : (lag.blocks ?? lag.ms / intervalMs);
}

/** How fast the distance shrinks, and the standard error of that rate (least squares). */
function lineThrough(marks: Approach["marks"]): { readonly perMs: number; readonly errorPerMs: number } {
  const meanOf = (value: (mark: Approach["marks"][number]) => number) =>
    marks.reduce((total, mark) => total + value(mark), 0) / marks.length;
  const meanMs = meanOf(({ atMs }) => atMs);
  const meanBehind = meanOf(({ behind }) => behind);
  const spread = meanOf(({ atMs }) => (atMs - meanMs) ** 2);
  const slope = meanOf(({ atMs, behind }) => (atMs - meanMs) * (behind - meanBehind)) / spread;
  const residue = meanOf(({ atMs, behind }) => (behind - meanBehind - slope * (atMs - meanMs)) ** 2);
  return { perMs: -slope, errorPerMs: Math.sqrt(residue / (marks.length - 2) / spread) };
}

/** Whether a target of this status can come nearer to the head: not while it has stopped. */
function canCatchUp(status: Status): boolean {
  const { isBehind, isMotionless } = traitsOf(status);
  return isBehind && !isMotionless;
}
