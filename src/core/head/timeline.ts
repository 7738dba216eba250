/**
 * When a chain reached which block: points with blocks and times that never fall, oldest first. Two arrays of numbers,
 * because they are small in memory; edited in place.
 */
export interface Timeline {
  readonly blocks: number[];
  readonly timesMs: number[];
}

/** An instant that a timeline gives for a block. */
export interface BlockTime {
  readonly timeMs: number;
  /** The block lies outside the points that are known. */
  readonly extrapolated: boolean;
}

export function newTimeline(): Timeline {
  return { blocks: [], timesMs: [] };
}

/** Points per timeline: thinned by age, they reach back days and stay dense near the tip. */
const CAPACITY = 240;

/** Bends below this are noise. */
const STRAIGHT_MS = 200;

/** A standstill that is shorter may only be blocks that come unevenly. */
const HALT_MS = 60_000;

/** Ages below this count alike when points are thinned. */
const DENSE_MS = 60_000;

/**
 * Adds the newest point. A repeated block becomes a plateau, which distinguishes a pause from slow growth.
 */
export function extendTimeline(timeline: Timeline, block: number, timeMs: number): void {
  const { blocks, timesMs } = timeline;
  if ((blocks.at(-1) ?? 0) > block) {
    return;
  }
  // Points that are not older give way: their instants overlapped, or our own clock was set back.
  const size = countBelow(timesMs, timeMs);
  const kept = blocks[size - 2] === block ? size - 1 : size;
  blocks.splice(kept, blocks.length, block);
  timesMs.splice(kept, timesMs.length, timeMs);
  thin(timeline);
}

/** Adds a point at any position, unless it contradicts its neighbours. */
export function insertPoint(timeline: Timeline, block: number, timeMs: number): void {
  const { blocks, timesMs } = timeline;
  const at = countUntil(blocks, block);
  if (blocks[at - 1] !== block && fits(timeline, block, timeMs)) {
    blocks.splice(at, 0, block);
    timesMs.splice(at, 0, timeMs);
    thin(timeline);
  }
}

/** Whether a block at this time contradicts none of the points. */
export function fits({ blocks, timesMs }: Timeline, block: number, timeMs: number): boolean {
  const before = timesMs[countBelow(blocks, block) - 1] ?? timeMs;
  const after = timesMs[countUntil(blocks, block)] ?? timeMs;
  return before <= timeMs && timeMs <= after;
}

/** When the chain first reached `block`; null without points, or outside them without a block interval. */
export function timeOf(timeline: Timeline, block: number, intervalMs: number | null): BlockTime | null {
  const above = countBelow(timeline.blocks, block);
  const [low, high] = [pointAt(timeline, above - 1), pointAt(timeline, above)];
  if (high?.block === block) {
    return { timeMs: high.timeMs, extrapolated: false };
  }
  if (low !== null && high !== null) {
    const share = (block - low.block) / (high.block - low.block);
    return { timeMs: low.timeMs + share * (high.timeMs - low.timeMs), extrapolated: false };
  }
  const edge = low ?? high;
  if (edge === null || intervalMs === null) {
    return null;
  }
  return { timeMs: edge.timeMs + (block - edge.block) * intervalMs, extrapolated: true };
}

/** How long the chain was seen at `block`. */
export function standstillMs({ blocks, timesMs }: Timeline, block: number): number {
  const first = countBelow(blocks, block);
  const last = countUntil(blocks, block) - 1;
  return last <= first ? 0 : (timesMs[last] ?? 0) - (timesMs[first] ?? 0);
}

/**
 * The block, possibly between two, that the chain had reached at `timeMs`. Outside the points it goes on at
 * `intervalMs` (not at all where that is null) for at most `horizonMs`, unless it was last seen to stand still; null
 * before the first point minus that.
 */
export function blockAt(
  timeline: Timeline,
  timeMs: number,
  beyond: { readonly intervalMs: number | null; readonly horizonMs: number },
): number | null {
  const after = countUntil(timeline.timesMs, timeMs);
  const [low, high] = [pointAt(timeline, after - 1), pointAt(timeline, after)];
  const paceFor = (spanMs: number) => (beyond.intervalMs === null ? 0 : spanMs / beyond.intervalMs);
  if (low !== null && high !== null) {
    const share = (timeMs - low.timeMs) / (high.timeMs - low.timeMs);
    return low.block + share * (high.block - low.block);
  }
  if (low !== null) {
    const stands = timeline.blocks.at(-2) === low.block;
    return stands ? low.block : low.block + paceFor(Math.min(timeMs - low.timeMs, beyond.horizonMs));
  }
  if (high === null || high.timeMs - timeMs > beyond.horizonMs) {
    return null;
  }
  return high.block - paceFor(high.timeMs - timeMs);
}

