import { type Endpoint, indexerKey } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import { memoize } from "../model/memoize.ts";
import type { Incident, TargetReport } from "../model/report.ts";
import { isHeard } from "./trouble.ts";

/** Targets that one cause could bring down together. */
export interface Group extends Pick<Incident, "scope" | "subject"> {
  /** What to call it in a sentence. */
  readonly name: string;
  readonly members: readonly TargetReport[];
  /** Whether so many in trouble put the group as a whole at fault. */
  isEnough(troubled: ReadonlySet<TargetReport>, forWhat: "to begin" | "to stay"): boolean;
}

/** An incident begins with more than half of an indexer, and ends with less than a third. */
const BEGIN_SHARE = 0.5;
const STAY_SHARE = 1 / 3;

/** Who is in trouble, and among whom. */
export interface Suspicion {
  readonly reports: readonly TargetReport[];
  readonly endpoints: readonly Endpoint[];
  /** Those of the reports that anything is wrong with. */
  readonly suspects: readonly TargetReport[];
}

/** The groups of a fleet that suspects may have brought down, the narrowest first: indexers, chains, hosts. */
export function groupsOf({ reports, endpoints, suspects }: Suspicion): readonly Group[] {
  const { byIndexer, byHost, homeOf } = placesOf(endpoints);
  const homes = suspects.map(({ target }) => homeOf.get(target.key)).filter((home) => home !== undefined);
  const indexers = new Set(homes.map(indexerKey));
  const chains = new Set(suspects.map(({ target }) => target.chain));
  const hosts = groupBy(homes, ({ host }) => host);
  const byKey = new Map(reports.map((report) => [report.target.key, report]));
  const here = reports.filter(({ target }) => chains.has(target.chain));
  return [
    ...[...byIndexer]
      .filter(([subject]) => indexers.has(subject))
      .map(([subject, served]) => indexerGroup(subject, membersOf(served, byKey))),
    ...[...groupBy(here, ({ target }) => target.chain)].map(([chain, members]) => chainGroup(chain, members)),
    ...[...byHost]
      // No more endpoints can be down than targets are.
      .filter(([host, served]) => (hosts.get(host)?.length ?? 0) > served.length * BEGIN_SHARE)
      .map(([host, served]) => hostGroup(host, served, byKey)),
  ];
}

/** Where the targets of a fleet are, which is the same as long as its configuration. */
const placesOf = memoize((endpoints: readonly Endpoint[]) => {
  const indexers = endpoints.filter(({ kind }) => kind === "indexer");
  const byHost = [...groupBy(indexers, ({ host }) => host)];
  return {
    byIndexer: groupBy(indexers, indexerKey),
    /** One that serves a single indexer is told as that indexer. */
    byHost: byHost.filter(([, served]) => new Set(served.map(indexerKey)).size > 1),
    homeOf: new Map(
      indexers.flatMap((endpoint) => endpoint.targets.map(({ key }) => [key, endpoint] as const)),
    ),
  };
});

type ReportOf = ReadonlyMap<string, TargetReport>;

function membersOf(served: readonly Endpoint[], byKey: ReportOf): readonly TargetReport[] {
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
    isEnough: (troubled, forWhat) => share(members, troubled) > leastShare(forWhat),
  };
}

/** A chain is at fault when all of its indexers that answer are in the same trouble. */
function chainGroup(chain: string, members: readonly TargetReport[]): Group {
  return {
    scope: "chain",
    subject: chain,
    name: `chain ${chain}`,
    members,
    isEnough: (troubled, forWhat) => {
      const heard = members.filter((member) => isHeard(member));
      const needed = forWhat === "to begin" ? 1 : BEGIN_SHARE;
      return troubled.size > 0 && [...troubled].every(isHeard) && share(heard, troubled) >= needed;
    },
  };
}

/** A host is at fault when each of its endpoints is. */
function hostGroup(host: string, served: readonly Endpoint[], byKey: ReportOf): Group {
  return {
    scope: "host",
    subject: host,
    name: `host ${host}`,
    members: membersOf(served, byKey),
    isEnough: (troubled, forWhat) => {
      const isDown = (endpoint: Endpoint) =>
        share(membersOf([endpoint], byKey), troubled) > leastShare(forWhat);
      const down = served.filter(isDown).length;
      return forWhat === "to begin" ? down === served.length : down > served.length * BEGIN_SHARE;
    },
  };
}

function leastShare(forWhat: "to begin" | "to stay"): number {
  return forWhat === "to begin" ? BEGIN_SHARE : STAY_SHARE;
}

function share(members: readonly TargetReport[], troubled: ReadonlySet<TargetReport>): number {
  const hit = members.filter((member) => troubled.has(member)).length;
  return members.length === 0 ? 0 : hit / members.length;
}
