import { z } from "zod";
import { EVENT_KINDS, type Event, EventSchema } from "../../core/events/event.ts";
import type { EventLog } from "../../core/events/event-log.ts";
import {
  availabilityOf,
  type Interval,
  incidentsOf,
  type Period,
  periodsOf,
  unwatched,
} from "../../core/events/timeline.ts";
import { type Report, STATUSES } from "../../core/model/report.ts";
import { Count, Seconds, Text, Time } from "../../core/model/report-schema.ts";
import { isoTime } from "../../core/model/text.ts";
import { PAIR_STATES } from "../../core/report/pairs.ts";
import { selectTargets } from "./selection.ts";

const SPAN = { generated_at: Time, from: Time, to: Time };

/** What `/api/v1/events` answers. */
export const EventsSchema = z.object({
  ...SPAN,
  total: Count.meta({ description: "How many events match; more than `events` where they are limited" }),
  events: z.array(EventSchema).meta({ description: "The latest first" }),
});

/** What `/api/v1/incidents` answers. */
export const IncidentsSchema = z.object({
  ...SPAN,
  total: Count,
  incidents: z
    .array(
      z.object({
        scope: Text,
        subject: Text,
        since: Time,
        until: Time.meta({ description: "Null: it goes on" }).nullable(),
        duration_seconds: Seconds,
        detail: Text.nullable(),
        targets: z.array(Text).meta({ description: "Keys of the targets that it explained, at most 100" }),
        target_count: Count,
      }),
    )
    .meta({ description: "The latest first" }),
});

const Availability = z.object({
  ok_share: z
    .number()
    .meta({ description: "From 0 to 1, of the time in which anything was known; null: it never was" })
    .nullable(),
  usable_share: z
    .number()
    .meta({
      description: "The same of a pair that is ok or degraded, a target that is ok, lagging or chain_halted",
    })
    .nullable(),
  longest_outage_seconds: Seconds.meta({ description: "The longest time in which it was not usable" }),
  known_seconds: Seconds,
  periods: z
    .array(
      z.object({
        from: Time,
        to: Time,
        state: Text.meta({ description: "Null: no Synclag was polling" }).nullable(),
        since: Time,
        detail: Text.nullable(),
      }),
    )
    .meta({ description: "What it was, the latest first" }),
});

/** What `/api/v1/status/{protocol}/{chain}/history` answers. */
export const StatusHistorySchema = z.object({
  ...SPAN,
  protocol: Text,
  chain: Text,
  pair: Availability,
  targets: z.array(Availability.extend({ key: Text, variant: Text, tier: Text })),
});

/** Query parameters; one that is given twice is a list. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What events can be narrowed by. */
export const EVENT_FILTERS = ["kind", "protocol", "chain", "variant", "tier", "host", "status"] as const;

/** Which events are asked for; a filter that is left out lets anything pass. */
export interface EventQuery extends Interval, Partial<Record<(typeof EVENT_FILTERS)[number], string>> {
  readonly limit: number;
}

const DAY_MS = 86_400_000;
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };
const MOST = 10_000;
const WORDS: Readonly<Record<string, readonly string[]>> = {
  kind: EVENT_KINDS,
  status: [...STATUSES, ...PAIR_STATES.filter((state) => state === "degraded" || state === "down")],
};

/** Reads the query of a route, or reports its fault. `from` is this far back by default. */
export function readEventQuery(
  query: Query,
  nowMs: number,
  defaultSpanMs: number,
  defaultLimit: number,
): EventQuery | string {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== undefined);
  const twice = given.find(([, value]) => typeof value !== "string");
  if (twice !== undefined) {
    return `Cannot use several values of ${twice[0]}: give one`;
  }
  const { from, to, limit, ...filters } = Object.fromEntries(given) as Readonly<Record<string, string>>;
  const fromMs = from === undefined ? nowMs - defaultSpanMs : readTime(from, nowMs);
  const toMs = to === undefined ? nowMs : readTime(to, nowMs);
  if (fromMs === null || toMs === null) {
    const [name, found] = fromMs === null ? ["from", from] : ["to", to];
    return `Cannot use ${name} ${quoted(found)}: expected a time such as 2026-11-23T03:00:00Z, or how long ago, such as 24h or 7d`;
  }
  if (fromMs >= toMs) {
    return `Cannot use from ${isoTime(fromMs)}: expected a time before ${isoTime(toMs)}`;
  }
  if (limit !== undefined && !(/^[1-9]\d{0,4}$/.test(limit) && Number(limit) <= MOST)) {
    return `Cannot use limit ${quoted(limit)}: expected a whole number from 1 to ${MOST}`;
  }
  const unknown = Object.entries(filters).find(([name, value]) => WORDS[name]?.includes(value) === false);
  if (unknown !== undefined) {
    return `Cannot use ${unknown[0]} ${quoted(unknown[1])}: expected one of ${WORDS[unknown[0]]?.join(", ")}`;
  }
  return { ...filters, fromMs, toMs, limit: limit === undefined ? defaultLimit : Number(limit) };
}

/** Of an ISO 8601 time, or of `24h`, which is that long ago. */
function readTime(text: string, nowMs: number): number | null {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = count === undefined ? Date.parse(text) : nowMs - Number(count) * (UNITS_MS[unit ?? ""] ?? 0);
  return Number.isNaN(ms) || (count === undefined && !/^\d{4}-\d\d-\d\d/.test(text)) ? null : ms;
}

/** What was found, shortened, for a message. */
export function quoted(found: unknown): string {
  return JSON.stringify(found).slice(0, 100);
}

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

export function eventsJson(report: Report, log: EventLog, query: EventQuery, hosts: Hosts) {
  const events = selectEvents(log, query, hosts);
  return { ...span(report, query), total: events.length, events: events.slice(0, query.limit) };
}

export function incidentsJson(report: Report, log: EventLog, query: EventQuery) {
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
  query: EventQuery,
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