/** What an interval is measured over. */
export interface MeasuredSpan {
  readonly windowMs: number;
  readonly leastSpanMs: number;
  /** 1 or more. */
  readonly leastBlocks: number;
}

/**
 * Time between two blocks over about the last `windowMs` in which the chain moved, or null while the points
 * span less than `leastSpanMs` or `leastBlocks`. `halts` is a timeline that shows where the chain stood still, of which
 * these points know nothing.
 */
export function measureInterval(
  timeline: Timeline,
  span: MeasuredSpan,
  halts: Timeline | null = null,
): number | null {
  const { blocks, timesMs } = timeline;
  const last = pointAt(timeline, countBelow(blocks, blocks.at(-1) ?? 0));
  if (last === null) {
    return null;
  }
  const inWindow = countBelow(timesMs, last.timeMs - span.windowMs);
  const longEnough = countUntil(timesMs, last.timeMs - span.leastSpanMs) - 1;
  const farEnough = countUntil(blocks, last.block - span.leastBlocks) - 1;
  const first = pointAt(timeline, Math.min(inWindow, longEnough, farEnough));
  if (first === null) {
    return null;
  }
  const within = { fromMs: first.timeMs, toMs: last.timeMs };
  const pauses = pausesMs(timeline, { ...within, leastMs: 0 });
  const haltedMs = halts === null ? 0 : pausesMs(halts, { ...within, leastMs: HALT_MS });
  const movedMs = last.timeMs - first.timeMs - pauses - haltedMs;
  return movedMs > 0 ? movedMs / (last.block - first.block) : null;
}

/** For how long of a time span the chain stood still, each time for at least `leastMs`. */
function pausesMs(
  { blocks, timesMs }: Timeline,
  span: { readonly fromMs: number; readonly toMs: number; readonly leastMs: number },
): number {
  const end = countUntil(timesMs, span.toMs);
  let pauses = 0;
  for (let index = countBelow(timesMs, span.fromMs) + 1; index < end; index += 1) {
    if (blocks[index] === blocks[index - 1]) {
      const pauseMs = (timesMs[index] ?? 0) - (timesMs[index - 1] ?? 0);
      pauses += pauseMs >= span.leastMs ? pauseMs : 0;
    }
  }
  return pauses;
}

function pointAt({ blocks, timesMs }: Timeline, index: number): { block: number; timeMs: number } | null {
  const [block, timeMs] = [blocks[index], timesMs[index]];
  return block === undefined || timeMs === undefined ? null : { block, timeMs };
}

/** How many leading values are below `limit`. */
function countBelow(sorted: readonly number[], limit: number): number {
  return partition(sorted, (value) => value < limit);
}

/** How many leading values are at most `limit`. */
function countUntil(sorted: readonly number[], limit: number): number {
  return partition(sorted, (value) => value <= limit);
}

function partition(sorted: readonly number[], belongs: (value: number) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (belongs(sorted[middle] ?? Number.NaN)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/**
 * Drops the inner point with the least information: it lies close to the line between its neighbours, which are close
 * together for its age. So changes of pace are kept, and the spacing grows with the age.
 */
function thin(timeline: Timeline): void {
  const { blocks, timesMs } = timeline;
  if (blocks.length <= CAPACITY) {
    return;
  }
  let least = 1;
  let leastWorth = Number.POSITIVE_INFINITY;
  for (let index = 1; index < timesMs.length - 1; index += 1) {
    const worth = worthOf(timeline, index);
    if (worth < leastWorth) {
      least = index;
      leastWorth = worth;
    }
  }
  blocks.splice(least, 1);
  timesMs.splice(least, 1);
}

function worthOf({ blocks, timesMs }: Timeline, index: number): number {
  const before = timesMs[index - 1] ?? 0;
  const here = timesMs[index] ?? 0;
  const after = timesMs[index + 1] ?? 0;
  const low = blocks[index - 1] ?? 0;
  const high = blocks[index + 1] ?? 0;
  const share = high === low ? 0 : ((blocks[index] ?? 0) - low) / (high - low);
  const bendMs = Math.abs(here - (before + share * (after - before)));
  const ageMs = (timesMs.at(-1) ?? 0) - here + DENSE_MS;
  return ((after - before) * (bendMs + STRAIGHT_MS)) / ageMs;
}
