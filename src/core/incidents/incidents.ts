import { type Endpoint, indexerKey } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import { memoize } from "../model/memoize.ts";
import { type Incident, incidentKey, isFirstSync, type TargetReport } from "../model/report.ts";
import { type Status, traitsOf } from "../model/statuses.ts";
import { formatList, formatNumber, isoTime } from "../model/text.ts";

/** An incident whose severity is not decided yet. */
export type SharedCause = Omit<Incident, "severity">;

export interface CauseInput {
  readonly targets: readonly TargetReport[];
  readonly endpoints: readonly Endpoint[];
  readonly nowMs: number;
  /** If true, our own network is the only cause. */
  readonly isNetworkDown: boolean;
}

/** A cause that explains fewer targets is not an incident. */
const LEAST_TARGETS = 2;
/** Up to this number of targets are evidence of one cause only if a single host serves them. */
const FEW_TARGETS = 2;
/** Targets with one cause get their statuses one after another, at most this time and one poll interval apart. */
const TOGETHER_MS = 10 * 60_000;
/** An incident on more chains than this names none of them. */
const MAX_CHAINS = 4;
/** An indexer is at fault once more than half of its targets are affected, and remains so while more than a third are. */
const START_SHARE = 0.5;
const CONTINUE_SHARE = 1 / 3;
/** A chain or host is at fault once all of its parts are affected, and remains so while more than half are. */
const CONTINUE_WHOLE_SHARE = 0.5;

/** The members of a group that have the same trouble. */
type Affected = ReadonlySet<TargetReport>;

/** Targets that one cause could affect together. */
interface Group extends Pick<Incident, "scope" | "subject"> {
  readonly members: readonly TargetReport[];
  /** Whether the group as a whole is at fault, by its affected members; `isActive`: the incident was in the previous report. */
  readonly isAtFault: (members: readonly TargetReport[], affected: Affected, isActive: boolean) => boolean;
}

/** Targets of one group with the same trouble. */
interface Cause {
  readonly group: Group;
  readonly status: Status;
  readonly explained: readonly TargetReport[];
}

/** The endpoint that polls a target, by the key of the target. */
type EndpointOf = ReadonlyMap<string, Endpoint>;

/**
 * Finds causes that explain the trouble of many targets. The cause that explains the most targets comes first, and of equals the
 * narrowest. Another cause counts only if it explains two further targets. A running incident keeps its start time. It does not
 * end while some of its targets are unknown: after a restart or a suspend they have not been polled yet.
 */
export function findCauses(previous: readonly Incident[], input: CauseInput): readonly SharedCause[] {
  const { targets, nowMs } = input;
  const known = new Map(previous.map((incident) => [incidentKey(incident), incident]));
  const since = (group: Pick<Incident, "scope" | "subject">) =>
    known.get(incidentKey(group))?.since ?? isoTime(nowMs);
  if (input.isNetworkDown) {
    const network = { kind: "cause", scope: "network", subject: "all" } as const;
    const detail = "nothing can be reached: every host fails at once, so our own network is the likely cause";
    return [{ ...network, since: since(network), detail, targets: targets.map(({ key }) => key) }];
  }
  if (known.size === 0 && !targets.some(isTroubled)) {
    return [];
  }
  const { endpointOf } = endpointIndex(input.endpoints);
  const causes = groupsOf(targets, input.endpoints)
    .map((group) => causeOf(group, endpointOf, known.has(incidentKey(group))))
    .filter((cause) => cause !== null);
  const found = pickWidest(causes).map((cause): SharedCause => {
    const { scope, subject } = cause.group;
    const keys = cause.explained.map(({ key }) => key);
    return {
      kind: "cause",
      scope,
      subject,
      since: since(cause.group),
      detail: describeCause(cause),
      targets: keys,
    };
  });
  const foundKeys = new Set(found.map(incidentKey));
  const unknown = new Set(targets.filter(({ status }) => status === "unknown").map(({ key }) => key));
  const lasting = previous.filter(
    (incident) =>
      incident.scope !== "network" &&
      !foundKeys.has(incidentKey(incident)) &&
      incident.targets.some((key) => unknown.has(key)),
  );
  return [...found, ...lasting];
}

/** `3 of 4 targets of airdrops/subgraph/production are lagging on base, form and mode` */
function describeCause({ group: { scope, subject, members }, status, explained }: Cause): string {
  const name = scope === "endpoint" ? subject : `${scope} ${subject}`;
  const chains = [...new Set(explained.map(({ chain }) => chain))];
  const where = scope === "chain" || chains.length > MAX_CHAINS ? "" : ` on ${formatList(chains)}`;
  return `${formatNumber(explained.length)} of ${formatNumber(members.length)} targets of ${name} ${traitsOf(status).trouble}${where}`;
}

/** The most frequent trouble of a group that began together, if the group as a whole is at fault. */
function causeOf(group: Group, endpointOf: EndpointOf, isActive: boolean): Cause | null {
  const [most] = [...groupBy(group.members.filter(isTroubled), ({ status }) => status)]
    .map(([status, members]) => ({ group, status, explained: begunTogether(members, endpointOf) }))
    .toSorted((a, b) => b.explained.length - a.explained.length);
  return most !== undefined &&
    isEvidence(most, endpointOf) &&
    group.isAtFault(group.members, new Set(most.explained), isActive)
    ? most
    : null;
}

function isTroubled(target: TargetReport): boolean {
  return traitsOf(target.status).trouble !== null && !isFirstSync(target);
}

/**
 * Whether this is more than a coincidence. Two targets on different hosts are enough for a halted chain, because an RPC node
 * confirms the halt.
 */
