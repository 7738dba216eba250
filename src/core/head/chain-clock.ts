import { memoize } from "../model/memoize.ts";
import {
  type BlockTime,
  blockAt,
  EMPTY_TIMELINE,
  extendTimeline,
  insertPoint,
  measureInterval,
  standstillMs,
  type Timeline,
  timeOf,
} from "./timeline.ts";

/** What is known of when a chain made its blocks. */
export interface ChainClock {
  /** Timestamps of blocks, as subgraphs and RPC nodes report them. */
  readonly reported: Timeline;
  /** Instants at which the reference was seen to reach a block. */
  readonly seen: Timeline;
}

/** How far a target's block is behind the reference in time. */
export interface LagTime {
  readonly ms: number;
  readonly extrapolated: boolean;
}

export const NEW_CLOCK: ChainClock = { reported: EMPTY_TIMELINE, seen: EMPTY_TIMELINE };

/** Of twenty blocks, one more or less is 5 %. */
const INTERVAL_SPAN = { windowMs: 600_000, leastSpanMs: 60_000, leastBlocks: 20 };
/** Short enough to follow a chain that changes its pace, long enough that a second of latency is 2 %. */
const PACE_SPAN = { windowMs: 60_000, leastSpanMs: 45_000, leastBlocks: 8 };
/** Reported times older than this say less about the tip than what was seen. */
const REPORTED_FRESH_MS = 120_000;
/** How far a sighting pulls the even pace towards itself, so that a change of pace is followed. */
const SIGHTING_SHARE = 0.4;
/** A head that stands still for longer than so many block times is a pause. */
const PAUSE_BLOCKS = 3;
/** On chains faster than this, timestamps in whole seconds say less than what was seen. */
const SECONDS_ARE_COARSE_MS = 2_500;
/** How long the reference is taken to go on at its pace between two sightings. */
const AHEAD_MS = 60_000;

/** The measured time between blocks, or null until it has been seen for a minute and twenty blocks. */
export function measuredIntervalMs(clock: ChainClock): number | null {
  return measuredOf(clock);
}

/** The time between blocks of just now: it follows a change of pace within a minute. */
export function recentIntervalMs(clock: ChainClock): number | null {
  return recentOf(clock.seen);
}

/** Every observation asks for it, and few change the clock. */
const measuredOf = memoize((clock: ChainClock) => {
  const { reported, seen } = clock;
  return reportedIsFresh(clock)
    ? (measureInterval(reported, INTERVAL_SPAN, seen) ?? measureInterval(seen, INTERVAL_SPAN))
    : (measureInterval(seen, INTERVAL_SPAN) ?? measureInterval(reported, INTERVAL_SPAN, seen));
});

const recentOf = memoize((seen: Timeline) => measureInterval(seen, PACE_SPAN));

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
export function recordHead(clock: ChainClock, sighting: HeadSample, intervalMs: number | null): ChainClock {
  const { block, atMs } = sighting;
  const { blocks, timesMs } = clock.seen;
  const [lastBlock, lastMs] = [blocks.at(-1), timesMs.at(-1)];
  const paceMs = recentIntervalMs(clock) ?? intervalMs;
  if (lastBlock === undefined || lastMs === undefined || paceMs === null) {
    return withSeen(clock, block, atMs);
  }
  if (block === lastBlock) {
    // Between two blocks a head stands still by nature.
    const pauses = atMs - lastMs > PAUSE_BLOCKS * paceMs + sighting.slackMs;
    return pauses ? withSeen(clock, block, atMs) : clock;
  }
  const slackMs = sighting.slackMs + paceMs / 2;
  const evenMs = lastMs + (block - lastBlock) * paceMs;
  const predictedMs = evenMs + SIGHTING_SHARE * (atMs - evenMs);
  const timeMs = Math.min(Math.max(predictedMs, atMs - slackMs), atMs + slackMs);
  return withSeen(clock, block, timeMs);
}

function withSeen({ reported, seen }: ChainClock, block: number, timeMs: number): ChainClock {
  return { reported, seen: extendTimeline(seen, block, timeMs) };
}

/** Notes the timestamp that a source reported for a block. */
export function noteTimestamp(clock: ChainClock, block: number, timestampSec: number): ChainClock {
  const reported = insertPoint(clock.reported, block, timestampSec * 1_000);
  return reported === clock.reported ? clock : { reported, seen: clock.seen };
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
  const from =
    history === clock.reported && span.fromTimestampSec !== null
      ? { timeMs: span.fromTimestampSec * 1_000, extrapolated: false }
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
