import { groupBy } from "../model/group-by.ts";
import { incidentKey } from "../model/report.ts";
import { type Event, isNews, targetsOf } from "./event.ts";
import type { EventLog } from "./event-log.ts";
import { type PastIncident, SPREAD_MS } from "./timeline.ts";

/** Events of the same change within two minutes, such as 26 targets whose API key was rejected; the oldest first. */
export type Change = readonly [Event, ...Event[]];

/** An incident and the changes in it, or a change that no incident explains. */
export interface Occurrence {
  readonly time: string;
  /** A current incident, or the past ones of one subject and day, the latest first. Empty if no incident explains the change. */
  readonly incidents: readonly PastIncident[];
  /** The oldest first. */
  readonly changes: readonly Change[];
}

/**
 * The incidents with their events, and the other events; the latest first. Past incidents of one subject and one day are one
 * occurrence. `hosts`: the targets of each host.
 */
export function occurrencesOf(
  log: EventLog,
  incidents: readonly PastIncident[],
  events: readonly Event[],
  hosts: ReadonlyMap<string, ReadonlySet<string>>,
): readonly Occurrence[] {
  const read = timelineReader(log, hosts);
  const bySubject = groupBy(incidents, (one) => `${incidentKey(one)} ${one.until && one.since.slice(0, 10)}`);
  const explained = new Set<Event>();
  const known = [...bySubject.values()].map((own): Occurrence => {
    const timeline = own.flatMap(read).toSorted(byTime);
    for (const event of timeline) {
      explained.add(event);
    }
    return { time: own[0]?.since ?? "", incidents: own, changes: changesOf(timeline) };
  });
  const others = events.filter((event) => !explained.has(event)).toSorted(byTime);
  const rest = changesOf(others).map((change) => ({
    time: change[0].time,
    incidents: [],
    changes: [change],
  }));
  return [...known, ...rest].sort((a, b) => Number(a.time < b.time) - Number(a.time > b.time));
}

/** Makes a function that reads the events of an incident, from the first trouble of its targets to the last recovery. */
function timelineReader(log: EventLog, hosts: ReadonlyMap<string, ReadonlySet<string>>) {
  const lists = [...log.lists.values()].filter(([one]) => one !== undefined && one.kind !== "incident");
  const entries = lists.flatMap((own) =>
    own[0] === undefined ? [] : targetsOf(own[0]).map((key) => [key, own] as const),
  );
  const byTarget = groupBy(entries, ([key]) => key);
  return (incident: PastIncident): readonly Event[] => {
    const { target_count, targets } = incident;
    // An incident with many targets keeps only some of their keys.
    const others =
      target_count > targets.length
        ? [...byTarget.keys()].filter((key) => isInScope(incident, key, hosts))
        : [];
    const keys = new Set([...targets, ...others]);
    // The key of a pair, as `targetsOf` writes it.
    const ofPairs = [...keys].map((key) => key.replace(/\/.*\//, "///"));
    const own = [...new Set([...keys, ...ofPairs])].flatMap((key) => byTarget.get(key) ?? []);
    const subjects = new Set(own.map(([, list]) => list));
    return [
      ...partOf(log.of("incident", incidentKey(incident)), incident),
      ...[...subjects].flatMap((list) => partOf(list, incident).filter(isNews)),
    ];
  };
}

/**
 * The events of one subject from two minutes before an incident to two minutes after it. They begin after the last recovery
 * before the incident, and end with the first recovery after it.
 */
function partOf(events: readonly Event[], { since, until }: PastIncident): readonly Event[] {
  const from = Date.parse(since) - SPREAD_MS;
  const to = until === null ? Number.POSITIVE_INFINITY : Date.parse(until) + SPREAD_MS;
  const near = events.filter(({ time }) => Date.parse(time) >= from && Date.parse(time) <= to);
  const recovered = near.findLastIndex((event) => event.time < since && isGood(event));
  const again = near.findIndex((event) => until !== null && event.time >= until && isGood(event));
  return near.slice(recovered + 1, again === -1 ? undefined : again + 1);
}

function isGood({ to }: Event): boolean {
  return to === "ok" || to === "ended" || to === "equal";
}

/** Whether a target is of the host, the endpoint, the chain or the network that an incident is about. */
function isInScope(
  { scope, subject }: PastIncident,
  key: string,
  hosts: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  switch (scope) {
    case "network":
      return true;
    case "host":
      return hosts.get(subject)?.has(key) === true;
    case "chain":
      return key.endsWith(`/${subject}`);
    default:
      return key.startsWith(`${subject}/`);
  }
}

/** Groups events of the same change within two minutes. The groups and their events are in the order of time. */
function changesOf(events: readonly Event[]): readonly Change[] {
  const latest = new Map<string, [Event, ...Event[]]>();
  return events.flatMap((event) => {
    const { from, kind, subject, time, to } = event;
    const key = JSON.stringify(
      kind === "incident" || kind === "process" ? [kind, subject, to] : [kind, from, to],
    );
    const change = latest.get(key);
    if (change !== undefined && Date.parse(time) - Date.parse(change[0].time) <= SPREAD_MS) {
      change.push(event);
      return [];
    }
    const begun: [Event, ...Event[]] = [event];
    latest.set(key, begun);
    return [begun];
  });
}

function byTime(a: Event, b: Event): number {
  return Number(a.time > b.time) - Number(a.time < b.time);
}
