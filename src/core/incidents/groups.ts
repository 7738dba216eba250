import { type Endpoint, indexerKey } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import { memoize } from "../model/memoize.ts";
import type { Incident, TargetReport } from "../model/report.ts";
import { isAnswering } from "./trouble.ts";

/** Targets that one cause could affect together. */
export interface Group extends Pick<Incident, "scope" | "subject"> {
  /** The group as a sentence names it. */
  readonly name: string;
  readonly members: readonly TargetReport[];
  /** Whether the group as a whole is at fault when these members have the same trouble. */
  isAtFault(affected: ReadonlySet<TargetReport>, change: IncidentChange): boolean;
}

/** An incident that is active continues at a lower share than one starts at, so that it does not flap. */
export type IncidentChange = "start" | "continue";

/** An incident starts with more than half of an indexer, and ends with less than a third. */
const START_SHARE = 0.5;
const CONTINUE_SHARE = 1 / 3;

/** The groups of a fleet, the narrowest first: indexers, chains, hosts. */
export function groupsOf(reports: readonly TargetReport[], endpoints: readonly Endpoint[]): readonly Group[] {
  const { byIndexer, byHost } = endpointIndex(endpoints);
  const byKey = new Map(reports.map((report) => [report.key, report]));
  return [
    ...byIndexer.map(([subject, served]) => indexerGroup(subject, membersOf(served, byKey))),
    ...[...groupBy(reports, ({ chain }) => chain)].map(([chain, members]) => chainGroup(chain, members)),
    ...byHost
      // A host that serves a single indexer is reported as that indexer.
      .filter(([, served]) => new Set(served.map(indexerKey)).size > 1)
      .map(([host, served]) => hostGroup(host, served, byKey)),
    ...byHost.map(([host, served]) => opposingGroup(host, membersOf(served, byKey))),
  ];
}

const endpointIndex = memoize((endpoints: readonly Endpoint[]) => {
  const indexers = endpoints.filter(({ kind }) => kind === "indexer");
  return {
    byIndexer: [...groupBy(indexers, indexerKey)],
    byHost: [...groupBy(indexers, ({ host }) => host)],
  };
});

type ReportsByKey = ReadonlyMap<string, TargetReport>;

function membersOf(served: readonly Endpoint[], byKey: ReportsByKey): readonly TargetReport[] {
  return served
    .flatMap(({ targets }) => targets)
    .map(({ key }) => byKey.get(key))
    .filter((report) => report !== undefined);
}

function indexerGroup(subject: string, members: readonly TargetReport[]): Group {
  return {
    scope: "endpoint",
    subject,
    name: subject,
    members,
    isAtFault: (affected, change) => share(members, affected) > leastShare(change),
  };
}

/** A chain is at fault when all of its indexers that answer have the same trouble. */
function chainGroup(chain: string, members: readonly TargetReport[]): Group {
  return {
    scope: "chain",
    subject: chain,
    name: `chain ${chain}`,
    members,
    isAtFault: (affected, change) => {
      const answering = members.filter(isAnswering);
      const needed = change === "start" ? 1 : START_SHARE;
      return [...affected].every(isAnswering) && share(answering, affected) >= needed;
    },
  };
}

/** A host is at fault when each of its endpoints is. */
function hostGroup(host: string, served: readonly Endpoint[], byKey: ReportsByKey): Group {
  return {
    scope: "host",
    subject: host,
    name: `host ${host}`,
    members: membersOf(served, byKey),
    isAtFault: (affected, change) => {
      const isDown = (endpoint: Endpoint) =>
        share(membersOf([endpoint], byKey), affected) > leastShare(change);
      const down = served.filter(isDown).length;
      return change === "start" ? down === served.length : down > served.length * START_SHARE;
    },
  };
}

/** A provider opposes the rest when all that it serves on some chain, two targets or more, is excluded there. */
function opposingGroup(host: string, members: readonly TargetReport[]): Group {
  const chains = [...groupBy(members, ({ chain }) => chain).values()].filter((here) => here.length > 1);
  return {
    scope: "host",
    subject: host,
    name: `host ${host}`,
    members,
    isAtFault: (affected, change) =>
      [...affected].every(({ status }) => status === "diverged") &&
      chains.some((here) => share(here, affected) >= (change === "start" ? 1 : START_SHARE)),
  };
}

function leastShare(change: IncidentChange): number {
  return change === "start" ? START_SHARE : CONTINUE_SHARE;
}

function share(members: readonly TargetReport[], affected: ReadonlySet<TargetReport>): number {
  const hit = members.filter((member) => affected.has(member)).length;
  return members.length === 0 ? 0 : hit / members.length;
}
