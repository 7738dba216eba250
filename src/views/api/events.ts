import type { Event } from "../../core/events/event.ts";
import type { EventLog } from "../../core/events/event-log.ts";
import {
  availabilityOf,
  type Interval,
  incidentsOf,
  type Period,
  periodsOf,
  unwatched,
} from "../../core/events/timeline.ts";
import type { Report } from "../../core/model/report.ts";
import { isoTime } from "../../core/model/text.ts";
import type { Asked, EventQuery } from "./queries.ts";
import { selectTargets } from "./selection.ts";

/** The targets of each host. */
export type Hosts = ReadonlyMap<string, ReadonlySet<string>>;

/** The events that match a query, latest first. Events that are no news are included only if it names a kind or a status. */
export function selectEvents(log: Pick<EventLog, "all">, query: EventQuery, hosts: Hosts): readonly Event[] {
  const { fromMs, toMs, kind, status } = query;
  const [from, to] = [isoTime(fromMs), isoTime(toMs)];
  const isWanted = subjectFilter(query, hosts);
  return log
    .all()
    .filter(
      (event) =>
        event.time >= from &&
        event.time <= to &&
        (kind === undefined || event.kind === kind) &&
        (status === undefined || event.to === status || event.from === status) &&
        (kind !== undefined || status !== undefined || isNews(event)) &&
        isWanted(event),
    )
    .reverse();
}

/** A first `ok` is no news, and a degraded pair is visible in the events of its targets. */
function isNews({ from, kind, to }: Event): boolean {
  return !(from === "unknown" && to === "ok") && (kind !== "pair" || from === "down" || to === "down");
}

/** Whether an event concerns the targets that a query names. An event of a process concerns none. */
function subjectFilter(
  { protocol, chain, variant, tier, host }: EventQuery,
  hosts: Hosts,
): (event: Event) => boolean {
  const named = [protocol, variant, tier, chain];
  if (named.every((part) => part === undefined) && host === undefined) {
    return () => true;
  }
  const served = host === undefined ? null : (hosts.get(host) ?? new Set());
  const isOne = (key: string) =>
    (served === null || served.has(key)) &&
    key.split("/").every((part, index) => named[index] === undefined || named[index] === part);
  return ({ kind, subject, targets }) => {
    switch (kind) {
      case "status":
      case "deployment":
        return isOne(subject);
      case "parity":
        return subject.split(" ").slice(1).some(isOne);
      case "incident":
        return targets.some(isOne) || (host !== undefined && subject === `host ${host}`);
      case "pair":
        return (
          served === null && variant === undefined && tier === undefined && isOne(subject.replace("/", "///"))
        );
      case "process":
        return false;
    }
  };
}

type LimitedSpan = Asked<{ readonly limit: number }>;

export function eventsJson(report: Report, log: EventLog, query: EventQuery, hosts: Hosts) {
  const events = selectEvents(log, query, hosts);
  return { ...span(report, query), total: events.length, events: events.slice(0, query.limit) };
}

export function incidentsJson(report: Report, log: EventLog, query: LimitedSpan) {
  const incidents = incidentsOf(log.ofKind("incident"), query);
  const nowMs = Date.parse(report.generated_at);
  return {
    ...span(report, query),
    total: incidents.length,
    incidents: incidents.slice(0, query.limit).map((one) => ({
      ...one,
      duration_seconds:
        ((one.until === null ? nowMs : Date.parse(one.until)) - Date.parse(one.since)) / 1_000,
    })),
  };
}

/** Reads the statuses of targets and pairs in an interval. */
export function periodReader(log: EventLog, interval: Interval) {
  const gaps = unwatched(log.ofKind("process"), interval.toMs);
  return (kind: "status" | "pair", subject: string): readonly Period[] =>
    periodsOf(log.of(kind, subject), gaps, interval);
}

/** The history of one protocol on one chain, which has targets. */
export function statusHistoryJson(
  report: Report,
  log: EventLog,
  pair: { readonly protocol: string; readonly chain: string },
  query: LimitedSpan,
) {
  const targets = selectTargets(report.targets, pair);
  const { protocol, chain } = pair;
  const read = periodReader(log, query);
  const of = (kind: "status" | "pair", subject: string) => {
    const periods = read(kind, subject);
    const { ok_share, usable_share, ...rest } = availabilityOf(periods);
    return {
      ...rest,
      ok_share: rounded(ok_share),
      usable_share: rounded(usable_share),
      periods: periods.toReversed().slice(0, query.limit).map(periodJson),
    };
  };
  return {
    ...span(report, query),
    protocol,
    chain,
    pair: of("pair", `${protocol}/${chain}`),
    targets: targets.map(({ key, variant, tier }) => ({ key, variant, tier, ...of("status", key) })),
  };
}

/** Rounded down: 1 means always. */
function rounded(share: number | null): number | null {
  return share === null ? null : Math.floor(share * 10_000) / 10_000;
}

function periodJson({ fromMs, toMs, state, sinceMs, detail }: Period) {
  return { from: isoTime(fromMs), to: isoTime(toMs), state, since: isoTime(sinceMs), detail };
}

function span({ generated_at }: Report, { fromMs, toMs }: Interval) {
  return { generated_at, from: isoTime(fromMs), to: isoTime(toMs) };
}
