import { incidentKey, incidentOfKey, type Report } from "../model/report.ts";
import { STATUSES, STATUSES_BY_URGENCY, traitsOf } from "../model/statuses.ts";
import { isoTime } from "../model/text.ts";
import { type Event, eventOf } from "./event.ts";
import type { EventLog } from "./event-log.ts";
import { byStart, type Interval, unwatchedIntervals } from "./unwatched.ts";

/** A time in which the status of a target, or the state of a pair, was the same. */
export interface Period extends Interval {
  /** Null: no Synclag was running, or the subject had not been polled yet. */
  readonly state: string | null;
  /** When the state began, which may be before the interval. */
  readonly since: string;
  readonly detail: string | null;
}

/** Statuses of targets and states of pairs in which users are served. */
const USABLE: ReadonlySet<string> = new Set([
  ...STATUSES.filter((status) => traitsOf(status).isUsable),
  "degraded",
]);
/** States in which nothing is known of the indexer. */
const NOT_COUNTED: ReadonlySet<string | null> = new Set([null, "throttled", "unknown"]);
/** Anything known ranks above an unwatched time, so that a short outage next to it is visible. */
const WORST_LAST: readonly (string | null)[] = [null, ...STATUSES_BY_URGENCY, "degraded", "down"];
const RANKS: ReadonlyMap<string | null, number> = new Map(WORST_LAST.map((state, rank) => [state, rank]));

/** Makes a function that reads the periods of a subject. They cover the interval without holes. */
export function periodReader(log: EventLog, interval: Interval) {
  const unwatched = unwatchedIntervals(log.all("process"), interval.to);
  return (kind: "status" | "pair", subject: string): readonly Period[] => {
    const events = log.of(kind, subject);
    const known = events.map(({ time, to: state, detail }, index): Period => {
      return { from: time, to: events[index + 1]?.time ?? interval.to, state, since: time, detail };
    });
    const clipped = [unknownPeriod(interval.from, events[0]?.time ?? interval.to), ...known]
      .filter(({ from, to }) => from < interval.to && to > interval.from && from < to)
      .map((one) => {
        const [isEarly, isLate] = [one.from < interval.from, one.to > interval.to];
        return { ...one, from: isEarly ? interval.from : one.from, to: isLate ? interval.to : one.to };
      });
    // After a clock was set back, an event may have an earlier time than the event before it.
    return withoutUnwatched(clipped.sort(byStart), unwatched);
  };
}

/** The time of the first event; null if there are none. */
export function firstTime(log: EventLog): string | null {
  const times = [...log.lists.values()].flatMap(([first]) => first?.time ?? []);
  // Times in ISO 8601 sort as texts.
  return times.reduce<string | null>((least, time) => (least === null || time < least ? time : least), null);
}

function unknownPeriod(from: string, to: string): Period {
  return { from, to, state: null, since: from, detail: null };
}

/**
 * Replaces the unwatched times in the periods by periods without a state. Both lists are sorted by start, and passed once.
 */
function withoutUnwatched(periods: readonly Period[], unwatched: readonly Interval[]): readonly Period[] {
  const parts: Period[] = [];
  let next = 0;
  for (const period of periods) {
    let from = period.from;
    next += countWhile(unwatched, next, (interval) => interval.to <= from);
    const inside = countWhile(unwatched, next, (interval) => interval.from < period.to);
    for (const interval of unwatched.slice(next, next + inside)) {
      const [hasBegun, isLonger] = [interval.from < from, interval.to > period.to];
      const [start, end] = [hasBegun ? from : interval.from, isLonger ? period.to : interval.to];
      parts.push({ ...period, from, to: start }, unknownPeriod(start, end));
      from = end;
    }
    parts.push({ ...period, from });
  }
  return parts.filter(({ from, to }) => from < to);
}

/** The number of consecutive items that match, from the index `start` on. */
function countWhile<T>(list: readonly T[], start: number, matches: (item: T) => boolean): number {
  let end = start;
  for (let item = list[end]; item !== undefined && matches(item); item = list[end]) {
    end += 1;
  }
  return end - start;
}

export type Availability = ReturnType<typeof availabilityOf>;

