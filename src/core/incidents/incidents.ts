import { type Endpoint, indexerKey } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import { memoize } from "../model/memoize.ts";
import { type Incident, incidentKey, type Status, type TargetReport } from "../model/report.ts";
import { formatNumber, isoTime } from "../model/text.ts";

/** What shared causes are looked for in. */
export interface IncidentInput {
  readonly targets: readonly TargetReport[];
  readonly endpoints: readonly Endpoint[];
  readonly nowMs: number;
  /** Then our own network is the one cause, and nothing else is looked for. */
  readonly isNetworkDown: boolean;
}

/** A cause that explains fewer targets is not an incident. */
const LEAST_TARGETS = 2;
/** An incident starts with more than half of an indexer, and ends with less than a third, so that it does not flap. */
const START_SHARE = 0.5;
const CONTINUE_SHARE = 1 / 3;

/**
 * What is wrong with many targets of one status, as a predicate: one cause gives all of its targets the same. Null: no trouble,
 * or nothing is known.
 */
const TROUBLE: Readonly<Record<Status, string | null>> = {
  unknown: null,
  rejected: "reject our key",
  throttled: "are throttled",
  not_found: "are not found",
  unreachable: "return no usable answer",
  missing: "are missing from the answer",
  failed: "report a failed deployment",
  diverged: "answer for another chain or fork",
  chain_halted: "have stopped because the chain has halted",
  stalled: "lag or have stopped",
  lagging: "lag or have stopped",
  syncing: null,
  ok: null,
};
/** A target with such a status does not answer, so that it says nothing about its chain. */
const NOT_ANSWERING: ReadonlySet<Status> = new Set([
  "unknown",
  "rejected",
  "throttled",
  "not_found",
  "unreachable",
]);

/** Targets that one cause could affect together. */
interface Group extends Pick<Incident, "scope" | "subject"> {
  readonly members: readonly TargetReport[];
  /** Whether the group as a whole is at fault when these members have the same trouble; `isActive`: it was, a moment ago. */
  readonly isAtFault: (affected: ReadonlySet<TargetReport>, isActive: boolean) => boolean;
}

/** Targets of one group with the same trouble. */
interface Cause {
  readonly group: Group;
  readonly trouble: string;
  readonly explained: readonly TargetReport[];
}

/**
 * Finds causes that explain the trouble of many targets, each target explained once: the cause that explains most
 * first, of equals the narrowest. An incident that goes on keeps its start time, and ends at a lower share than it starts.
 */
export function findIncidents(previous: readonly Incident[], input: IncidentInput): readonly Incident[] {
  const { targets, nowMs } = input;
  const known = new Map(previous.map((incident) => [incidentKey(incident), incident]));
  const since = (group: Pick<Incident, "scope" | "subject">) =>
    known.get(incidentKey(group))?.since ?? isoTime(nowMs);
  if (input.isNetworkDown) {
    const network = { scope: "network", subject: "all" } as const;
    const detail = "nothing can be reached: every host fails at once, so our own network is the likely cause";
    return [{ ...network, since: since(network), detail, targets: targets.map(({ key }) => key) }];
  }
  if (!targets.some(({ status }) => TROUBLE[status] !== null)) {
    return [];
  }
  const causes = groupsOf(targets, input.endpoints)
    .map((group) => causeOf(group, known.has(incidentKey(group))))
    .filter((cause) => cause !== null);
  return pickWidest(causes).map(({ group, trouble, explained }) => {
    const { scope, subject, members } = group;
    const name = scope === "endpoint" ? subject : `${scope} ${subject}`;
    return {
      scope,
      subject,
      since: since(group),
      detail: `${formatNumber(explained.length)} of ${formatNumber(members.length)} targets of ${name} ${trouble}`,
      targets: explained.map(({ key }) => key),
    };
  });
}

/** The trouble that most members of a group have, if the group as a whole is at fault. */
function causeOf(group: Group, isActive: boolean): Cause | null {
  let most: Cause | null = null;
  for (const [trouble, explained] of groupBy(group.members, ({ status }) => TROUBLE[status])) {
    if (trouble !== null && explained.length > (most?.explained.length ?? 0)) {
      most = { group, trouble, explained };
    }
  }
  return most !== null &&
    most.explained.length >= LEAST_TARGETS &&
    group.isAtFault(new Set(most.explained), isActive)
    ? most
    : null;
}

