import type { Event } from "./event.ts";

/** A stretch of time. Times in ISO 8601 sort as texts. */
export interface Interval {
  readonly from: string;
  readonly to: string;
}

/** When no Synclag polled, by the events of its processes in order, the oldest first and none within another. */
export function unwatched(processes: readonly Event[], now: string): readonly Interval[] {
  const gaps = processes.flatMap(({ time, unwatched_since: from }) =>
    from !== null && from < time ? { from, to: time } : [],
  );
  const last = processes.at(-1);
  const hasStopped = last?.to === "stopped";
  const merged: Interval[] = [];
  for (const gap of [...gaps, ...(hasStopped ? [{ from: last.time, to: now }] : [])].sort(byStart)) {
    const before = merged.at(-1);
    if (before === undefined || before.to < gap.from) {
      merged.push(gap);
    } else if (before.to < gap.to) {
      merged[merged.length - 1] = { from: before.from, to: gap.to };
    }
  }
  return merged;
}

/** The beginning of the last `watchedMs` in which a Synclag polled. */
export function watchedSinceMs(gaps: readonly Interval[], nowMs: number, watchedMs: number): number {
  return gaps.reduceRight((fromMs, gap) => {
    const [startMs, endMs] = [Date.parse(gap.from), Math.min(Date.parse(gap.to), nowMs)];
    return endMs > fromMs ? fromMs - Math.max(0, endMs - startMs) : fromMs;
  }, nowMs - watchedMs);
}

export function byStart(a: Interval, b: Interval): number {
  return Number(a.from > b.from) - Number(a.from < b.from);
}
