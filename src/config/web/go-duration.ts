const PATTERN = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g;
const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Milliseconds of a duration as Go reads it, such as `1m30s`, `1.5h` or a bare number of nanoseconds (documentation of
 * `time.ParseDuration`); anything else unchanged.
 */
export function goDurationMs(found: unknown): unknown {
  if (typeof found === "number") {
    return found / 1e6;
  }
  if (typeof found !== "string" || !PATTERN.test(found)) {
    return found;
  }
  return [...found.matchAll(PART)].reduce(
    (ms, [, digits, unit = ""]) => ms + Number(digits) * (UNIT_MS[unit] ?? Number.NaN),
    0,
  );
}
