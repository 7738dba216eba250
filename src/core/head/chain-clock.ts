/*
 * When a chain made its blocks. There are two histories of points (block, instant): the timestamps that sources report, and the
 * instants at which the reference was seen. In both, blocks and instants never decrease. The histories give the time between
 * blocks, the lag of a target in time, and the block of the reference at an instant.
 */

import type { ReportedBlock } from "../model/observation.ts";
import { madeAtMs, type Sighting } from "../model/sample.ts";
import { DEVIATIONS, MINUTE_MS } from "./reach.ts";

/** Points, oldest first. Two arrays of numbers take less memory than an array of points. Edited in place. */
interface Timeline {
  readonly blocks: number[];
  readonly timesMs: number[];
}

/** The known times of a chain's blocks; edited in place. All instants are of our own monotonic clock. */
export interface ChainClock {
  /** The wall clock minus our own. Reported block times are times of the wall clock. */
  wallOffsetMs: number;
  /** Timestamps of blocks, as subgraphs and RPC nodes report them. */
  reported: Timeline;
  /** Instants at which the reference was seen to reach a block. */
  readonly seen: Timeline;
  /** When the reference was last seen. */
  lastMs: number | null;
  /** The measured time between blocks; null until the chain was seen for a minute and twenty blocks. */
  intervalMs: number | null;
  /** The current time between blocks: it follows a change of pace within a minute or eight blocks, whichever is longer. */
  recentMs: number | null;
}

/** An instant, or the time between two instants. */
export interface BlockTime {
  readonly ms: number;
  /** True if a block lies outside the known points. */
  readonly isExtrapolated: boolean;
}

/** The reference at an instant that is known to within `slackMs`. */
export interface HeadSighting extends Sighting {
  readonly slackMs: number;
}

/** The time over which a pace is measured: long enough to even out batches, short enough to follow a change. */
export const PACE_WINDOW_MS = 600_000;
/** With twenty blocks, an error of one block is 5 %: the usual pace needs at least twenty (chain-clock.test.ts). */
const LEAST_BLOCKS = 20;
/** With twenty, the current pace of a slow chain would be known too late ("a block in ten minutes", world 21). */
const LEAST_RECENT_BLOCKS = 8;
/** On chains faster than this, timestamps in whole seconds are coarser than sightings (`npm run worlds -- lags`). */
const SECONDS_ARE_COARSE_MS = 2_500;
/** Points per timeline. They are thinned by age, so that they reach back days and stay dense near the tip. */
const CAPACITY = 240;

export function newClock(wallOffsetMs: number): ChainClock {
  const empty = (): Timeline => ({ blocks: [], timesMs: [] });
  return { wallOffsetMs, reported: empty(), seen: empty(), lastMs: null, intervalMs: null, recentMs: null };
}

/** Follows a step of the wall clock: the reported block times now belong to other instants of our own clock. */
export function followWall(clock: ChainClock, wallOffsetMs: number): void {
  const stepMs = wallOffsetMs - clock.wallOffsetMs;
  const { blocks, timesMs } = clock.reported;
  clock.reported = { blocks, timesMs: timesMs.map((ms) => ms - stepMs) };
  clock.wallOffsetMs = wallOffsetMs;
}

/**
 * Measures both intervals again: the usual one by reported block times, which are exact, or else by sightings; the recent one
 * by sightings.
 */
export function measurePace(clock: ChainClock): void {
  const { reported, seen } = clock;
  const reportedMs = isReportFresh(clock)
    ? measureInterval(reported, PACE_WINDOW_MS, LEAST_BLOCKS, seen)
    : null;
  clock.intervalMs = reportedMs ?? measureInterval(seen, PACE_WINDOW_MS, LEAST_BLOCKS, seen);
  clock.recentMs = measureInterval(seen, MINUTE_MS, LEAST_RECENT_BLOCKS, seen);
}

/**
 * Records a sighting of the reference. The time of a new block is the mean of the instant of the sighting and the instant that
 * the former pace predicts, which removes most of the noise. It differs from the sighting by at most
 * `slackMs + min(half a block time, time since the last sighting)`.
 */
