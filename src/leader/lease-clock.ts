/** Clocks to make a lease's clock of. */
interface Clocks {
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

/**
 * A clock for leases, in milliseconds from an arbitrary instant. It advances by what the faster of the wall clock and the
 * monotonic one has advanced since the last reading: the monotonic one may stand still while the machine sleeps, the wall
 * clock may be set back. A wall clock that is set forward ends a lease early, which is safe.
 */
export function createLeaseClock(clocks: Clocks): () => number {
  let wallMs = clocks.nowMs();
  let monotonicMs = clocks.monotonicMs();
  let readMs = 0;
  return () => {
    const [wall, monotonic] = [clocks.nowMs(), clocks.monotonicMs()];
    readMs += Math.max(wall - wallMs, monotonic - monotonicMs, 0);
    [wallMs, monotonicMs] = [wall, monotonic];
    return readMs;
  };
}
