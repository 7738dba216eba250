import { formatDuration } from "../../core/model/text.ts";

const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

/** The shortest form, for a cell of the matrix: `1.5s`, `41m`, `3h`, `5d`. */
export function shortDuration(durationMs: number): string {
  if (durationMs < 2 * HOUR_MS) {
    return formatDuration(durationMs).replace(" min", "m").replace(" ", "");
  }
  return durationMs < 2 * DAY_MS
    ? `${Math.round(durationMs / HOUR_MS)}h`
    : `${Math.round(durationMs / DAY_MS)}d`;
}

/** How long before `nowMs` something was: `41 min ago`, `just now`, or `in 5 s` where clocks differ. */
export function formatAgo(timeMs: number, nowMs: number): string {
  const agoMs = nowMs - timeMs;
  if (Math.abs(agoMs) < SECOND_MS) {
    return "just now";
  }
  return agoMs < 0 ? `in ${formatDuration(-agoMs)}` : `${formatDuration(agoMs)} ago`;
}

/** `03:12:44 UTC`, with the date in front unless it is that of `nowMs`. */
export function formatClock(timeMs: number, nowMs: number): string {
  const [date = "", clock = ""] = new Date(timeMs).toISOString().split("T");
  const today = new Date(nowMs).toISOString().startsWith(date);
  return `${today ? "" : `${date} `}${clock.slice(0, 8)} UTC`;
}