export function recordHead(
  clock: ChainClock,
  { atMs, block, slackMs }: HeadSighting,
  intervalMs: number | null,
): void {
  const { lastMs: sightedMs, seen } = clock;
  const [lastBlock, lastMs] = [seen.blocks.at(-1), seen.timesMs.at(-1)];
  const paceMs = clock.recentMs ?? intervalMs;
  if (lastBlock === undefined || lastMs === undefined || paceMs === null) {
    extend(seen, block, atMs);
  } else if (block !== lastBlock) {
    const predictedMs = lastMs + (block - lastBlock) * paceMs;
    const meanMs = (predictedMs + atMs) / 2;
    const boundMs = slackMs + Math.min(paceMs / 2, Math.max(0, atMs - (sightedMs ?? atMs)));
    extend(seen, block, Math.min(Math.max(meanMs, atMs - boundMs), atMs + boundMs));
  } else if (atMs - lastMs > Math.min(DEVIATIONS * paceMs, MINUTE_MS) + slackMs) {
    // The next block has not been made yet. Shorter waits are not worth a point.
    extend(seen, block, atMs);
  }
  clock.lastMs = atMs;
}

/** Adds the newest point. A repeated block becomes a plateau, which distinguishes a pause from slow growth. */
function extend(timeline: Timeline, block: number, timeMs: number): void {
  const { blocks, timesMs } = timeline;
  if ((blocks.at(-1) ?? 0) > block) {
    return;
  }
  // Drops the points that are not older than the new one.
  const size = countBelow(timesMs, timeMs);
  const kept = blocks[size - 2] === block ? size - 1 : size;
  blocks.splice(kept, blocks.length, block);
  timesMs.splice(kept, timesMs.length, timeMs);
  thin(timeline);
}

/** Forgets all timestamps, because a wrong source may have reported some of them. */
export function forgetTimestamps(clock: ChainClock): void {
  clock.reported = { blocks: [], timesMs: [] };
}

/** Notes the timestamp that a source reported for a block, unless it contradicts its neighbours. */
export function noteTimestamp(clock: ChainClock, block: number, timestampSec: number): void {
  const { reported } = clock;
  const at = countBelow(reported.blocks, block);
  const madeMs = madeAtMs(timestampSec, clock);
  if (reported.blocks[at] !== block && fits(reported, at, madeMs)) {
    reported.blocks.splice(at, 0, block);
    reported.timesMs.splice(at, 0, madeMs);
    thin(reported);
  }
}

function fits({ timesMs }: Timeline, at: number, timeMs: number): boolean {
  return (timesMs[at - 1] ?? timeMs) <= timeMs && timeMs <= (timesMs[at] ?? timeMs);
}

/**
 * The block that the reference had reached at `timeMs`, with a fraction, because it is read from a line between two sightings.
 * For up to a minute outside the sightings, the reference is assumed to move at `intervalMs`, unless it paused at the last
 * sighting. Null without sightings, or more than a minute before the first.
 */
export function referenceAt({ seen }: ChainClock, timeMs: number, intervalMs: number | null): number | null {
  const after = countBelow(seen.timesMs, timeMs);
  const [low, high] = [pointAt(seen, after - 1), pointAt(seen, after)];
  if (low !== null && high !== null) {
    return between(low.atMs, low.block, high.atMs, high.block, timeMs);
  }
  const edge = low ?? high;
  if (edge === null || edge.atMs - timeMs > MINUTE_MS) {
    return null;
  }
  const isPaused = low !== null && seen.blocks.at(-2) === low.block;
  const movedMs = isPaused || intervalMs === null ? 0 : Math.min(timeMs - edge.atMs, MINUTE_MS);
  return edge.block + movedMs / (intervalMs ?? 1);
}

/** When the reference was seen to reach a block. */
export function seenAtMs({ seen }: ChainClock, block: number): number | null {
  return timeOf(seen, block, null)?.ms ?? null;
}

/** When the chain made `block`, by the better of the two histories. */
export function timeOfBlock(clock: ChainClock, block: number, intervalMs: number | null): BlockTime | null {
  return timeIn(clock, historyFor(clock, block, intervalMs), block, intervalMs);
}

/** The reported time of a block, if a source reported it. */
export function reportedTimeOf({ reported: { blocks, timesMs } }: ChainClock, block: number): number | null {
  const at = countBelow(blocks, block);
  return blocks[at] === block ? (timesMs[at] ?? null) : null;
}

