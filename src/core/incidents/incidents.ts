import type { Endpoint } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import { type ChainReport, type Incident, incidentKey, type TargetReport } from "../model/report.ts";
import { formatNumber, isoTime } from "../model/text.ts";
import { type Group, groupsOf, type IncidentChange } from "./groups.ts";
import { type Trouble, troubleOf, troubleText } from "./trouble.ts";

/** What shared causes are looked for in. */
export interface IncidentInput {
  readonly reports: readonly ChainReport[];
  readonly endpoints: readonly Endpoint[];
  readonly nowMs: number;
  /** Then our own network is the one cause, and nothing else is looked for. */
  readonly isNetworkDown: boolean;
}

/** A cause that explains fewer targets is not an incident. */
const LEAST_TARGETS = 2;

/**
 * Finds causes that explain the trouble of many targets, each target explained once: the cause that explains most
 * first, of equals the narrowest. An incident that goes on keeps its start time, and ends at a lower share than it starts.
 */
export function findIncidents(previous: readonly Incident[], input: IncidentInput): readonly Incident[] {
  const { endpoints, nowMs } = input;
  const reports = input.reports.flatMap(({ targets }) => targets);
  if (input.isNetworkDown) {
    return [continued(previous, networkIncident(reports, nowMs))];
  }
  if (!reports.some(hasTrouble)) {
    return [];
  }
  const active = new Set(previous.map(incidentKey));
  const causes = groupsOf(reports, endpoints)
    .map((group) => causeOf(group, active.has(incidentKey(group)) ? "continue" : "start"))
    .filter((cause) => cause !== null);
  return pickWidest(causes).map(({ group, trouble, explained }) =>
    continued(previous, {
      scope: group.scope,
      subject: group.subject,
      since: isoTime(nowMs),
      detail: `${formatNumber(explained.length)} of ${formatNumber(group.members.length)} targets of ${group.name} ${troubleText(trouble)}`,
      targets: explained.map(({ key }) => key),
    }),
  );
}

function hasTrouble({ status }: TargetReport): boolean {
  return troubleOf(status) !== null;
}

/** Targets of one group with the same trouble. */
interface Cause {
  readonly group: Group;
  readonly trouble: Trouble;
  readonly explained: readonly TargetReport[];
}

/** The trouble that most members of a group have, if the group as a whole is at fault. */
function causeOf(group: Group, change: IncidentChange): Cause | null {
  const byTrouble = groupBy(group.members.filter(hasTrouble), ({ status }) => troubleOf(status));
  let most: Cause | null = null;
  for (const [trouble, explained] of byTrouble) {
    if (trouble !== null && explained.length > (most?.explained.length ?? 0)) {
      most = { group, trouble, explained };
    }
  }
  return most !== null &&
    most.explained.length >= LEAST_TARGETS &&
    group.isAtFault(new Set(most.explained), change)
    ? most
    : null;
}

function pickWidest(causes: readonly Cause[]): readonly Cause[] {
  const picked: Cause[] = [];
  const explained = new Set<TargetReport>();
  for (const cause of causes.toSorted((a, b) => b.explained.length - a.explained.length)) {
    const remaining = cause.explained.filter((report) => !explained.has(report));
    if (remaining.length >= LEAST_TARGETS) {
      picked.push(cause);
      for (const report of remaining) {
        explained.add(report);
      }
    }
  }
  return picked;
}

function networkIncident(reports: readonly TargetReport[], nowMs: number): Incident {
  return {
    scope: "network",
    subject: "all",
    since: isoTime(nowMs),
    detail: "nothing can be reached: every host fails at once, so our own network is the likely cause",
    targets: reports.map(({ key }) => key),
  };
}

function continued(previous: readonly Incident[], incident: Incident): Incident {
  const before = previous.find((other) => incidentKey(other) === incidentKey(incident));
  return before === undefined ? incident : { ...incident, since: before.since };
}
