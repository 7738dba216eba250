/** The known pace of a chain. */
export interface Pace {
  readonly intervalMs: number | null;
  readonly measured: boolean;
}

/** Chains burst, and configured block times are wrong by a factor of two: generous, yet nothing to a jump of millions. */
const BURST_MEASURED = 4;
const BURST_CONFIGURED = 8;
/** Used while the pace is unknown: no chain is faster. */
export const FASTEST_INTERVAL_MS = 100;
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
