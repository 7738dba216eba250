import {
  type BlockTime,
  blockAt,
  extendTimeline,
  fits,
  insertPoint,
  measureInterval,
  newTimeline,
  standstillMs,
  type Timeline,
  timeOf,
} from "./timeline.ts";

/** What is known of when a chain made its blocks; edited in place. */
export interface ChainClock {
  /** Timestamps of blocks, as subgraphs and RPC nodes report them. */
  reported: Timeline;
  /** Instants at which the reference was seen to reach a block. */
  readonly seen: Timeline;
  /** The same where a second provider had shown the block: what the pace is measured from, so that no source alone sets it. */
  readonly witnessed: Timeline;
  /** The measured time between blocks; null until it has been seen for a minute and twenty blocks. */
  intervalMs: number | null;
  /** The time between blocks of just now: it follows a change of pace within a minute. */
  recentMs: number | null;
}

/** How far a target's block is behind the reference in time. */
export interface LagTime {
  readonly ms: number;
  readonly extrapolated: boolean;
}

export function newClock(): ChainClock {
  return {
    reported: newTimeline(),
    seen: newTimeline(),
    witnessed: newTimeline(),
    intervalMs: null,
    recentMs: null,
  };
}

/** Of twenty blocks, one more or less is 5 %. */
const INTERVAL_SPAN = { windowMs: 600_000, leastSpanMs: 60_000, leastBlocks: 20 };
/** Short enough to follow a chain that changes its pace, long enough that a second of latency is 2 %. */
const PACE_SPAN = { windowMs: 60_000, leastSpanMs: 45_000, leastBlocks: 8 };
/** Over so much time, what two providers have shown refutes a pace that is off by more than this share. */
const CHECKED_SPAN = { windowMs: 600_000, leastSpanMs: 300_000, leastBlocks: 20 };
const CHECKED_SHARE = 0.05;
/** Reported times older than this say less about the tip than what was seen. */
const REPORTED_FRESH_MS = 120_000;
/** How far a sighting pulls the even pace towards itself, so that a change of pace is followed. */
const SIGHTING_SHARE = 0.4;
/** A head without a new block for more than this many block times is a pause. */
const PAUSE_BLOCKS = 3;
/** On chains faster than this, timestamps in whole seconds say less than what was seen. */
const SECONDS_ARE_COARSE_MS = 2_500;
/** How long the reference is taken to go on at its pace between two sightings. */
const AHEAD_MS = 60_000;

/**
 * Measures both intervals anew. Block times are exact, and the head moves evenly, but one source alone may have told the
 * one and made the other: they are not believed against what two providers have shown over minutes.
 */
export function measurePace(clock: ChainClock): void {
  const { reported, seen, witnessed } = clock;
  const told = reportedIsFresh(clock) ? measureInterval(reported, INTERVAL_SPAN, seen) : null;
  const measured =
    told ?? measureInterval(seen, INTERVAL_SPAN) ?? measureInterval(reported, INTERVAL_SPAN, seen);
  const checked = measureInterval(witnessed, CHECKED_SPAN, seen);
  const isRefuted =
    measured !== null && checked !== null && Math.abs(measured - checked) > CHECKED_SHARE * checked;
  clock.intervalMs = isRefuted ? checked : measured;
  clock.recentMs = measureInterval(seen, PACE_SPAN);
}

/** The reference at an instant that is known to within `slackMs`. */
export interface HeadSample {
  readonly block: number;
  readonly atMs: number;
  readonly slackMs: number;
}

/**
 * Notes a sighting of the reference. A head of `block` may be anything up to a block time old, and was read
 * somewhere between request and reply: within these bounds the even pace of before is believed more than the
 * sighting, which takes out most of the noise.
 */
export function recordHead(clock: ChainClock, sighting: HeadSample, intervalMs: number | null): void {
  addSighting(clock.seen, sighting, clock.recentMs ?? intervalMs);
}

