import { readFileSync } from "node:fs";

const EVERY_MS = 1;
const NS_IN_MS = 1e6;

/**
 * Notes how long the event loop does not turn, until it is stopped, which tells the longest stretch in milliseconds;
 * without the time in which this thread could have run and the kernel let others run. A timer, and no turn after turn of
 * immediates: that would take a core from what is measured.
 */
export function watchTurns(): () => number {
  let longestMs = 0;
  let last = now();
  const note = (): void => {
    const next = now();
    longestMs = Math.max(longestMs, next.ms - last.ms - (next.delayMs - last.delayMs) - EVERY_MS);
    last = next;
  };
  const timer = setInterval(note, EVERY_MS);
  return () => {
    note();
    clearInterval(timer);
    return longestMs;
  };
}

/** The time, and how long this thread has waited for a core until then: read again if it had to wait in between. */
function now() {
  let delayMs = waitedMs();
  for (;;) {
    const ms = performance.now();
    const laterMs = waitedMs();
    if (laterMs === delayMs) {
      return { ms, delayMs };
    }
    delayMs = laterMs;
  }
}

/** The second number of Linux' Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat. */
function waitedMs(): number {
  const [, delayNs] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
  return Number(delayNs) / NS_IN_MS;
}
