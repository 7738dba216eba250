import type { Head, PollTimes } from "./observation.ts";

/** A height that a source gave, with the interval in which it was read. */
export interface Sample extends PollTimes {
  readonly block: number;
  readonly timestampSec: number | null;
  readonly hash: string | null;
}

/** Chains' clocks run ahead of ours by seconds: a timestamp more than a minute later than now is not a time at all. */
const MAX_AHEAD_MS = 60_000;

/** What is kept of a head. A timestamp that cannot be one is dropped. */
export function sampleOf(head: Head, times: PollTimes): Sample {
  return {
    block: head.block,
    timestampSec: credibleTimestamp(head.timestampSec, times.receivedAtMs),
    hash: head.hash,
    sentAtMs: times.sentAtMs,
    receivedAtMs: times.receivedAtMs,
  };
}

/** The best single guess of the instant at which the height was read, unix milliseconds. */
export function readAtMs(times: PollTimes): number {
  return (times.sentAtMs + times.receivedAtMs) / 2;
}

/** A height is a positive safe integer. */
export function isHeight(block: number): boolean {
  return Number.isSafeInteger(block) && block > 0;
}

function credibleTimestamp(timestampSec: number | null, receivedAtMs: number): number | null {
  if (timestampSec === null || !(timestampSec > 0)) {
    return null;
  }
  return timestampSec * 1_000 <= receivedAtMs + MAX_AHEAD_MS ? timestampSec : null;
}
