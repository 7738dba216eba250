/** The clock that budgets are counted by. */
export interface SteadyClock {
  /** Unix milliseconds as of the start of the process, gone on since without a jump. */
  readonly nowMs: () => number;
  /**
   * How far the wall clock has got ahead of it since, by a jump or a sleep of the machine, rounded up to whole steps so
   * that it seldom changes; 0 where it is behind. What is written for the next process is shifted by it: that one
   * starts with the wall clock, and must not find what was spent older than it is.
   */
  readonly aheadMs: () => number;
}

const STEP_MS = 600_000;
/** So much the two clocks differ without a jump. */
const DRIFT_MS = 1_000;

/** A wall clock put forward by an hour would free what was spent within it: so no budget looks at that clock twice. */
export function createSteadyClock(clocks: {
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}): SteadyClock {
  const startMs = clocks.nowMs() - clocks.monotonicMs();
  const nowMs = () => Math.round(startMs + clocks.monotonicMs());
  return {
    nowMs,
    aheadMs() {
      const aheadMs = clocks.nowMs() - nowMs();
      return aheadMs <= DRIFT_MS ? 0 : Math.ceil(aheadMs / STEP_MS) * STEP_MS;
    },
  };
}
