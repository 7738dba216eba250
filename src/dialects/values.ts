import { CUT_MARK, oneLine } from "../core/model/text.ts";

/**
 * A height or a chain id, from a number or from decimal or hexadecimal digits; null for anything else: zero, negative,
 * fractional, or beyond 2^53 - 1. Envio's Hasura sends big numbers as strings.
 */
export function readPositiveInteger(value: unknown): number | null {
  const isDigits = typeof value === "string" && /^(?:[1-9]\d{0,15}|0x[\da-f]{1,16})$/i.test(value);
  const number = isDigits ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : null;
}

/**
 * Seconds reach this number in the year 5138; milliseconds reached it in 1973. So the unit of a number is the first one in which
 * it is below this limit.
 */
const LIMIT_SEC = 1e11;
const UNITS_PER_SEC: readonly number[] = [1, 1e3, 1e6, 1e9];

const ISO_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+-]\d\d(?::?\d\d)?)?$/;

/**
 * A block's time in unix seconds, from a number or digits in seconds, milliseconds, microseconds or nanoseconds, or from ISO
 * 8601 such as PostgreSQL's `timestamptz`. Null for anything else.
 */
export function readTimestampSec(value: unknown): number | null {
  const iso = typeof value === "string" ? parseIsoTime(value) : Number.NaN;
  const isDigits = typeof value === "string" && /^(?:\d{1,20}|0x[\da-f]{1,16})$/i.test(value);
  const number = isDigits ? Number(value) : value;
  const times = typeof number === "number" ? UNITS_PER_SEC.map((unit) => number / unit) : [iso];
  return times.find((seconds) => seconds < LIMIT_SEC && seconds > 0) ?? null;
}

/** Whether a value means that the time is unknown: null, 0 or absent. That is not a fault. */
export function isUnknownTime(value: unknown): boolean {
  return value === undefined || value === null || value === 0 || value === "0";
}

/** A block hash with its 0x, or null. */
export function readHash(value: unknown): string | null {
  return typeof value === "string" && /^0x[\da-f]{1,128}$/i.test(value) ? value : null;
}

/** The id of a deployment, or null. The id becomes a metric label, so nothing else is accepted. */
export function readDeployment(value: unknown): string | null {
  return typeof value === "string" && /^[\w.-]{1,64}$/.test(value) ? value : null;
}

/** Unix seconds; NaN for a text that is not a time. */
function parseIsoTime(text: string): number {
  const [, day = "", time = "", zone = "Z"] = ISO_TIME.exec(text) ?? [];
  // Without a zone, Date.parse would use the zone of this machine.
  // PostgreSQL shortens +00:00 to +00.
  const full = zone.replace(
    /^([+-]\d\d):?(\d\d)?$/,
    (_, hours: string, minutes = "00") => `${hours}:${minutes}`,
  );
  return Date.parse(`${day}T${time}${full}`) / 1000;
}

/** The most UTF-16 code units that 200 characters can have. */
const MAX_CHARACTERS_READ = 400;
const WHOLE = /^.{0,200}$/u;
const BEGINNING = /^.{0,199}/u;

/**
 * A text of a provider for a log line: one line without control characters, at most 200 characters long. Secrets are not
 * removed here: `createRedact` finds them later, even if they were cut.
 */
export function quote(text: string): string {
  // A body may have a megabyte: only the part that can be shown is read.
  const start = text.slice(0, MAX_CHARACTERS_READ);
  const isCut = start.length < text.length;
  const line = oneLine(unescaped(isCut ? start.replace(/\\(?:u[0-9a-f]{0,3})?$/i, "") : start));
  return !isCut && WHOLE.test(line) ? line : `${BEGINNING.exec(line)?.[0] ?? ""}${CUT_MARK}`;
}

/** JSON with only the necessary escapes. A secret that a server repeats with other escapes would not be recognised. */
function unescaped(json: string): string {
  return json.replace(/\\(?:\\|\/|u00([2-7][0-9a-f]))/gi, (escaped, hex: string | undefined) => {
    const character = hex === undefined ? escaped.slice(1) : String.fromCharCode(Number.parseInt(hex, 16));
    return character === "\\" || character === '"' ? escaped : character;
  });
}

/** Describes an unexpected value, without descending into it: it may be nested without end. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") {
    return `"${quote(value)}"`;
  }
  if (Array.isArray(value)) {
    return "a list";
  }
  if (typeof value === "object" && value !== null) {
    return "an object";
  }
  return value === undefined ? "nothing" : String(value);
}

const MAX_NAMED_KEYS = 10;

/** Describes a value in a reply: an object by its fields, a list by its length. */
export function describeParts(value: unknown): string {
  if (Array.isArray(value)) {
    return `a list of ${value.length.toString()}`;
  }
  if (typeof value !== "object" || value === null) {
    return describeValue(value);
  }
  const keys = Object.keys(value);
  const named = keys.slice(0, MAX_NAMED_KEYS).map((key) => describeValue(key));
  const more = keys.length > named.length ? ", …" : "";
  return keys.length === 0 ? "an empty object" : `an object with ${named.join(", ")}${more}`;
}
