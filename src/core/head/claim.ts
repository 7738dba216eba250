import { readAtMs, type Sample } from "../model/sample.ts";
import { idleMs, reached, type SourceState } from "../source/source-state.ts";
import { type ChainAt, isFresh, type Pace, staleAfterMs, stalledAfterMs, type Track } from "./chain-state.ts";

/** Chains burst, and configured block times are wrong by a factor of two: generous, yet nothing to a jump of millions. */
const BURST_MEASURED = 4;
const BURST_CONFIGURED = 8;
/** Used while the pace is unknown: no chain is faster. */
const FASTEST_INTERVAL_MS = 100;
const SLACK_BLOCKS = 16;
const SLACK_MS = 60_000;
/** For about a poll, either way, a chain keeps its usual pace: so the order of replies within a round makes no difference. */
const STEADY_MS = 15_000;

/** The most blocks that a chain can have made in `spanMs`. */
export function mostBlocksIn(spanMs: number, pace: Pace): number {
  const burst = pace.measured ? BURST_MEASURED : BURST_CONFIGURED;
  const intervalMs = pace.intervalMs ?? FASTEST_INTERVAL_MS;
  const steadyMs = Math.min(Math.max(spanMs, -STEADY_MS), STEADY_MS);
  const burstMs = Math.max(spanMs, STEADY_MS) + SLACK_MS;
  return SLACK_BLOCKS + (burst * burstMs - (STEADY_MS - steadyMs)) / intervalMs;
}

/** What one source says of its chain's head: made from its own last answers alone. */
export interface Claim {
  readonly source: SourceState;
  readonly key: string;
  /** What answers: sources of one provider have their faults in common. */
  readonly provider: string;
  /** The highest of its last few heights, and when that was read, to within `slackMs`. */
  readonly block: number;
  readonly atMs: number;
  readonly slackMs: number;
  /** The time of that very block, where it was told. */
  readonly timeMs: number | null;
  /** What that time says: `fresh`, the block was new when it was read; `old`, the source is behind by its own word. */
  readonly age: "fresh" | "old" | "unknown";
  /** The block was new when it was first seen. */
  readonly wasNew: boolean;
  /** An RPC node with a fresh block. */
  readonly isProof: boolean;
  /** When its height was last seen to grow; null where it never was, on its present track. */
  readonly advancedMs: number | null;
  /** How long its height had not grown when it last answered. */
  readonly idleMs: number;
  /** Its height grows, and is not old. */
  readonly isMoving: boolean;
  /** It goes so much faster than its chain that it cannot be at the head. */
  readonly isBackfilling: boolean;
  readonly freshUntilMs: number;
  /** By how many blocks it is above the extrapolated track (negative: below it). */
  readonly aboveTrack: number;
  /** The same, but 0 within the tolerance. */
  readonly offTrack: number;
  /** It was level with the track before ... */
  readonly wasOnTrack: boolean;
  /** ... and is now at the track's extrapolation. */
  readonly isOnTrack: boolean;
  /** When its block was provably the head, or null where nothing says that it ever was. */
  atHeadMs: number | null;
}

/** A block that was so old when it was read, or ten blocks, may still have been the head. */
const FRESH_MS = 60_000;
const FRESH_BLOCKS = 10;
/** A block this old was not, by its source's own word. */
const OLD_MS = 600_000;
/** Replicas behind one URL are no further apart than these blocks, or what the chain makes in this time. */
const STEP_BLOCKS = 256;
const STEP_MS = 600_000;
/** A source that goes this much faster than its chain is back-filling ... */
const BACKFILL_FACTOR = 3;
/** ... but the replicas behind one URL may be so far apart. */
const BACKFILL_SLACK_BLOCKS = 300;

/**
 * The claims of all sources whose evidence is still fresh, by key: the order in which they came plays no part. Where all
 * have one provider, each counts for itself, because there is no other to ask.
 */