function isEvidence({ status, explained }: Cause, endpointOf: EndpointOf): boolean {
  const hosts = new Set(explained.map(({ key }) => endpointOf.get(key)?.host));
  return (
    explained.length >= LEAST_TARGETS &&
    (explained.length > FEW_TARGETS || hosts.size === 1 || status === "chain_halted")
  );
}

/** The largest group of targets whose statuses began soon after one another. */
function begunTogether(targets: readonly TargetReport[], endpointOf: EndpointOf): readonly TargetReport[] {
  const pollMs = Math.max(0, ...targets.map(({ key }) => endpointOf.get(key)?.pollIntervalMs ?? 0));
  const begun = targets
    .flatMap((target) => (target.since === null ? [] : [{ target, sinceMs: Date.parse(target.since) }]))
    .toSorted((a, b) => a.sinceMs - b.sinceMs);
  const runs: TargetReport[][] = [];
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const { target, sinceMs } of begun) {
    if (sinceMs - lastMs > TOGETHER_MS + pollMs) {
      runs.push([]);
    }
    runs.at(-1)?.push(target);
    lastMs = sinceMs;
  }
  const longest = new Set(runs.toSorted((a, b) => b.length - a.length)[0]);
  return targets.filter((target) => longest.has(target));
}

function pickWidest(causes: readonly Cause[]): readonly Cause[] {
  const done = new Set<TargetReport>();
  return causes
    .toSorted((a, b) => b.explained.length - a.explained.length)
    .filter(({ explained }) => {
      const remaining = explained.filter((report) => !done.has(report));
      const isCause = remaining.length >= LEAST_TARGETS;
      for (const report of isCause ? remaining : []) {
        done.add(report);
      }
      return isCause;
    });
}

/** The groups of a fleet, the narrowest first: indexers, chains, hosts. */
function groupsOf(targets: readonly TargetReport[], endpoints: readonly Endpoint[]): readonly Group[] {
  const { byIndexer, byHost } = endpointIndex(endpoints);
  const byKey = new Map(targets.map((report) => [report.key, report]));
  const membersOf = (served: readonly Endpoint[]) =>
    served.flatMap((endpoint) => endpoint.targets.flatMap(({ key }) => byKey.get(key) ?? []));
  return [
    ...byIndexer.map(([subject, served]): Group => {
      return { scope: "endpoint", subject, members: membersOf(served), isAtFault: isHit };
    }),
    ...Array.from(
      groupBy(targets, ({ chain }) => chain),
      ([subject, members]): Group => ({ scope: "chain", subject, members, isAtFault: isChainHit }),
    ),
    ...byHost.map(([subject, served]): Group => {
      const parts = served.map((endpoint) => membersOf([endpoint]));
      // A host that serves a single indexer is reported as that indexer, unless it contradicts the other hosts.
      const isShared = new Set(served.map(indexerKey)).size > 1;
      const isAtFault: Group["isAtFault"] = (members, ...found) =>
        (isShared && isHostHit(parts, ...found)) || isOpposing(members, ...found);
      return { scope: "host", subject, members: membersOf(served), isAtFault };
    }),
  ];
}

const endpointIndex = memoize((endpoints: readonly Endpoint[]) => {
  const indexers = endpoints.filter(({ kind }) => kind === "indexer");
  return {
    endpointOf: new Map(indexers.flatMap((one) => one.targets.map(({ key }) => [key, one] as const))),
    byIndexer: [...groupBy(indexers, indexerKey)],
    byHost: [...groupBy(indexers, ({ host }) => host)],
  };
});

/**
 * A chain is at fault when all of its targets that reply have the same trouble, and remains so while more than half have it.
 * For any other trouble than `diverged`, diverged targets count as if they did not reply. A halted chain is at fault whatever
 * trouble other targets have: an RPC node has confirmed the halt.
 */
function isChainHit(members: readonly TargetReport[], affected: Affected, isActive: boolean): boolean {
  const replying = members.filter(
    (member) => affected.has(member) || (traitsOf(member.status).hasReply && member.status !== "diverged"),
  );
  const found = [...affected];
  const areReplying = found.every(({ status }) => traitsOf(status).hasReply);
  const isHalted = found.every(({ status }) => status === "chain_halted");
  return isHalted || (areReplying && isWholeHit(share(replying, affected), isActive));
}

/** A host is at fault when all of its endpoints are at fault, and remains so while more than half are. */
function isHostHit(
  endpoints: readonly (readonly TargetReport[])[],
  affected: Affected,
  isActive: boolean,
): boolean {
  const down = endpoints.filter((members) => isHit(members, affected, isActive)).length;
  return isWholeHit(down / endpoints.length, isActive);
}

/** Whether a host contradicts the others: on one chain it has at least two targets, and all are diverged. */
function isOpposing(members: readonly TargetReport[], affected: Affected, isActive: boolean): boolean {
  return (
    [...affected].every(({ status }) => status === "diverged") &&
    [...groupBy(members, ({ chain }) => chain).values()]
      .filter((here) => here.length > 1)
      .some((here) => isWholeHit(share(here, affected), isActive))
  );
}

function isWholeHit(affectedShare: number, isActive: boolean): boolean {
  return isActive ? affectedShare > CONTINUE_WHOLE_SHARE : affectedShare === 1;
}

function isHit(members: readonly TargetReport[], affected: Affected, isActive: boolean): boolean {
  return share(members, affected) > (isActive ? CONTINUE_SHARE : START_SHARE);
}

function share(members: readonly TargetReport[], affected: Affected): number {
  const hit = members.filter((member) => affected.has(member)).length;
  return members.length === 0 ? 0 : hit / members.length;
}
