import { type ChainClock, referenceAt, timeBetween } from "../head/chain-clock.ts";
import type { HeadState } from "../head/choose-head.ts";
import { readAtMs } from "../model/sample.ts";
import { newestSample, reached, type SourceState } from "../source/source-state.ts";

/** How far a target is behind the reference, at the instant of its last answer. */
export interface Lag {
  readonly blocks: number;
  /** Null while nothing tells how long a block takes. */
  readonly ms: number | null;
  readonly extrapolated: boolean;
}

/** What a lag is measured against. */
interface Measure {
  readonly reference: HeadState | null;
  readonly clock: ChainClock;
  readonly intervalMs: number | null;
}

const LEVEL: Lag = { blocks: 0, ms: 0, extrapolated: false };

/** A head that was confirmed for so long stands still: sources that are asked together read it seconds apart. */
const STANDS_MS = 1_000;
const STANDS_BLOCKS = 3;

/** Whether the head was confirmed for longer than blocks take: then nobody can say that there is a newer one. */
function standsStill({ atMs, reachedMs }: HeadState, intervalMs: number | null): boolean {
  return intervalMs === null || atMs - reachedMs > STANDS_MS + STANDS_BLOCKS * intervalMs;
}

/**
 * Measures a target's lag. The reference is taken at the instant of the target's own answer, so that one which is
 * polled twice an hour is not behind merely for that; who has the reference's block is level with it, however long that
 * stands. Never negative; null without a height or a reference.
 */
export function measureLag(target: SourceState, { reference, clock, intervalMs }: Measure): Lag | null {
  const newest = newestSample(target);
  const head = reached(target);
  if (reference === null || head === null) {
    return null;
  }
  if (head.block >= reference.block && standsStill(reference, intervalMs)) {
    return LEVEL;
  }
  const to = newest === null ? null : referenceAt(clock, readAtMs(newest), intervalMs);
  if (to === null) {
    return null;
  }
  const blocks = Math.round(to) - head.block;
  if (blocks <= 0) {
    return LEVEL;
  }
  const time = timeBetween(clock, { from: head.block, fromTimestampSec: head.timestampSec, to }, intervalMs);
  return { blocks, ms: time?.ms ?? null, extrapolated: time?.extrapolated ?? false };
}