/** Availability over an interval. Shares are of the known time, rounded down: 1 means always; null: nothing was known. */
export function availabilityOf(periods: readonly Period[]) {
  let [okMs, usableMs, knownMs, outageMs, longestMs] = [0, 0, 0, 0, 0];
  for (const { state, from, to } of periods) {
    if (state !== null && !NOT_COUNTED.has(state)) {
      const lengthMs = Date.parse(to) - Date.parse(from);
      const isUsable = USABLE.has(state);
      knownMs += lengthMs;
      okMs += state === "ok" ? lengthMs : 0;
      usableMs += isUsable ? lengthMs : 0;
      outageMs = isUsable ? 0 : outageMs + lengthMs;
      longestMs = Math.max(longestMs, outageMs);
    }
  }
  const shareOf = (ms: number) => (knownMs === 0 ? null : Math.floor((ms / knownMs) * 10_000) / 10_000);
  return {
    ok_share: shareOf(okMs),
    usable_share: shareOf(usableMs),
    longest_outage_seconds: longestMs / 1_000,
    known_seconds: knownMs / 1_000,
  };
}

/** The `count + 1` times that divide an interval into `count` equal slots. */
export function slotTimes(interval: Interval, count: number): readonly string[] {
  const fromMs = Date.parse(interval.from);
  const slotMs = (Date.parse(interval.to) - fromMs) / count;
  return Array.from({ length: count + 1 }, (_, index) => isoTime(fromMs + index * slotMs));
}

/** The worst period in each slot. Of equally bad periods, the latest. `periods` is sorted by start. */
export function slotsOf(periods: readonly Period[], times: readonly string[]): readonly Period[] {
  let next = 0;
  return times.slice(1).map((to, index) => {
    const from = times[index] ?? to;
    next += countWhile(periods, next, (one) => one.to <= from);
    return periods
      .slice(next, next + countWhile(periods, next, (one) => one.from < to))
      .filter((one) => one.to > from)
      .reduce((most, one) => (rankOf(one) >= rankOf(most) ? one : most), unknownPeriod(from, to));
  });
}

function rankOf({ state }: Period): number {
  return RANKS.get(state) ?? -1;
}

/** A past or current incident; `until` is null while it lasts. */
export type PastIncident = ReturnType<typeof incidentFrom>[number];

/**
 * The targets of a shared cause fail and recover one after the other: before the cause is found and after it has ended, they
 * have separate incidents for at most this time.
 */
export const SPREAD_MS = 120_000;

/** The incidents that overlap an interval, the latest first; current ones as the report has them. */
export function pastIncidents(log: EventLog, { from, to }: Interval, report: Report) {
  const all = [...log.lists.values()]
    .flatMap((own) => own.flatMap((event, index) => incidentFrom(event, own[index + 1] ?? null, report)))
    .filter(({ since, until }) => since <= to && (until === null || until >= from))
    .sort((a, b) => (a.since < b.since ? 1 : -1));
  const causes = all.filter(({ kind }) => kind === "cause");
  return all.filter((one) => one.kind === "cause" || !causes.some((cause) => isPartOf(one, cause)));
}

/**
 * Whether an incident that has ended belongs to a shared cause: the cause has all targets of the incident, began before it, and
 * ended after it. Both times may be off by `SPREAD_MS`.
 */
function isPartOf({ since, targets, until }: PastIncident, cause: PastIncident): boolean {
  const isWithin = (from: string, to: string) => from <= to && Date.parse(to) - Date.parse(from) <= SPREAD_MS;
  return (
    until !== null &&
    (cause.until === null || cause.until >= since) &&
    (cause.until === null || until <= cause.until || isWithin(cause.until, until)) &&
    (since >= cause.since || isWithin(since, cause.since)) &&
    targets.every((key) => cause.targets.includes(key))
  );
}

function incidentFrom(start: Event, end: Event | null, { generated_at, incidents }: Report) {
  // If an incident began again without an end, the end of the first is unknown.
  if (start.kind !== "incident" || start.to !== "began" || end?.to === "began") {
    return [];
  }
  const now = end === null ? incidents.find((one) => incidentKey(one) === start.subject) : undefined;
  const present =
    now &&
    eventOf({ ...start, detail: now.detail, targets: [...now.targets], target_count: now.targets.length });
  const { detail, target_count, targets } = end ?? present ?? start;
  const [since, until] = [start.time, end?.time ?? null];
  const duration_seconds = (Date.parse(until ?? generated_at) - Date.parse(since)) / 1_000;
  return [{ ...incidentOfKey(start.subject), since, until, duration_seconds, detail, targets, target_count }];
}
