import type { Thresholds } from "../model/fleet.ts";
import { readAtMs, type Sample } from "../model/sample.ts";
import { idleMs, reached, type SourceState } from "../source/source-state.ts";

/** The known pace of a chain. */
export interface Pace {
  readonly intervalMs: number | null;
  readonly measured: boolean;
}

/** Chains burst, and configured block times are wrong by a factor of two: generous, yet nothing to a jump of millions. */
const BURST_MEASURED = 4;
const BURST_CONFIGURED = 8;
/** Used while the pace is unknown: no chain is faster. */
const FASTEST_INTERVAL_MS = 100;
const SLACK_BLOCKS = 16;
const SLACK_MS = 60_000;

/**
 * For about a poll, either way, a chain is taken to keep its usual pace: then it makes no difference at which moments
 * of a round two sources are asked.
 */
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
  readonly key: string;
  /** What answers: sources of one provider have their faults in common. */
  readonly provider: string;
  readonly kind: SourceState["kind"];
  /** The highest of its last few heights, and when that was read, to within `slackMs`. */
  readonly block: number;
  readonly atMs: number;
  readonly slackMs: number;
  /** The time of that very block, where it was told. */
  readonly timeMs: number | null;
  /** What that time says: `fresh`, the block was new when it was read; `old`, the source is behind by its own word. */
  readonly age: "fresh" | "old" | "unknown";
  /** When its height was last seen to grow; null where it never was, on its present track. */
  readonly advancedMs: number | null;
  /** How long its height had not grown when it last answered. */
  readonly idleMs: number;
  /** It goes so much faster than its chain that it cannot be at the head. */
  readonly isBackfilling: boolean;
  /** Oldest first. */
  readonly samples: readonly Sample[];
  /** Whether its hashes equal another source's, or once did: otherwise different hashes prove nothing. */
  readonly sharesHashes: boolean;
  readonly pollIntervalMs: number;
  readonly freshUntilMs: number;
}

export interface ClaimContext {
  readonly nowMs: number;
  readonly pace: Pace;
  readonly thresholds: Thresholds;
  /** By the source's key. */
  readonly watched: ReadonlyMap<string, { readonly provider: string }>;
}

/** Polls after which an observation is no longer evidence, if `stale` is shorter. */
const STALE_POLLS = 3;
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

/** How long an observation stays evidence. */
export function staleAfterMs(thresholds: Thresholds, pollIntervalMs: number): number {
  return Math.max(thresholds.staleMs, STALE_POLLS * pollIntervalMs);
}

/** Whether its newest height is still evidence. */
export function isFresh(source: SourceState, thresholds: Thresholds, nowMs: number): boolean {
  const newest = source.samples.at(-1);
  const staleMs = staleAfterMs(thresholds, source.pollIntervalMs);
  return newest !== undefined && nowMs - newest.receivedAtMs <= staleMs;
}

/**
 * The claims of all sources whose evidence is still fresh, by key: the order in which they came plays no part. Where all
 * have one provider, each counts for itself, because there is no other to ask.
 */
export function claimsOf(sources: readonly SourceState[], context: ClaimContext): readonly Claim[] {
  const claims = sources.flatMap((source) => claimOf(source, context) ?? []);
  const isOneProvider = claims.every(({ provider }) => provider === claims[0]?.provider);
  return (isOneProvider ? claims.map((claim) => ({ ...claim, provider: claim.key })) : claims).sort((a, b) =>
    a.key < b.key ? -1 : 1,
  );
}

function claimOf(source: SourceState, context: ClaimContext): Claim | null {
  const { pace, thresholds, watched } = context;
  const { key, kind, lastAdvanceMs, peak, pollIntervalMs, samples } = source;
  const newest = samples.at(-1);
  const reachedSample = reached(source);
  if (reachedSample === null || newest === undefined) {
    return null;
  }
  // After a larger step back than between replicas, only the newest height counts.
  const step = Math.max(STEP_BLOCKS, STEP_MS / (pace.intervalMs ?? STEP_MS));
  const highest = reachedSample.block - newest.block > step ? newest : reachedSample;
  const freshUntilMs = newest.receivedAtMs + staleAfterMs(thresholds, pollIntervalMs);
  if (freshUntilMs < context.nowMs) {
    return null;
  }
  return {
    key,
    provider: watched.get(key)?.provider ?? key,
    kind,
    block: highest.block,
    atMs: readAtMs(highest),
    slackMs: (highest.receivedAtMs - highest.sentAtMs) / 2,
    timeMs: highest.timestampSec === null ? null : highest.timestampSec * 1_000,
    age: ageOf(highest, context),
    advancedMs: peak !== null && peak.atMs === lastAdvanceMs ? peak.atMs : null,
    idleMs: idleMs(source),
    isBackfilling: isBackfilling(source, pace),
    samples,
    sharesHashes: source.sharesHashes,
    pollIntervalMs,
    freshUntilMs,
  };
}

function ageOf(sample: Sample, { pace, thresholds }: ClaimContext): Claim["age"] {
  if (sample.timestampSec === null) {
    return "unknown";
  }
  const ageMs = sample.receivedAtMs - sample.timestampSec * 1_000;
  if (ageMs <= Math.max(FRESH_MS, FRESH_BLOCKS * (pace.intervalMs ?? 0))) {
    return "fresh";
  }
  return ageMs > Math.max(OLD_MS, thresholds.laggingMs) ? "old" : "unknown";
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

/** An RPC node with a block time close to the wall clock. */
export function isProof({ age, kind }: Claim): boolean {
  return kind === "rpc" && age === "fresh";
}

export function providersOf(claims: readonly Claim[]): number {
  return new Set(claims.map(({ provider }) => provider)).size;
}

export function keysOf(claims: readonly Claim[]): readonly string[] {
  return claims.map(({ key }) => key);
}