export function claimsOf(at: ChainAt): readonly Claim[] {
  const { sources } = at.watched;
  const fresh = at.state.sources.filter((source) => isFresh(source, at.watched.chain.thresholds, at.nowMs));
  const providers = fresh.map(({ key }) => sources.get(key)?.provider ?? key);
  const isOneProvider = providers.every((provider) => provider === providers[0]);
  return fresh.flatMap(
    (source, index) =>
      claimOf(source, isOneProvider ? source.key : (providers[index] ?? source.key), at) ?? [],
  );
}

function claimOf(source: SourceState, provider: string, at: ChainAt): Claim | null {
  const { pace, state, watched } = at;
  const { thresholds } = watched.chain;
  const { track } = state.consensus;
  const { key, kind, lastAdvanceMs, peak, pollIntervalMs, samples } = source;
  const newest = samples.at(-1);
  const highest = reached(source);
  if (highest === null || newest === undefined) {
    return null;
  }
  // After a larger step back than between replicas, only the newest height counts.
  const step = Math.max(STEP_BLOCKS, STEP_MS / (pace.intervalMs ?? STEP_MS));
  const sample = highest.block - newest.block > step ? newest : highest;
  const ageAt = (readMs: number) => ageOf(sample.timestampSec, readMs, thresholds.laggingMs, pace);
  const age = ageAt(sample.receivedAtMs);
  const idle = idleMs(source);
  const aboveTrack = blocksAbove(track, sample, pace);
  const offTrack = withTolerance(aboveTrack, track, sample, pace);
  const wasOnTrack = track?.members.includes(key) === true;
  return {
    source,
    key,
    provider,
    block: sample.block,
    atMs: readAtMs(sample),
    slackMs: (sample.receivedAtMs - sample.sentAtMs) / 2,
    timeMs: sample.timestampSec === null ? null : sample.timestampSec * 1_000,
    age,
    wasNew: ageAt(peak?.block === sample.block ? peak.atMs : sample.receivedAtMs) === "fresh",
    isProof: kind === "rpc" && age === "fresh",
    advancedMs: peak !== null && peak.atMs === lastAdvanceMs ? peak.atMs : null,
    idleMs: idle,
    isMoving: age !== "old" && idle <= stalledAfterMs(thresholds, pace),
    isBackfilling: isBackfilling(source, pace),
    freshUntilMs: newest.receivedAtMs + staleAfterMs(thresholds, pollIntervalMs),
    aboveTrack,
    offTrack,
    wasOnTrack,
    isOnTrack: wasOnTrack && offTrack === 0,
    atHeadMs: null,
  };
}

function ageOf(timestampSec: number | null, readMs: number, laggingMs: number, pace: Pace): Claim["age"] {
  if (timestampSec === null) {
    return "unknown";
  }
  const ageMs = readMs - timestampSec * 1_000;
  if (ageMs <= Math.max(FRESH_MS, FRESH_BLOCKS * (pace.intervalMs ?? 0))) {
    return "fresh";
  }
  return ageMs > Math.max(OLD_MS, laggingMs) ? "old" : "unknown";
}

/** Whether it goes so much faster than its chain, and still does, that it cannot be at the head. */
export function isBackfilling({ samples }: Pick<SourceState, "samples">, pace: Pace): boolean {
  const [oldest, previous, newest] = [samples[0], samples.at(-2), samples.at(-1)];
  if (oldest === undefined || previous === undefined || newest === undefined) {
    return false;
  }
  return (
    excessBlocks(oldest, newest, pace) > BACKFILL_SLACK_BLOCKS && excessBlocks(previous, newest, pace) > 0
  );
}

/** By how many blocks it went further than the chain can be believed to. */
function excessBlocks(from: Sample, to: Sample, pace: Pace): number {
  const usual = (readAtMs(to) - readAtMs(from)) / (pace.intervalMs ?? FASTEST_INTERVAL_MS);
  return to.block - from.block - BACKFILL_FACTOR * usual;
}

/** A source within so much of the track is on it. */
const ON_TRACK_MS = 10_000;
const ON_TRACK_BLOCKS = 4;
/** Sources are level if their heights at one instant differ by at most this. */
const LEVEL_MS = 60_000;
const LEVEL_BLOCKS = 3;
const LEVEL_BLOCKS_WITHOUT_PACE = 10;
/** How wrong a pace may be: measured over minutes, or only configured. */
const PACE_ERROR = { measured: 0.02, configured: 0.5 };