/** A target's block, with the time that the target reports for it. */
type OwnBlock = Pick<ReportedBlock, "block" | "timestampSec">;

/**
 * How long the chain took from the block after the target's own block to `toBlock`. Both ends are read from one history, so
 * that delays cancel. A pause of the chain at the target's block does not count.
 */
export function timeSinceNext(
  clock: ChainClock,
  own: OwnBlock,
  toBlock: number,
  intervalMs: number | null,
): BlockTime | null {
  const history = historyFor(clock, own.block, intervalMs);
  const nextBlock = Math.min(own.block + 1, toBlock);
  const ownMs = ownTime(history, own, clock);
  const to = timeIn(clock, history, toBlock, intervalMs);
  const found = timeIn(clock, history, nextBlock, intervalMs);
  if (to === null || found === null) {
    return null;
  }
  const next =
    found.isExtrapolated && ownMs !== null
      ? { ms: Math.min(to.ms, ownMs + (intervalMs ?? 0)), isExtrapolated: false }
      : found;
  const pausedUntilMs = (ownMs ?? next.ms) + seenForMs(clock.seen, own.block);
  const above = pointAt(history, countBelow(history.blocks, nextBlock));
  const known = above === null || above.block > toBlock ? { block: toBlock, atMs: to.ms } : above;
  // The pause ended early enough for the chain to reach the next known block.
  const latestMs = known.atMs - timeForBlocks(known.block - nextBlock, intervalMs ?? 0);
  const nextMs = Math.max(next.ms, Math.min(pausedUntilMs, latestMs));
  return { ms: Math.max(0, to.ms - nextMs), isExtrapolated: next.isExtrapolated };
}

/** The least time in which a chain makes some blocks. Up to nine may come at once by chance (three deviations). */
function timeForBlocks(blocks: number, intervalMs: number): number {
  return blocks <= DEVIATIONS * Math.sqrt(blocks) ? 0 : blocks * intervalMs;
}

/** The time that a target reports for its block, unless the history contradicts it. */
function ownTime(history: Timeline, { block, timestampSec }: OwnBlock, clock: ChainClock): number | null {
  const ownMs = history === clock.reported && timestampSec !== null ? madeAtMs(timestampSec, clock) : null;
  return ownMs !== null && fits(history, countBelow(history.blocks, block), ownMs) ? ownMs : null;
}

/** How long the reference was seen at a block. */
function seenForMs({ blocks, timesMs }: Timeline, block: number): number {
  const [first, last] = [countBelow(blocks, block), countBelow(blocks, block + 1) - 1];
  return last <= first ? 0 : (timesMs[last] ?? 0) - (timesMs[first] ?? 0);
}

/** When the chain first reached `block`; null without points, or outside them without a block interval. */
function timeOf(timeline: Timeline, block: number, intervalMs: number | null): BlockTime | null {
  const above = countBelow(timeline.blocks, block);
  const [low, high] = [pointAt(timeline, above - 1), pointAt(timeline, above)];
  if (high?.block === block) {
    return { ms: high.atMs, isExtrapolated: false };
  }
  if (low !== null && high !== null) {
    return { ms: between(low.block, low.atMs, high.block, high.atMs, block), isExtrapolated: false };
  }
  const edge = low ?? high;
  return edge === null || intervalMs === null
    ? null
    : { ms: edge.atMs + (block - edge.block) * intervalMs, isExtrapolated: true };
}

/** As {@link timeOf}; beyond the newest timestamp, the chain is assumed to have advanced as in the sightings. */
function timeIn(
  clock: ChainClock,
  timeline: Timeline,
  block: number,
  intervalMs: number | null,
): BlockTime | null {
  const { seen } = clock;
  const last = pointAt(timeline, timeline.blocks.length - 1);
  if (
    timeline === clock.reported &&
    last !== null &&
    block > last.block &&
    block <= (seen.blocks.at(-1) ?? 0)
  ) {
    const [from, to] = [timeOf(seen, last.block, null), timeOf(seen, block, null)];
    if (from !== null && to !== null) {
      return { ms: last.atMs + Math.max(0, to.ms - from.ms), isExtrapolated: false };
    }
  }
  return timeOf(timeline, block, intervalMs);
}

