/** How fast a chain makes blocks, as far as it is known. */
export interface Pace {
  readonly intervalMs: number | null;
  readonly measured: boolean;
}

/** Chains burst, and configured block times are wrong by a factor of two: generous, yet nothing to a jump of millions. */
const BURST_MEASURED = 4;
const BURST_CONFIGURED = 8;
/** Where nobody knows the pace: no chain is faster. */
export const FASTEST_INTERVAL_MS = 100;
const SLACK_BLOCKS = 16;
const SLACK_MS = 60_000;

/** The most blocks that a chain can have made in `spanMs`. */
export function mostBlocksIn(spanMs: number, pace: Pace): number {
  const burst = pace.measured ? BURST_MEASURED : BURST_CONFIGURED;
  const intervalMs = pace.intervalMs ?? FASTEST_INTERVAL_MS;
  return SLACK_BLOCKS + (burst * (Math.max(0, spanMs) + SLACK_MS)) / intervalMs;
}