/** By how many blocks a height is above the track. While the pace is unknown, every height that the chain can have reached is on it. */
function blocksAbove(track: Track | null, sample: Sample, pace: Pace): number {
  if (track === null) {
    return 0;
  }
  const spanMs = readAtMs(sample) - track.atMs;
  if (track.intervalMs === null) {
    const most = track.block + mostBlocksIn(spanMs, pace);
    return sample.block - Math.min(Math.max(sample.block, track.block), most);
  }
  return sample.block - track.block - spanMs / track.intervalMs;
}

function withTolerance(above: number, track: Track | null, sample: Sample, pace: Pace): number {
  if (track === null || track.intervalMs === null) {
    return Math.abs(above) <= LEVEL_BLOCKS_WITHOUT_PACE ? 0 : above;
  }
  const errorMs = paceError(pace) * Math.abs(readAtMs(sample) - track.atMs);
  return Math.abs(above) <= Math.max(ON_TRACK_BLOCKS, (ON_TRACK_MS + errorMs) / track.intervalMs) ? 0 : above;
}

/** Whether two sources are at one height, within the uncertainty of latencies and pace, though asked at different instants. */
export function areLevel(a: Claim, b: Claim, pace: Pace): boolean {
  const [older, newer] = a.atMs <= b.atMs ? [a, b] : [b, a];
  const spanMs = newer.atMs - older.atMs;
  const grown = newer.block - older.block;
  const { intervalMs } = pace;
  if (intervalMs === null) {
    return Math.abs(grown) <= LEVEL_BLOCKS_WITHOUT_PACE;
  }
  const apart = grown > 0 ? grown - spanMs / intervalMs : -grown;
  return apart <= Math.max(LEVEL_BLOCKS, (LEVEL_MS + paceError(pace) * spanMs) / intervalMs);
}

/** Whether so many blocks are no more than the chain makes in a minute. */
export function isWithinMinute(blocks: number, { intervalMs }: Pace): boolean {
  return (
    blocks <=
    (intervalMs === null ? LEVEL_BLOCKS_WITHOUT_PACE : Math.max(LEVEL_BLOCKS, LEVEL_MS / intervalMs))
  );
}

/** The height that it has at an instant, if it advances as the chain does. */
export function carriedTo(toMs: number, { atMs, block }: Claim, { intervalMs }: Pace): number {
  return intervalMs === null ? block : block + (toMs - atMs) / intervalMs;
}

function paceError({ measured }: Pace): number {
  return measured ? PACE_ERROR.measured : PACE_ERROR.configured;
}

/**
 * The sources at the highest block: if they stand still, so does the chain, as far as anybody knows. A source that was late when it
 * came there may not be at the head.
 */
export function highestIn(claims: readonly Claim[]): readonly Claim[] {
  const highest = Math.max(...claims.map(({ block }) => block));
  return claims.filter(({ block, timeMs, wasNew }) => block === highest && (timeMs === null || wasNew));
}

export function providersOf(claims: readonly Claim[]): number {
  return new Set(claims.map(({ provider }) => provider)).size;
}

export function keysOf(claims: readonly Claim[]): readonly string[] {
  return claims.map(({ key }) => key);
}

/** The items of the greatest weight, in their order: of two weights the first number that differs decides. */
export function heaviest<Item>(
  items: readonly Item[],
  weigh: (item: Item) => readonly number[],
): readonly Item[] {
  let best: Item[] = [];
  let bestWeight: readonly number[] = [];
  for (const item of items) {
    const weight = weigh(item);
    const at = weight.findIndex((number, index) => number !== bestWeight[index]);
    if (at === -1) {
      best.push(item);
    } else if ((weight[at] ?? 0) > (bestWeight[at] ?? Number.NEGATIVE_INFINITY)) {
      best = [item];
      bestWeight = weight;
    }
  }
  return best;
}
