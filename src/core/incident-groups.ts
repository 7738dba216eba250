import type { Endpoint } from "./fleet.ts";
import { groupBy } from "./group-by.ts";
import type { Incident, TargetReport } from "./report.ts";
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

/** All groups of a fleet, the narrowest first: indexers, chains, hosts. */
export function groupsOf(reports: readonly TargetReport[], endpoints: readonly Endpoint[]): readonly Group[] {
  const byKey = new Map(reports.map((report) => [report.target.key, report]));
  const members = (served: readonly Endpoint[]) =>
    served.flatMap(({ targets }) => targets.flatMap(({ key }) => byKey.get(key) ?? []));
  const indexers = endpoints.filter(({ kind }) => kind === "indexer");
  return [
    ...[...groupBy(indexers, indexerOf)].map(([subject, served]) => indexerGroup(subject, members(served))),
    ...[...groupBy(reports, ({ target }) => target.chain)].map(([chain, here]) => chainGroup(chain, here)),
    ...[...groupBy(indexers, ({ host }) => host)].flatMap(([host, served]) =>
      hostGroup(host, served, members),
    ),
  ];
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

/** A host is at fault when each of its endpoints is; one that serves a single indexer is told as that indexer. */
function hostGroup(
  host: string,
  served: readonly Endpoint[],
  membersOf: (served: readonly Endpoint[]) => readonly TargetReport[],
): readonly Group[] {
  if (new Set(served.map(indexerOf)).size < 2) {
    return [];
  }
  const perEndpoint = served.map((endpoint) => membersOf([endpoint]));
  return [
    {
      scope: "host",
      subject: host,
      name: `host ${host}`,
      members: membersOf(served),
      isEnough: (troubled, forWhat) => {
        const down = perEndpoint.filter((members) => share(members, troubled) > leastShare(forWhat)).length;
        return forWhat === "to begin" ? down === served.length : down > served.length * BEGIN_SHARE;
      },
    },
  ];
}

function leastShare(forWhat: "to begin" | "to stay"): number {
  return forWhat === "to begin" ? BEGIN_SHARE : STAY_SHARE;
}

function share(members: readonly TargetReport[], troubled: ReadonlySet<TargetReport>): number {
  const hit = members.filter((member) => troubled.has(member)).length;
  return members.length === 0 ? 0 : hit / members.length;
}

function indexerOf({ protocol, variant, tier }: Endpoint): string {
  return `${protocol}/${variant}/${tier}`;
}
