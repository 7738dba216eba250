import { type ChainClock, referenceAt, timeBetween } from "../head/chain-clock.ts";
import { readAtMs } from "../model/sample.ts";
import { newestSample, reached, type SourceState } from "../source/source-state.ts";

/** How far a target is behind the reference, at the instant of its last answer. */
export interface Lag {
  readonly blocks: number;
  /** Null while nothing tells how long a block takes. */
  readonly ms: number | null;
  readonly extrapolated: boolean;
}

/**
 * Measures a target's lag. The reference is taken at the instant of the target's own answer, so that one which is
 * polled twice an hour is not behind merely for that. Never negative; null without a height.
 */
export function measureLag(target: SourceState, clock: ChainClock, intervalMs: number | null): Lag | null {
  const newest = newestSample(target);
  const head = reached(target);
  const to = newest === null ? null : referenceAt(clock, readAtMs(newest), intervalMs);
  if (head === null || to === null) {
    return null;
  }
  const blocks = Math.round(to) - head.block;
  if (blocks <= 0) {
    return { blocks: 0, ms: 0, extrapolated: false };
  }
  const time = timeBetween(clock, { from: head.block, fromTimestampSec: head.timestampSec, to }, intervalMs);
  return { blocks, ms: time?.ms ?? null, extrapolated: time?.extrapolated ?? false };
}
