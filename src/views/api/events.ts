import { type Event, isNews, targetsOf } from "../../core/events/event.ts";
import type { EventLog } from "../../core/events/event-log.ts";
import { availabilityOf, pastIncidents, periodReader } from "../../core/events/timeline.ts";
import type { Interval } from "../../core/events/unwatched.ts";
import type { Report } from "../../core/model/report.ts";
import type { EventQuery } from "./queries.ts";
import { selectTargets } from "./selection.ts";

/** The targets of each host. */
export type Hosts = ReadonlyMap<string, ReadonlySet<string>>;

/** The events that match a query, latest first. Minor events are included only if the query names a kind or a status. */
export function selectEvents(log: EventLog, query: EventQuery, hosts: Hosts): readonly Event[] {
  const { from, to, kind } = query;
  const matches = matcherOf(query, hosts);
  return log
    .all(kind)
    .filter(
      (event) =>
        event.time >= from &&
        event.time <= to &&
        matches.change(event) &&
        (kind !== undefined || query.status !== undefined || isNews(event)) &&
        matches.targets(targetsOf(event)),
    )
    .toReversed();
}

/** `change` matches an event by its kind and status, `targets` by the keys of its targets. */
export function matcherOf({ kind, status, protocol, variant, tier, chain, host }: EventQuery, hosts: Hosts) {
  const named = [protocol, variant, tier, chain];
  const isWanted = (key: string) =>
    (host === undefined || hosts.get(host)?.has(key) === true) &&
    key.split("/").every((part, index) => named[index] === undefined || named[index] === part);
  const isOfAny = host === undefined && named.every((part) => part === undefined);
  return {
    change: (event: Event) =>
      (kind === undefined || event.kind === kind) &&
      (status === undefined || event.to === status || event.from === status),
    targets: (keys: readonly string[]) => isOfAny || keys.some(isWanted),
  };
}

export function eventsJson(report: Report, log: EventLog, query: EventQuery, hosts: Hosts) {
  const events = selectEvents(log, query, hosts);
  return { ...span(report, query), total: events.length, events: events.slice(0, query.limit) };
}

type LimitedSpan = Interval & Pick<EventQuery, "limit">;

export function incidentsJson(report: Report, log: EventLog, query: LimitedSpan) {
  const incidents = pastIncidents(log, query, report);
  return { ...span(report, query), total: incidents.length, incidents: incidents.slice(0, query.limit) };
}

/** The past states of one pair, and the past statuses of its targets. */
export function statusHistoryJson(
  report: Report,
  log: EventLog,
  { protocol, chain }: { readonly protocol: string; readonly chain: string },
  query: LimitedSpan,
) {
  const read = periodReader(log, query);
  const of = (kind: "status" | "pair", subject: string) => {
    const periods = read(kind, subject);
    return { ...availabilityOf(periods), periods: periods.toReversed().slice(0, query.limit) };
  };
  return {
    ...span(report, query),
    protocol,
    chain,
    pair: of("pair", `${protocol}/${chain}`),
    targets: selectTargets(report.targets, { protocol, chain }).map(({ key, variant, tier }) => {
      return { key, variant, tier, ...of("status", key) };
    }),
  };
}

function span({ generated_at }: Report, { from, to }: Interval) {
  return { generated_at, from, to };
}
