import type { Thresholds } from "./fleet.ts";
import { atPace } from "./limit.ts";
import type { Sample } from "./sample.ts";

/**
 * An observation is stale after this number of polls, or after `stale` if that is longer: one poll may fail, and the next may
 * be late.
 */
const STALE_POLLS = 3;
/**
 * A target is stalled after this number of block times without an advance, or after `stalled` if that is longer. Even on a
 * chain whose blocks come at random, a pause of fifty block times practically never occurs.
 */
const STALLED_BLOCKS = 50;

/** The thresholds; if the pace is known, thresholds in blocks also get a time. */
export function thresholdsAtPace(thresholds: Thresholds, intervalMs: number | null): Thresholds {
  const { lagging, critical } = thresholds;
  return { ...thresholds, lagging: atPace(lagging, intervalMs), critical: atPace(critical, intervalMs) };
}

/** After what time an observation is stale. */
export function staleAfterMs(thresholds: Thresholds, pollIntervalMs: number): number {
  return Math.max(thresholds.staleMs, STALE_POLLS * pollIntervalMs);
}

/** Whether the newest height of a source is not stale. */
export function isFresh(
  source: { readonly samples: readonly Sample[]; readonly pollIntervalMs: number },
  thresholds: Thresholds,
  nowMs: number,
): boolean {
  const newest = source.samples.at(-1);
  const staleMs = staleAfterMs(thresholds, source.pollIntervalMs);
  return newest !== undefined && nowMs - newest.receivedAtMs <= staleMs;
}

/** The time without an advance after which a target is stalled. */
export function stalledAfterMs(
  thresholds: Thresholds,
  { intervalMs }: { readonly intervalMs: number | null },
): number {
  return Math.max(thresholds.stalledMs, STALLED_BLOCKS * (intervalMs ?? 0));
}
