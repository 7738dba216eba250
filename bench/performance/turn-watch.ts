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

/** The second number is how long the thread waited for a core (Linux' Documentation/scheduler/sched-stats.rst). */
function now() {
  const [, delayNs] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
  return { ms: performance.now(), delayMs: Number(delayNs) / NS_IN_MS };
}
