/**
 * Loaded into a program by `node --import`: notes how late its event loop turns. At SIGUSR2 it tells so in a line on
 * stderr, in milliseconds, and begins anew.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";

/** A timer of so many milliseconds should fire; what it takes beyond them is the delay. */
const STEP_MS = 10;
// oxlint-disable-next-line typescript/no-unsafe-assignment -- A program that is measured loads no TypeScript.
const delay = monitorEventLoopDelay({ resolution: STEP_MS });
delay.enable();

process.on("SIGUSR2", () => {
  const told = { p99: late(delay.percentile(99)), longest: late(delay.max) };
  process.stderr.write(`loop delay ${JSON.stringify(told)}\n`);
  delay.reset();
});

function late(ns) {
  return Math.max(0, ns / 1e6 - STEP_MS);
}
