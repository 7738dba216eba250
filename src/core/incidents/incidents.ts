import type { Endpoint } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import { type ChainReport, type Incident, incidentKey, type TargetReport } from "../model/report.ts";
import { formatNumber } from "../model/text.ts";
import { type Group, groupsOf } from "./groups.ts";
import { type Trouble, troubleOf, troubleText } from "./trouble.ts";

/** What shared causes are looked for in. */
export interface IncidentInput {
  readonly reports: readonly ChainReport[];
  readonly endpoints: readonly Endpoint[];
  readonly nowMs: number;
  /** Whether nothing at all can be reached: then our own network is at fault, and nobody else. */
  readonly nothingIsReached: boolean;
}

/** A cause must explain so many targets to be worth a word. */
const LEAST_TARGETS = 2;

/**
 * Finds causes that explain the trouble of many targets, each target explained once: the cause that explains most
 * first, of equals the narrowest. One that was there before keeps its beginning, and ends later than it would begin.
 */
export function findIncidents(previous: readonly Incident[], input: IncidentInput): readonly Incident[] {
  const { endpoints, nowMs } = input;
  const suspects = input.reports.flatMap(inTrouble);
  if (!input.nothingIsReached && suspects.length < LEAST_TARGETS) {
    return [];
  }
  const reports = input.reports.flatMap(({ targets }) => targets);
  if (input.nothingIsReached) {
    return [sinceBefore(previous, networkIncident(reports, nowMs))];
  }
  const known = new Set(previous.map(incidentKey));
  const candidates = groupsOf({ reports, endpoints, suspects })
    .map((group) => explain(group, known.has(incidentKey(group))))
    .filter((cause) => cause !== null);
  return pickWidest(candidates).map(({ group, trouble, explained }) =>
    sinceBefore(previous, {
      scope: group.scope,
      subject: group.subject,
      sinceMs: nowMs,
      detail: `${formatNumber(explained.length)} of ${formatNumber(group.members.length)} targets of ${group.name} ${troubleText(trouble)}`,
      targets: explained.map(({ target }) => target.key),
    }),
  );
}

/** Nearly always nobody is: then nothing is made. */
function inTrouble({ targets }: ChainReport): readonly TargetReport[] {
  return targets.some(isTroubled) ? targets.filter(isTroubled) : NOBODY;
}

const NOBODY: readonly TargetReport[] = [];

function isTroubled({ status }: TargetReport): boolean {
  return troubleOf(status) !== null;
}

/** A group of targets in one trouble. */
interface Cause {
  readonly group: Group;
  readonly trouble: Trouble;
  readonly explained: readonly TargetReport[];
}

/** The trouble that most of a group is in, if it is enough for the group as a whole to be at fault. */
function explain(group: Group, wasThere: boolean): Cause | null {
  const byTrouble = groupBy(group.members.filter(isTroubled), ({ status }) => troubleOf(status));
  let best: Cause | null = null;
  for (const [trouble, explained] of byTrouble) {
    if (trouble !== null && explained.length > (best?.explained.length ?? 0)) {
      best = { group, trouble, explained };
    }
  }
  if (best === null || best.explained.length < LEAST_TARGETS) {
    return null;
  }
  const enough = group.isEnough(new Set(best.explained), wasThere ? "to stay" : "to begin");
  return enough ? best : null;
}

function pickWidest(candidates: readonly Cause[]): readonly Cause[] {
  const picked: Cause[] = [];
  const explained = new Set<TargetReport>();
  for (const cause of candidates.toSorted((a, b) => b.explained.length - a.explained.length)) {
    const fresh = cause.explained.filter((report) => !explained.has(report));
    if (fresh.length >= LEAST_TARGETS) {
      picked.push(cause);
      for (const report of fresh) {
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
    sinceMs: nowMs,
    detail: "nothing can be reached: every host fails at once, so our own network is the likely cause",
    targets: reports.map(({ target }) => target.key),
  };
}

function sinceBefore(previous: readonly Incident[], incident: Incident): Incident {
  const before = previous.find((other) => incidentKey(other) === incidentKey(incident));
  return before === undefined ? incident : { ...incident, sinceMs: before.sinceMs };
}
