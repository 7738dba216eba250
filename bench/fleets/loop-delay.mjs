/**
 * Loaded into a program by `node --import`: notes how late its event loop turns, in milliseconds. When asked, it says so
 * and begins anew.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { tellWhenAsked } from "../programs/tell.mjs";

/** A timer of so many milliseconds should fire; what it takes beyond them is the delay. */
const STEP_MS = 10;
const delay = monitorEventLoopDelay({ resolution: STEP_MS });
delay.enable();

tellWhenAsked(() => {
  const told = { p99: late(delay.percentile(99)), longest: late(delay.max) };
  delay.reset();
  return told;
});

function late(ns) {
  return Math.max(0, ns / 1e6 - STEP_MS);
}
