/**
 * Writes a duration of a rule, such as `5m` or `30d`, for Prometheus: unchanged for production, shortened for the demo.
 */
export type TimeScale = (duration: string) => string;

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Leaves a duration unchanged. */
export function realTime(duration: string): string {
  return duration;
}

/** Divides durations by a factor, and rounds them to milliseconds. */
export function shortened(factor: number): TimeScale {
  return (duration) => `${Math.max(1, Math.round(durationMs(duration) / factor))}ms`;
}

/** A duration in seconds, as PromQL functions take it. */
export function seconds(duration: string): number {
  return durationMs(duration) / 1_000;
}

/** A duration such as `5m`, in milliseconds. */
export function durationMs(duration: string): number {
  const [, count, unit = ""] = /^(\d+)(ms|[smhd])$/.exec(duration) ?? [];
  const unitMs = UNIT_MS[unit];
  if (count === undefined || unitMs === undefined) {
    throw new RangeError(
      `Cannot read duration ${JSON.stringify(duration)}: expected a number and ms, s, m, h or d`,
    );
  }
  return Number(count) * unitMs;
}
