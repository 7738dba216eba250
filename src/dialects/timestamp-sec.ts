/** The year 5138 in seconds, 1973 in milliseconds: what lies beyond is no number of seconds. */
const FIRST_IMPOSSIBLE_SEC = 1e11;

const ISO_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+-]\d\d(?::?\d\d)?)?$/;

/**
 * A block's time in unix seconds, from seconds as a number or a decimal string, or from the ISO text of a `timestamptz`.
 * Null for what can't be one: milliseconds, zero, negative, nonsense. A height is worth having without its time.
 */
export function readTimestampSec(value: unknown): number | null {
  const seconds = typeof value === "string" ? parseText(value) : value;
  return typeof seconds === "number" && seconds > 0 && seconds < FIRST_IMPOSSIBLE_SEC ? seconds : null;
}

function parseText(text: string): number | null {
  if (/^\d{1,15}$/.test(text)) {
    return Number(text);
  }
  const [, day, time, zone] = ISO_TIME.exec(text) ?? [];
  if (day === undefined || time === undefined) {
    return null;
  }
  // Without a zone it would be read in the zone of this machine.
  return Date.parse(`${day}T${time}${fullZone(zone ?? "Z")}`) / 1000;
}

/** PostgreSQL shortens +00:00 to +00. */
function fullZone(zone: string): string {
  if (zone === "Z" || zone.includes(":")) {
    return zone;
  }
  return `${zone.slice(0, 3)}:${zone.slice(3) || "00"}`;
}
