import { uptime } from "node:os";

/** If the wall clock and the monotonic clock drift apart by this, the wall clock was set or the machine slept. */
const PARTED_MS = 1_000;

/**
 * Whole milliseconds of a clock that never jumps, and advances while the machine sleeps. Asking the operating system takes 5
 * µs, so it is asked only when the wall clock and the monotonic clock have drifted apart.
 */
export function createUptime(): () => number {
  let wallOffsetMs = Date.now() - performance.now();
  let uptimeOffsetMs = uptime() * 1_000 - performance.now();
  return () => {
    const nowMs = performance.now();
    if (Math.abs(Date.now() - nowMs - wallOffsetMs) >= PARTED_MS) {
      wallOffsetMs = Date.now() - nowMs;
      uptimeOffsetMs = uptime() * 1_000 - nowMs;
    }
    return Math.round(nowMs + uptimeOffsetMs);
  };
}
