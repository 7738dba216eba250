import type { Event } from "./event.ts";

/** A stretch of time. Times in ISO 8601 sort as texts. */
export interface Interval {
  readonly from: string;
  readonly to: string;
}

/**
 * The intervals in which no Synclag polled, by the events of its processes. They are in the order of time and do not overlap.
 */
export function unwatchedIntervals(processes: readonly Event[], now: string): readonly Interval[] {
  const unwatched = processes.flatMap(({ time, unwatched_since: from }) =>
    from !== null && from < time ? { from, to: time } : [],
  );
  const last = processes.at(-1);
  const hasStopped = last?.to === "stopped";
  const merged: Interval[] = [];
  for (const interval of [...unwatched, ...(hasStopped ? [{ from: last.time, to: now }] : [])].sort(
    byStart,
  )) {
    const before = merged.at(-1);
    if (before === undefined || before.to < interval.from) {
      merged.push(interval);
    } else if (before.to < interval.to) {
      merged[merged.length - 1] = { from: before.from, to: interval.to };
    }
  }
  return merged;
}

/** The instant since which a Synclag has polled for `watchedMs` in all, without the unwatched intervals. */
export function watchedSinceMs(unwatched: readonly Interval[], nowMs: number, watchedMs: number): number {
  return unwatched.reduceRight((fromMs, interval) => {
    const [startMs, endMs] = [Date.parse(interval.from), Math.min(Date.parse(interval.to), nowMs)];
    return endMs > fromMs ? fromMs - Math.max(0, endMs - startMs) : fromMs;
  }, nowMs - watchedMs);
}

export function byStart(a: Interval, b: Interval): number {
  return Number(a.from > b.from) - Number(a.from < b.from);
}
