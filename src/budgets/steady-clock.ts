/** The clock that budgets are counted by. */
export interface SteadyClock {
  /** Unix milliseconds, advanced from the start of the process without a jump. */
  readonly nowMs: () => number;
  /**
   * How far the wall clock has moved ahead of it since, by a jump or a sleep of the machine; 0 where it is behind. It is
   * rounded up to whole steps so that it seldom changes. What is written for the next process is shifted by it: that one
   * starts with the wall clock, and must not take spending for older than it is.
   */
  readonly aheadMs: () => number;
}

const STEP_MS = 600_000;
/** The two clocks differ by this much without a jump. */
const DRIFT_MS = 1_000;

/**
 * A wall clock put forward by an hour would free what was spent in that hour, so budgets read it only once.
 * One that was set back while no process ran would write what is spent where a right clock no longer counts it, so the
 * clock does not start before `savedAtMs`, when the budgets were saved.
 */
export function createSteadyClock(
  clocks: { readonly nowMs: () => number; readonly monotonicMs: () => number },
  savedAtMs: number,
): SteadyClock {
  const startMs = Math.max(savedAtMs, clocks.nowMs()) - clocks.monotonicMs();
  const nowMs = () => Math.round(startMs + clocks.monotonicMs());
  return {
    nowMs,
    aheadMs() {
      const aheadMs = clocks.nowMs() - nowMs();
      return aheadMs <= DRIFT_MS ? 0 : Math.ceil(aheadMs / STEP_MS) * STEP_MS;
    },
  };
}