/** Notes what a second provider has shown of the reference: that it is still there, or on the way to it. */
export function recordWitness(
  clock: ChainClock,
  { atMs, block, slackMs }: HeadSample,
  head: { readonly block: number; readonly reachedMs: number },
  intervalMs: number | null,
): void {
  const shownMs = block === head.block ? Math.min(atMs, head.reachedMs) : atMs;
  addSighting(clock.witnessed, { block, atMs: shownMs, slackMs }, intervalMs);
}

function addSighting(timeline: Timeline, { atMs, block, slackMs }: HeadSample, paceMs: number | null): void {
  const [lastBlock, lastMs] = [timeline.blocks.at(-1), timeline.timesMs.at(-1)];
  if (lastBlock === undefined || lastMs === undefined || paceMs === null) {
    extendTimeline(timeline, block, atMs);
  } else if (block === lastBlock) {
    // Between two blocks a head does not move.
    if (atMs - lastMs > PAUSE_BLOCKS * paceMs + slackMs) {
      extendTimeline(timeline, block, atMs);
    }
  } else {
    const evenMs = lastMs + (block - lastBlock) * paceMs;
    const predictedMs = evenMs + SIGHTING_SHARE * (atMs - evenMs);
    const mostMs = slackMs + paceMs / 2;
    extendTimeline(timeline, block, Math.min(Math.max(predictedMs, atMs - mostMs), atMs + mostMs));
  }
}

/** Forgets all timestamps: some of them were told by a source that is wrong. */
export function forgetTimestamps(clock: ChainClock): void {
  clock.reported = newTimeline();
}

/** Notes the timestamp that a source reported for a block. */
export function noteTimestamp(clock: ChainClock, block: number, timestampSec: number): void {
  insertPoint(clock.reported, block, timestampSec * 1_000);
}

/**
 * The block that the reference had reached at `timeMs`, to fractions of a block (a head of 7 is 6.5 to 7.5); null
 * where that is not known.
 */
export function referenceAt(clock: ChainClock, timeMs: number, intervalMs: number | null): number | null {
  return blockAt(clock.seen, timeMs, { intervalMs, horizonMs: AHEAD_MS });
}

/** When the chain made `block`, by the better of the two histories. */
export function timeOfBlock(clock: ChainClock, block: number, intervalMs: number | null): BlockTime | null {
  return timeOf(historyFor(clock, block, intervalMs), block, intervalMs);
}

/** The time from a target's block to the reference's; both ends are read from one history, so that delays cancel. */
export function timeBetween(
  clock: ChainClock,
  span: { readonly from: number; readonly fromTimestampSec: number | null; readonly to: number },
  intervalMs: number | null,
): LagTime | null {
  const history = historyFor(clock, span.from, intervalMs);
  const fromMs = span.fromTimestampSec === null ? null : span.fromTimestampSec * 1_000;
  // A time that the others contradict is not the block's.
  const from =
    history === clock.reported && fromMs !== null && fits(history, span.from, fromMs)
      ? { timeMs: fromMs, extrapolated: false }
      : timeOf(history, span.from, intervalMs);
  const to = timeOf(history, span.to, intervalMs);
  if (from === null || to === null) {
    return null;
  }
  // The target lacked nothing while the chain itself stood at the target's block.
  const ms = to.timeMs - from.timeMs - standstillMs(clock.seen, span.from);
  return { ms: Math.max(0, ms), extrapolated: from.extrapolated };
}

/** The better of the two histories for a time span from `block` to the tip. */
function historyFor(clock: ChainClock, block: number, intervalMs: number | null): Timeline {
  const { reported, seen } = clock;
  const seenFrom = seen.blocks[0] ?? Number.POSITIVE_INFINITY;
  const reportedFrom = reported.blocks[0] ?? Number.POSITIVE_INFINITY;
  if (!reportedIsFresh(clock)) {
    return seen;
  }
  if (seenFrom <= block && intervalMs !== null && intervalMs < SECONDS_ARE_COARSE_MS) {
    return seen;
  }
  return reportedFrom <= block || reportedFrom <= seenFrom ? reported : seen;
}

function reportedIsFresh({ reported, seen }: ChainClock): boolean {
  const lastMs = reported.timesMs.at(-1);
  return lastMs !== undefined && lastMs >= (seen.timesMs.at(-1) ?? lastMs) - REPORTED_FRESH_MS;
}
