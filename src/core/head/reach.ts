import type { Sighting } from "../model/sample.ts";
import type { Pace } from "./consensus.ts";

/*
 * How many blocks a chain can make in a time: the most that it can make at all (`mostBlocksIn`), above which a source is wrong;
 * and the most that it usually makes (`usualBlocksIn`), which says where its head is expected.
 */

/** Shorter times mean nothing: replies come one after the other, delayed, or from caches. */
export const MINUTE_MS = 60_000;
/** Chains that make up for a halt were seen at three to four times their pace. */
const BURST = 4;
/** A configured block time may be twice the true one, or half of it. */
export const CONFIGURED_FACTOR = 2;
/** Used while the pace is unknown: no known chain is faster. */
const FASTEST_INTERVAL_MS = 100;
/** Allowed on top of what the chain makes in any time: reorgs at the tip and batches of blocks are smaller. */
export const SLACK_BLOCKS = 16;
/**
 * Reorgs move a height by fewer blocks. A larger step back means that the source indexes again, or that a replica is far
 * behind. An excluded height that is above the others by more than this is not exported.
 */
export const LARGE_STEP_BLOCKS = 256;
/** Chance alone exceeds three standard deviations in one case of 700. */
export const DEVIATIONS = 3;

/** The most blocks that a chain can have made in `spanMs`. */
export function mostBlocksIn(spanMs: number, { intervalMs, isMeasured }: Pace): number {
  const burst = isMeasured ? BURST : BURST * CONFIGURED_FACTOR;
  return SLACK_BLOCKS + (burst * Math.max(0, spanMs) + MINUTE_MS) / (intervalMs ?? FASTEST_INTERVAL_MS);
}

/** The most blocks that a chain usually makes in `spanMs`; infinite while its pace is unknown. */
export function usualBlocksIn(spanMs: number, pace: Pace): number {
  const { fastestMs } = pace;
  if (fastestMs === null) {
    return Number.POSITIVE_INFINITY;
  }
  const past = Math.max(0, spanMs);
  return (past + MINUTE_MS) / fastestMs + DEVIATIONS * Math.sqrt(past / fastestMs);
}

/** Whether `blocks` are at most what the chain makes in a minute. */
export function isWithinMinute(blocks: number, { intervalMs }: Pace): boolean {
  return blocks <= (intervalMs === null ? SLACK_BLOCKS : MINUTE_MS / intervalMs);
}

/** Whether two sources are at the same height to within a minute, allowing for the instants at which they were read. */
export function areLevel(a: Sighting, b: Sighting, pace: Pace): boolean {
  const [older, newer] = a.atMs <= b.atMs ? [a, b] : [b, a];
  const grown = newer.block - older.block;
  const spanMs = newer.atMs - older.atMs;
  const { intervalMs } = pace;
  const apart = grown > 0 ? grown - spanMs / (intervalMs ?? Number.POSITIVE_INFINITY) : -grown;
  return isWithinMinute(apart, pace);
}
