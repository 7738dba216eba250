import { incidentOfKey, STATUSES_BY_URGENCY } from "../model/report.ts";
import { isoTime } from "../model/text.ts";
import type { Event } from "./event.ts";

/** From `fromMs` to `toMs`, in Unix milliseconds. */
export interface Interval {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A time in which the status of a target, or the state of a pair, was the same. */
export interface Period extends Interval {
  /** Null: no Synclag was running, or it had not been asked yet. */
  readonly state: string | null;
  /** Since when, which may be before the interval that was asked for. */
  readonly sinceMs: number;
  readonly detail: string | null;
}

/** Statuses of targets and states of pairs in which users are not served. */
const UNUSABLE: ReadonlySet<string> = new Set([
  "down",
  "syncing",
  "stalled",
  "unreachable",
  "rejected",
  "not_found",
  "missing",
  "failed",
  "diverged",
]);
/** Nothing is known of the indexer. */
const NOT_COUNTED: ReadonlySet<string | null> = new Set([null, "throttled", "unknown"]);
/** Anything known ranks above a gap, so that a short outage next to a gap is visible. */
const WORST_LAST: readonly (string | null)[] = [null, ...STATUSES_BY_URGENCY, "degraded", "down"];

/** When no Synclag polled, by the events of its processes, the oldest first. */
export function unwatched(processes: readonly Event[], nowMs: number): readonly Interval[] {
  const gaps = processes.flatMap(({ to, time, unwatched_since: since }) =>
    to === "started" && since !== null ? { fromMs: Date.parse(since), toMs: Date.parse(time) } : [],
  );
  const last = processes.at(-1);
  return last?.to === "stopped" ? [...gaps, { fromMs: Date.parse(last.time), toMs: nowMs }] : gaps;
}

/** The states of one subject over an interval, without holes. `events`: its events, oldest first. */
export function periodsOf(
  events: readonly Event[],
  gaps: readonly Interval[],
  { fromMs, toMs }: Interval,
): readonly Period[] {
  const timesMs = [...events.map(({ time }) => Date.parse(time)), toMs];
  const known = events.map(({ to: state, detail }, index): Period => {
    const [sinceMs = toMs, endMs = toMs] = timesMs.slice(index);
    return { fromMs: sinceMs, toMs: endMs, state, sinceMs, detail };
  });
  return [nothing({ fromMs, toMs: timesMs[0] ?? toMs }), ...known]
    .flatMap((period) => without(period, gaps))
    .map((one) => ({ ...one, fromMs: Math.max(one.fromMs, fromMs), toMs: Math.min(one.toMs, toMs) }))
    .filter((one) => one.toMs > one.fromMs);
}

function nothing({ fromMs, toMs }: Interval): Period {
  return { fromMs, toMs, state: null, sinceMs: fromMs, detail: null };
}

/** A period with the gaps cut out of it. */
function without(period: Period, gaps: readonly Interval[]): readonly Period[] {
  const parts: Period[] = [];
  let fromMs = period.fromMs;
  for (const gap of gaps) {
    if (gap.fromMs < period.toMs && gap.toMs > fromMs) {
      const cut = { fromMs: Math.max(gap.fromMs, fromMs), toMs: Math.min(gap.toMs, period.toMs) };
      parts.push({ ...period, fromMs, toMs: cut.fromMs }, nothing(cut));
      fromMs = cut.toMs;
    }
  }
  return [...parts, { ...period, fromMs }];
}

export type Availability = ReturnType<typeof availabilityOf>;

/** Availability over an interval. Shares are of the known time; null: nothing was known. */
export function availabilityOf(periods: readonly Period[]) {
  let [okMs, usableMs, knownMs, outageMs, longestMs] = [0, 0, 0, 0, 0];
  for (const { state, fromMs, toMs } of periods) {
    if (state !== null && !NOT_COUNTED.has(state)) {
      const lengthMs = toMs - fromMs;
      const isUsable = !UNUSABLE.has(state);
      knownMs += lengthMs;
      okMs += state === "ok" ? lengthMs : 0;
      usableMs += isUsable ? lengthMs : 0;
      outageMs = isUsable ? 0 : outageMs + lengthMs;
      longestMs = Math.max(longestMs, outageMs);
    }
  }
  return {
    ok_share: knownMs === 0 ? null : okMs / knownMs,
    usable_share: knownMs === 0 ? null : usableMs / knownMs,
    longest_outage_seconds: longestMs / 1_000,
    known_seconds: knownMs / 1_000,
  };
}

/** The worst period in each of `count` equal parts of an interval. Of equally bad ones, the latest. */
export function slotsOf(
  periods: readonly Period[],
  { fromMs, toMs }: Interval,
  count: number,
): readonly Period[] {
  const slotMs = (toMs - fromMs) / count;
  const rankOf = ({ state }: Period) => WORST_LAST.indexOf(state);
  return Array.from({ length: count }, (_, index) => {
    const slot = { fromMs: fromMs + index * slotMs, toMs: fromMs + (index + 1) * slotMs };
    return periods
      .filter((one) => one.fromMs < slot.toMs && one.toMs > slot.fromMs)
      .reduce((most, one) => (rankOf(one) >= rankOf(most) ? one : most), nothing(slot));
  });
}

/** A past or current incident, from its events; `until` is null while it lasts. */
export type PastIncident = ReturnType<typeof incidentOf>;

/** The incidents that overlap an interval, latest first. `events`: events of incidents, oldest first. */
export function incidentsOf(events: readonly Event[], { fromMs, toMs }: Interval): readonly PastIncident[] {
  const [from, to] = [isoTime(fromMs), isoTime(toMs)];
  const running = new Map<string, Event>();
  const found: PastIncident[] = [];
  for (const event of events) {
    const start = running.get(event.subject);
    if (event.to === "began") {
      running.set(event.subject, event);
    } else if (start !== undefined) {
      running.delete(event.subject);
      found.push(incidentOf(start, event));
    }
  }
  found.push(...[...running.values()].map((start) => incidentOf(start, null)));
  return found
    .filter(({ since, until }) => since <= to && (until === null || until >= from))
    .sort((a, b) => (a.since < b.since ? 1 : -1));
}

function incidentOf(start: Event, end: Event | null) {
  const { detail, target_count, targets } = end ?? start;
  const until = end?.time ?? null;
  return { ...incidentOfKey(start.subject), since: start.time, until, detail, targets, target_count };
}