function pickWidest(causes: readonly Cause[]): readonly Cause[] {
  const explained = new Set<TargetReport>();
  return causes
    .toSorted((a, b) => b.explained.length - a.explained.length)
    .filter((cause) => {
      const remaining = cause.explained.filter((report) => !explained.has(report));
      if (remaining.length < LEAST_TARGETS) {
        return false;
      }
      for (const report of remaining) {
        explained.add(report);
      }
      return true;
    });
}

/** The groups of a fleet, the narrowest first: indexers, chains, hosts. */
function groupsOf(targets: readonly TargetReport[], endpoints: readonly Endpoint[]): readonly Group[] {
  const { byIndexer, byHost } = endpointIndex(endpoints);
  const byKey = new Map(targets.map((report) => [report.key, report]));
  const membersOf = (served: readonly Endpoint[]) =>
    served.flatMap((endpoint) => endpoint.targets.flatMap(({ key }) => byKey.get(key) ?? []));
  const hosts = byHost.map(([subject, served]) => ({ subject, served, members: membersOf(served) }));
  return [
    ...byIndexer.map(([subject, served]): Group => {
      const members = membersOf(served);
      const isAtFault: Group["isAtFault"] = (affected, isActive) => isHit(members, affected, isActive);
      return { scope: "endpoint", subject, members, isAtFault };
    }),
    ...Array.from(
      groupBy(targets, ({ chain }) => chain),
      ([subject, members]): Group => ({
        scope: "chain",
        subject,
        members,
        isAtFault: isChainAtFault(members),
      }),
    ),
    // A host that serves a single indexer is reported as that indexer.
    ...hosts
      .filter(({ served }) => new Set(served.map(indexerKey)).size > 1)
      .map(({ subject, served, members }): Group => {
        const isAtFault = isHostAtFault(served.map((endpoint) => membersOf([endpoint])));
        return { scope: "host", subject, members, isAtFault };
      }),
    ...hosts.map(
      ({ subject, members }): Group => ({ scope: "host", subject, members, isAtFault: isOpposing(members) }),
    ),
  ];
}

const endpointIndex = memoize((endpoints: readonly Endpoint[]) => {
  const indexers = endpoints.filter(({ kind }) => kind === "indexer");
  return {
    byIndexer: [...groupBy(indexers, indexerKey)],
    byHost: [...groupBy(indexers, ({ host }) => host)],
  };
});

/** A chain is at fault when all of its indexers that answer have the same trouble. */
function isChainAtFault(members: readonly TargetReport[]): Group["isAtFault"] {
  return (affected, isActive) => {
    const answering = members.filter(({ status }) => !NOT_ANSWERING.has(status));
    const isAnswering = [...affected].every(({ status }) => !NOT_ANSWERING.has(status));
    return isAnswering && share(answering, affected) >= (isActive ? START_SHARE : 1);
  };
}

/** A host is at fault when each of its endpoints is, and remains so while more than half of them are. */
function isHostAtFault(endpoints: readonly (readonly TargetReport[])[]): Group["isAtFault"] {
  return (affected, isActive) => {
    const down = endpoints.filter((members) => isHit(members, affected, isActive)).length;
    return isActive ? down > endpoints.length * START_SHARE : down === endpoints.length;
  };
}

/** A provider opposes the rest when all that it serves on some chain, two targets or more, is excluded there. */
function isOpposing(members: readonly TargetReport[]): Group["isAtFault"] {
  const chains = [...groupBy(members, ({ chain }) => chain).values()].filter((here) => here.length > 1);
  return (affected, isActive) =>
    [...affected].every(({ status }) => status === "diverged") &&
    chains.some((here) => share(here, affected) >= (isActive ? START_SHARE : 1));
}

function isHit(
  members: readonly TargetReport[],
  affected: ReadonlySet<TargetReport>,
  isActive: boolean,
): boolean {
  return share(members, affected) > (isActive ? CONTINUE_SHARE : START_SHARE);
}

function share(members: readonly TargetReport[], affected: ReadonlySet<TargetReport>): number {
  const hit = members.filter((member) => affected.has(member)).length;
  return members.length === 0 ? 0 : hit / members.length;
}
