import { madeAtMs, readAtMs, type Sample, type Sighting, type WallOffset } from "../model/sample.ts";
import { highestSample, type SourceState } from "../source/source-state.ts";
import type { Pace } from "./consensus.ts";
import {
  areLevel,
  LARGE_STEP_BLOCKS,
  MINUTE_MS,
  mostBlocksIn,
  SLACK_BLOCKS,
  usualBlocksIn,
} from "./reach.ts";

/**
 * How late a source without block times can be, by assumption. A follower of Ethereum's final blocks is 19 minutes late at most.
 */
const UNDATED_LATE_MS = 1_200_000;

/** What one source reports about its chain, by its own last replies alone: the highest of its last few heights. */
export interface Claim extends Sighting {
  readonly key: string;
  /** Sources of one provider fail together, and count as one. */
  readonly provider: string;
  /** By how much `atMs` may be wrong. */
  readonly slackMs: number;
  /** The time of `block`, if the source reports it. */
  readonly timeMs: number | null;
  /** When its height last grew; null if it was never seen to grow, fell back by a large step, or back-fills. */
  readonly advancedMs: number | null;
  /** How long its height had not grown at its last reply. */
  readonly idleMs: number;
  /** True after its first reply: whether the source advances is not known yet. */
  readonly isFirst: boolean;
  readonly isNode: boolean;
  /** Its last heights with hashes; empty unless a hash was once the same as another source's. */
  readonly hashed: readonly Sample[];
  readonly freshUntilMs: number;
}

/**
 * Where the head is if the source is right: from `low` to `high` at the fastest pace of the chain, or from `low` to `usual` at
 * the usual pace.
 */
export interface Bounds {
  readonly low: number;
  readonly high: number;
  readonly usual: number;
}

/** The context of a source. `staleMs`: how long its evidence counts. */
interface Context {
  readonly provider: string;
  readonly staleMs: number;
  readonly pace: Pace;
  readonly wall: WallOffset;
}

/** What a source claims; null if it has shown no height. */
export function claimOf(source: SourceState, { provider, staleMs, pace, wall }: Context): Claim | null {
  const { key, kind, peak, samples } = source;
  const newest = samples.at(-1);
  const highest = highestSample(source);
  if (newest === undefined || highest === null) {
    return null;
  }
  // After a large step back only the newest height counts.
  const sample = highest.block - newest.block > LARGE_STEP_BLOCKS ? newest : highest;
  const hasFallen = (peak?.block ?? 0) - sample.block > LARGE_STEP_BLOCKS;
  const isUnbounded = hasFallen || isBackfilling(source, pace);
  return {
    key,
    provider,
    block: sample.block,
    atMs: readAtMs(sample),
    slackMs: (sample.receivedAtMs - sample.sentAtMs) / 2,
    timeMs: sample.timestampSec === null ? null : madeAtMs(sample.timestampSec, wall),
    advancedMs: !isUnbounded && peak !== null && peak.atMs === source.lastAdvanceMs ? peak.atMs : null,
    idleMs: peak === null ? 0 : Math.max(0, readAtMs(newest) - peak.atMs),
    isFirst: samples.length === 1 && source.verdict === null && !isUnbounded,
    isNode: kind === "rpc",
    hashed: source.sharesHashes ? samples.filter(({ hash }) => hash !== null) : [],
    freshUntilMs: newest.receivedAtMs + staleMs,
  };
}

/** Whether the source catches up: it advanced by more blocks than the chain can have made meanwhile, and still does so. */
export function isBackfilling({ samples }: Pick<SourceState, "samples">, pace: Pace): boolean {
  const [oldest, previous, newest] = [samples[0], samples.at(-2), samples.at(-1)];
  if (oldest === undefined || previous === undefined || newest === undefined) {
    return false;
  }
  const mostFrom = (from: Sample): number => mostBlocksIn(readAtMs(newest) - readAtMs(from), pace);
  return (
    newest.block - oldest.block > mostFrom(oldest) &&
    newest.block - previous.block > mostFrom(previous) - mostBlocksIn(0, pace)
  );
}

/** Whether the block was new when the source was read. */
export function isNew({ atMs, timeMs }: Claim, { intervalMs }: Pace): boolean {
  return timeMs !== null && atMs - timeMs <= Math.max(MINUTE_MS, SLACK_BLOCKS * (intervalMs ?? 0));
}

/**
 * The bounds that a source sets. A source with block times was at the head at the time of its block. A source without block
 * times was late by at most `UNDATED_LATE_MS` or `lagging`, whichever is longer, when it last advanced. With neither block
 * times nor `advancedMs`, a source has no upper bound, unless it has company.
 */
export function boundsOf(
  claim: Claim,
  claims: readonly Claim[],
  { nowMs, laggingMs, pace }: { readonly nowMs: number; readonly laggingMs: number; readonly pace: Pace },
): Bounds {
  const { block, timeMs } = claim;
  if (timeMs !== null) {
    const sinceMs = nowMs - timeMs;
    return {
      low: block,
      high: block + mostBlocksIn(sinceMs, pace),
      usual: block + usualBlocksIn(sinceMs, pace),
    };
  }
  const advancedMs = claim.advancedMs ?? (hasCompany(claim, claims, pace) ? claim.atMs : null);
  if (advancedMs === null) {
    return { low: block, high: Number.POSITIVE_INFINITY, usual: Number.POSITIVE_INFINITY };
  }
  const sinceMs = Math.max(0, nowMs - advancedMs);
  const late = Math.max(UNDATED_LATE_MS, laggingMs) / (pace.intervalMs ?? Number.POSITIVE_INFINITY);
  const usual = block + late + usualBlocksIn(sinceMs, pace);
  return { low: block, high: Math.max(block + mostBlocksIn(sinceMs, pace), usual), usual };
}

/**
 * Whether a source that was read for the first time is level with a source of another provider: two providers are unlikely to be
 * late by the same number of blocks.
 */
function hasCompany(claim: Claim, claims: readonly Claim[], pace: Pace): boolean {
  return (
    claim.isFirst &&
    claims.some(
      (other) =>
        other.provider !== claim.provider &&
        (other.isFirst || other.advancedMs !== null) &&
        areLevel(other, claim, pace),
    )
  );
}
