import { formatCount, formatDuration } from "./text.ts";

/**
 * How far behind a target may be, as configured: in time or in blocks. At a known pace, a limit in blocks also has a time. The
 * lag of a target has the same parts.
 */
export interface Limit {
  readonly ms: number | null;
  readonly blocks: number | null;
}

/** The limit; if it is in blocks and the pace is known, also with the time of these blocks. */
export function atPace(limit: Limit, intervalMs: number | null): Limit {
  return limit.blocks === null || intervalMs === null ? limit : { ...limit, ms: limit.blocks * intervalMs };
}

/** Whether a lag is beyond a limit: by time or, if either has no time, by blocks. Null: they cannot be compared. */
export function isBeyond(lag: Limit, limit: Limit): boolean | null {
  if (lag.ms !== null && limit.ms !== null) {
    return lag.ms > limit.ms;
  }
  return lag.blocks !== null && limit.blocks !== null ? lag.blocks > limit.blocks : null;
}

/** The limit as configured, and for blocks also the time that they take: `50 blocks (2 min)`. */
export function limitText({ ms, blocks }: Limit): string {
  const time = ms === null ? "" : formatDuration(ms);
  if (blocks === null) {
    return time;
  }
  return `${formatCount(blocks, "block")}${time === "" ? "" : ` (${time})`}`;
}
