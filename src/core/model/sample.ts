import type { Head, PollTimes, ReportedBlock } from "./observation.ts";
import { isoTime } from "./text.ts";

/** A height that a source reported, with the interval in which it was read. */
export interface Sample extends ReportedBlock, PollTimes {}

/** A height, and the best single guess of the instant at which it was seen. */
export interface Sighting {
  readonly block: number;
  readonly atMs: number;
}

/** The clock of a chain may be seconds ahead of ours. A timestamp more than a minute in the future is invalid. */
const MAX_AHEAD_MS = 60_000;

/** The sample of a head. An impossible timestamp is dropped. `wall`: the offset of the wall clock. */
export function sampleOf(head: Head, times: PollTimes, wall: WallOffset): Sample {
  const { timestampSec } = head;
  const isTime =
    timestampSec !== null &&
    timestampSec > 0 &&
    madeAtMs(timestampSec, wall) <= times.receivedAtMs + MAX_AHEAD_MS;
  return {
    block: head.block,
    timestampSec: isTime ? timestampSec : null,
    hash: head.hash,
    sentAtMs: times.sentAtMs,
    receivedAtMs: times.receivedAtMs,
  };
}

/** The wall clock less our own monotonic clock. */
export interface WallOffset {
  readonly wallOffsetMs: number;
}

/** The time of a block on our own clock, by its timestamp. */
export function madeAtMs(timestampSec: number, { wallOffsetMs }: WallOffset): number {
  return timestampSec * 1_000 - wallOffsetMs;
}

/** What the wall clock shows at an instant of our own clock, as an ISO 8601 time. */
export function wallTime(ms: number, { wallOffsetMs }: WallOffset): string {
  return isoTime(ms + wallOffsetMs);
}

/** The best single guess of the instant at which the height was read. */
export function readAtMs(times: PollTimes): number {
  return (times.sentAtMs + times.receivedAtMs) / 2;
}

/** A height is a positive safe integer. */
export function isHeight(block: number): boolean {
  return Number.isSafeInteger(block) && block > 0;
}
