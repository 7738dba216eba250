import { type ChainClock, referenceAt, timeBetween } from "../head/chain-clock.ts";
import type { HeadState } from "../head/choose-head.ts";
import { readAtMs } from "../model/sample.ts";
import { newestSample, reached, type SourceState } from "../source/source-state.ts";

/** How far a target is behind the reference, or without one the clock, at the instant of its last reply. */
export interface Lag {
  /** Null without a reference. */
  readonly blocks: number | null;
  /** Null while the time of a block is unknown. */
  readonly ms: number | null;
  readonly extrapolated: boolean;
}

/** What a lag is measured against. */
interface Measure {
  readonly reference: HeadState | null;
  readonly clock: ChainClock;
  readonly intervalMs: number | null;
}

/** Between two sightings the reference is known to within a block, so less than a block is no lag. */
const LEAST_BLOCKS = 1;
const LEVEL: Lag = { blocks: 0, ms: 0, extrapolated: false };

/**
 * Measures a target's lag. The reference is taken at the instant of the target's own reply, so that a target polled twice
 * an hour is not behind for that reason alone; a target at the reference's block is level with it, whenever it was asked,
 * because no source has shown a newer block.
 *
 * Without a reference the lag is the age that the target's block had when it was read, less the usual time between blocks.
 * Never negative; null without a height, and without both a reference and a block time.
 */
export function measureLag(target: SourceState, { reference, clock, intervalMs }: Measure): Lag | null {
  const newest = newestSample(target);
  const head = reached(target);
  if (newest === null || head === null) {
    return null;
  }
  if (reference === null) {
    return lagByClock(head.timestampSec, newest.receivedAtMs, intervalMs);
  }
  if (head.block >= reference.block) {
    return LEVEL;
  }
  const to = referenceAt(clock, readAtMs(newest), intervalMs);
  if (to === null) {
    return null;
  }
  if (to - head.block < LEAST_BLOCKS) {
    return LEVEL;
  }
  const blocks = Math.round(to) - head.block;
  const time = timeBetween(clock, { from: head.block, fromTimestampSec: head.timestampSec, to }, intervalMs);
  return { blocks, ms: time?.ms ?? null, extrapolated: time?.extrapolated ?? false };
}

function lagByClock(timestampSec: number | null, readMs: number, intervalMs: number | null): Lag | null {
  return timestampSec === null
    ? null
    : {
        blocks: null,
        ms: Math.max(0, readMs - timestampSec * 1_000 - (intervalMs ?? 0)),
        extrapolated: false,
      };
}
