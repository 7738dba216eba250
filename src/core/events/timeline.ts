import { incidentOfKey, STATUSES_BY_URGENCY, type Status } from "../model/report.ts";
import { isoTime } from "../model/text.ts";
import type { PairState } from "../report/pairs.ts";
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

/** How good a status of a target or a state of a pair is for its users, the best first. */
const GOODNESS: Readonly<Record<Status | PairState, "ok" | "usable" | "unusable" | "not counted">> = {
  ok: "ok",
  degraded: "usable",
  lagging: "usable",
  chain_halted: "usable",
  down: "unusable",
  syncing: "unusable",
  stalled: "unusable",
  unreachable: "unusable",
  rejected: "unusable",
  not_found: "unusable",
  missing: "unusable",
  failed: "unusable",
  diverged: "unusable",
  // Nothing is known of the indexer.
  throttled: "not counted",
  unknown: "not counted",
};

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
  const first = events[0];
  const before = first === undefined ? toMs : Date.parse(first.time);
  const known = events.map((event, index): Period => {
    const next = events[index + 1];
    const sinceMs = Date.parse(event.time);
    const endMs = next === undefined ? toMs : Date.parse(next.time);
    return { fromMs: sinceMs, toMs: endMs, state: event.to, sinceMs, detail: event.detail };
  });
  return [nothing({ fromMs, toMs: before }), ...known]
    .flatMap((period) => without(period, gaps))
    .map((one) => ({ ...one, fromMs: Math.max(one.fromMs, fromMs), toMs: Math.min(one.toMs, toMs) }))
    .filter((one) => one.toMs > one.fromMs)
    .sort((a, b) => a.fromMs - b.fromMs);
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
  const spent = { ok: 0, usable: 0, unusable: 0 };
  let [outageMs, longestMs] = [0, 0];
  for (const period of periods) {
    const goodness = goodnessOf(period.state);
    const lengthMs = period.toMs - period.fromMs;
    if (goodness !== "not counted") {
      spent[goodness] += lengthMs;
      outageMs = goodness === "unusable" ? outageMs + lengthMs : 0;
      longestMs = Math.max(longestMs, outageMs);
    }
  }
  const knownMs = spent.ok + spent.usable + spent.unusable;
  const share = (ms: number) => (knownMs === 0 ? null : ms / knownMs);
  return {
    ok_share: share(spent.ok),
    usable_share: share(spent.ok + spent.usable),
    longest_outage_seconds: longestMs / 1_000,
    known_seconds: knownMs / 1_000,
  };
}

/** A status of another version counts as usable but not ok. */
function goodnessOf(state: string | null): (typeof GOODNESS)[Status] {
  const known: Readonly<Record<string, (typeof GOODNESS)[Status]>> = GOODNESS;
  return state === null ? "not counted" : (known[state] ?? "usable");
}

/** The worst period in each of `count` equal parts of an interval. Of equally bad ones, the latest. */
export function slotsOf(
  periods: readonly Period[],
  { fromMs, toMs }: Interval,
  count: number,
): readonly Period[] {
  const slotMs = (toMs - fromMs) / count;
  return Array.from({ length: count }, (_, index) => {
    const slot = { fromMs: fromMs + index * slotMs, toMs: fromMs + (index + 1) * slotMs };
    const inside = periods.filter((one) => one.fromMs < slot.toMs && one.toMs > slot.fromMs);
    return inside.reduce(
      (most, one) => (rankOf(one.state) >= rankOf(most.state) ? one : most),
      nothing(slot),
    );
  });
}

const PAIR_RANKS: Readonly<Record<PairState, number>> = { unknown: 0.5, ok: 0, degraded: 5, down: 9 };

/** Anything known ranks above a gap, so that a short outage next to a gap is visible. */
function rankOf(state: string | null): number {
  if (state === null) {
    return -1;
  }
  const pairs: Readonly<Record<string, number>> = PAIR_RANKS;
  return pairs[state] ?? STATUSES_BY_URGENCY.indexOf(state as Status);
}

/** A past or current incident, from its events; `until` is null while it lasts. */
export type PastIncident = ReturnType<typeof incidentOf>;

/** The incidents that overlap an interval, latest first. `events`: events of incidents, oldest first. */
export function incidentsOf(events: readonly Event[], { fromMs, toMs }: Interval): readonly PastIncident[] {
  const [from, to] = [isoTime(fromMs), isoTime(toMs)];
  const began = new Map<string, Event>();
  const found: PastIncident[] = [];
  for (const event of events) {
    const start = began.get(event.subject);
    if (event.to === "began") {
      began.set(event.subject, event);
    } else if (start !== undefined) {
      began.delete(event.subject);
      found.push(incidentOf(start, event));
    }
  }
  found.push(...[...began.values()].map((start) => incidentOf(start, null)));
  return found
    .filter(({ since, until }) => since <= to && (until === null || until >= from))
    .sort((a, b) => (a.since < b.since ? 1 : -1));
}

function incidentOf(start: Event, end: Event | null) {
  const { detail, target_count, targets } = end ?? start;
  const until = end?.time ?? null;
  return { ...incidentOfKey(start.subject), since: start.time, until, detail, targets, target_count };
}
