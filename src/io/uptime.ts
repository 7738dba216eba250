import { uptime } from "node:os";

/** The wall clock and the monotonic one part by less than this unless one was set, or the machine slept. */
const PARTED_MS = 1_000;

/**
 * Whole milliseconds of a clock that never jumps and goes on while the machine sleeps. The operating system takes 5 µs to reply, so it is
 * asked only when the wall clock has parted from the monotonic one.
 */
export function createUptime(): () => number {
  let offsetMs = Date.now() - performance.now();
  let sleptMs = uptime() * 1_000 - performance.now();
  return () => {
    const nowMs = performance.now();
    if (Math.abs(Date.now() - nowMs - offsetMs) >= PARTED_MS) {
      offsetMs = Date.now() - nowMs;
      sleptMs = uptime() * 1_000 - nowMs;
    }
    return Math.round(nowMs + sleptMs);
  };
}
