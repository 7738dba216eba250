import { DAY_MS, HOUR_MS, MINUTE_MS } from "./durations.ts";

const SECOND_MS = 1000;

/** Ends a text that was shortened. */
export const CUT_MARK = "…";

/** A text, or its beginning with the mark. */
export function shorten(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}${CUT_MARK}` : text;
}

/** A text without control characters and line breaks. */
export function oneLine(text: string): string {
  // The added space forces a copy: a slice of a body would keep the whole body in memory.
  return `${text} `.replace(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ").trim();
}

/** A number with thousands separated: `1,240`. Fractions keep one digit. */
export function formatNumber(value: number): string {
  const [whole = "", fraction] = String(Math.round(Math.abs(value) * 10) / 10).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  const sign = value < 0 ? "-" : "";
  return `${sign}${grouped}${fraction === undefined ? "" : `.${fraction}`}`;
}

/** A number with its noun: `1 block`, `1,240 blocks`. */
export function formatCount(value: number, noun: string): string {
  return `${formatNumber(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** A share from 0 to 1 as `75.9%`. */
export function formatPercent(share: number): string {
  return `${formatNumber(share * 100)}%`;
}

/** `an hour`, `a day` or `a month`, after a number of requests. */
export function perWindow(per: string): string {
  return per === "hour" ? "an hour" : `a ${per}`;
}

/** A duration in two units at most: `1.5 s`, `41 min`, `3 h 20 min`, `5 d 4 h`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 10 * SECOND_MS) {
    return `${Math.round(durationMs / 100) / 10} s`;
  }
  if (durationMs < 2 * MINUTE_MS) {
    return `${Math.round(durationMs / SECOND_MS)} s`;
  }
  if (durationMs < 2 * HOUR_MS) {
    return `${Math.round(durationMs / MINUTE_MS)} min`;
  }
  return durationMs < 2 * DAY_MS
    ? twoUnits(durationMs, HOUR_MS, "h", MINUTE_MS, "min")
    : twoUnits(durationMs, DAY_MS, "d", HOUR_MS, "h");
}

/** A duration in its larger unit alone, for a cell of the matrix: `1.5s`, `41m`, `3h`, `5d`. */
export function shortDuration(durationMs: number): string {
  const [count = "", unit = ""] = formatDuration(durationMs).split(" ");
  return `${count}${unit === "min" ? "m" : unit}`;
}

/** How long before `nowMs` something was: `41 min ago`, `just now`, or `in 5 s` where clocks differ. */
export function formatAgo(timeMs: number, nowMs: number): string {
  const agoMs = nowMs - timeMs;
  if (Math.abs(agoMs) < SECOND_MS) {
    return "just now";
  }
  return agoMs < 0 ? `in ${formatDuration(-agoMs)}` : `${formatDuration(agoMs)} ago`;
}

/** `03:12:44 UTC`, with the date in front if `nowMs` is on another day. */
export function formatClock(timeMs: number, nowMs: number): string {
  const [date = "", clock = ""] = new Date(timeMs).toISOString().split("T");
  const today = new Date(nowMs).toISOString().startsWith(date);
  return `${today ? "" : `${date} `}${clock.slice(0, 8)} UTC`;
}

const LIST = new Intl.ListFormat("en-GB");

/** `a, b and c` */
export function formatList(names: readonly string[]): string {
  return LIST.format(names);
}

/** ISO 8601 in UTC of a unix time in milliseconds. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** A duration in the seconds of the API. */
export function inSeconds(durationMs: number | null): number | null {
  return durationMs === null ? null : durationMs / SECOND_MS;
}

function twoUnits(durationMs: number, unitMs: number, unit: string, restMs: number, rest: string): string {
  const rounded = Math.round(durationMs / restMs) * restMs;
  const restCount = (rounded % unitMs) / restMs;
  const head = `${Math.floor(rounded / unitMs)} ${unit}`;
  return restCount === 0 ? head : `${head} ${restCount} ${rest}`;
}

/** The value of a JSON text; undefined if it is not valid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Some engines overflow their stack on deeply nested lists.
    if (error instanceof SyntaxError || error instanceof RangeError) {
      return undefined;
    }
    throw error;
  }
}

/** `HOST:PORT`, an IPv6 host in brackets. */
export function hostAndPort({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