/** The better of the two histories for a time span from `block` to the tip. */
function historyFor(clock: ChainClock, block: number, intervalMs: number | null): Timeline {
  const { reported, seen } = clock;
  const seenFrom = seen.blocks[0] ?? Number.POSITIVE_INFINITY;
  const reportedFrom = reported.blocks[0] ?? Number.POSITIVE_INFINITY;
  const isCoarse = seenFrom <= block && intervalMs !== null && intervalMs < SECONDS_ARE_COARSE_MS;
  const isReported = !isCoarse && (reportedFrom <= block || reportedFrom <= seenFrom);
  return isReported && isReportFresh(clock) ? reported : seen;
}

function isReportFresh({ reported, seen }: ChainClock): boolean {
  const lastMs = reported.timesMs.at(-1);
  return lastMs !== undefined && lastMs >= (seen.timesMs.at(-1) ?? lastMs) - MINUTE_MS;
}

/**
 * The mean time between blocks over about the last `windowMs`, without pauses; null while the points span too little. `seen`:
 * sightings show pauses that reported times may not show.
 */
function measureInterval(
  timeline: Timeline,
  windowMs: number,
  leastBlocks: number,
  seen: Timeline,
): number | null {
  const { blocks, timesMs } = timeline;
  const last = countBelow(blocks, blocks.at(-1) ?? 0);
  const [lastBlock, lastMs] = [blocks[last] ?? 0, timesMs[last] ?? 0];
  // Far enough back for the window, a minute, and `leastBlocks`.
  const first = Math.min(
    countBelow(timesMs, lastMs - windowMs),
    countBelow(timesMs, lastMs - MINUTE_MS + 1) - 1,
    countBelow(blocks, lastBlock - leastBlocks + 1) - 1,
  );
  const [firstBlock, firstMs] = [blocks[first], timesMs[first]];
  if (firstBlock === undefined || firstMs === undefined) {
    return null;
  }
  const grown = lastBlock - firstBlock;
  // Blocks that come at random vary by about one block time: only a much longer wait is a pause.
  const leastMs = (DEVIATIONS * (lastMs - firstMs)) / grown;
  const pausedMs = Math.max(
    pausesMs(timeline, firstMs, lastMs, leastMs),
    pausesMs(seen, firstMs, lastMs, Math.max(leastMs, MINUTE_MS)),
  );
  const movedMs = lastMs - firstMs - pausedMs;
  return movedMs > 0 ? movedMs / grown : null;
}

/** How long the chain paused within a time span, counting pauses of at least `leastMs`. */
function pausesMs({ blocks, timesMs }: Timeline, fromMs: number, toMs: number, leastMs: number): number {
  let pauses = 0;
  for (let index = Math.max(1, countBelow(timesMs, fromMs)); index < timesMs.length; index += 1) {
    const [startMs, endMs] = [timesMs[index - 1] ?? 0, timesMs[index] ?? 0];
    if (blocks[index] === blocks[index - 1] && endMs - startMs >= leastMs) {
      pauses += Math.max(0, Math.min(endMs, toMs) - Math.max(startMs, fromMs));
    }
  }
  return pauses;
}

function pointAt({ blocks, timesMs }: Timeline, index: number): Sighting | null {
  const [block, atMs] = [blocks[index], timesMs[index]];
  return block === undefined || atMs === undefined ? null : { block, atMs };
}

/** The value at `x` on the line through two points. */
function between(x1: number, y1: number, x2: number, y2: number, x: number): number {
  return y1 + ((x - x1) / (x2 - x1)) * (y2 - y1);
}

/** How many leading values are below `limit`. */
function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? limit) < limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** Drops the inner point whose neighbours are closest together for its age, so that the spacing grows with the age. */
function thin({ blocks, timesMs }: Timeline): void {
  if (blocks.length <= CAPACITY) {
    return;
  }
  const newestMs = timesMs.at(-1) ?? 0;
  let least = 1;
  let leastSpacing = Number.POSITIVE_INFINITY;
  for (let index = 1; index < timesMs.length - 1; index += 1) {
    const spanMs = (timesMs[index + 1] ?? 0) - (timesMs[index - 1] ?? 0);
    const spacing = spanMs / (newestMs - (timesMs[index] ?? 0) + MINUTE_MS);
    if (spacing < leastSpacing) {
      least = index;
      leastSpacing = spacing;
    }
  }
  blocks.splice(least, 1);
  timesMs.splice(least, 1);
}
