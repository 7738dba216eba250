/**
 * A height or a chain id as a JSON number or a decimal string, or null for whatever cannot be one: zero, negative,
 * fractional, beyond 2^53 - 1. Hasura as Envio starts it sends big numbers as strings.
 */
export function readPositiveInteger(value: unknown): number | null {
  const number = typeof value === "string" && /^[1-9]\d{0,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : null;
}

/** The year 5138 in seconds, 1973 in milliseconds: anything later is not a number of seconds. */
const FIRST_IMPOSSIBLE_SEC = 1e11;

const ISO_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+-]\d\d(?::?\d\d)?)?$/;

/**
 * A block's time in unix seconds, from seconds as a number or a decimal string, or from ISO 8601 such as PostgreSQL's
 * `timestamptz`. Null for what cannot be one: milliseconds, zero, negative. A height is useful without its time.
 */
export function readTimestampSec(value: unknown): number | null {
  const seconds = typeof value === "string" ? parseTime(value) : value;
  return typeof seconds === "number" && seconds > 0 && seconds < FIRST_IMPOSSIBLE_SEC ? seconds : null;
}

/** A block hash with its 0x, or null. */
export function readHash(value: unknown): string | null {
  return typeof value === "string" && /^0x[0-9a-fA-F]{1,128}$/.test(value) ? value : null;
}

function parseTime(text: string): number | null {
  if (/^\d{1,15}$/.test(text)) {
    return Number(text);
  }
  const [, day, time, zone] = ISO_TIME.exec(text) ?? [];
  if (day === undefined || time === undefined) {
    return null;
  }
  // Without a zone, Date.parse would use the zone of this machine.
  return Date.parse(`${day}T${time}${fullZone(zone ?? "Z")}`) / 1000;
}

/** PostgreSQL shortens +00:00 to +00. */
function fullZone(zone: string): string {
  if (zone === "Z" || zone.includes(":")) {
    return zone;
  }
  return `${zone.slice(0, 3)}:${zone.slice(3) || "00"}`;
}
