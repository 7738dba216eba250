import { isProduction } from "../../core/model/fleet.ts";
import { formatDuration, formatNumber } from "../../core/model/text.ts";
import type { IncidentJson } from "../api/api-schema.ts";
import { targetKey } from "../api/filter-status.ts";
import { failoverTargets, notableLagMs } from "./target.ts";
import type { Trouble } from "./triage.ts";

/** How bad a shared cause is, and where the users of its targets may be sent. */
export interface Failover {
  /** `up to 41 min behind`; null where no lag says anything. */
  readonly behind: string | null;
  /** `subgraph is fresh on 17 of 21 chains`; of a halted chain, that nobody is to blame. */
  readonly fresh: string;
  /** `nothing on Morph and Tangle`: where nobody can be sent anywhere; null where there is no such place, or nothing else. */
  readonly without: string | null;
}

/** So many names are read at one look. */
const MOST_NAMES = 4;

/**
 * Looks beside the troubled targets of an incident for what is fresh. Null where that means nothing, since our own
 * network is gone and nothing is known.
 */
export function findFailover(incident: IncidentJson, troubles: readonly Trouble[]): Failover | null {
  const keys = new Set(incident.targets);
  const own = troubles.filter(({ target }) => keys.has(targetKey(target)));
  if (incident.scope === "network" || own.length === 0) {
    return null;
  }
  if (own.every(({ target }) => target.status === "chain_halted")) {
    return { behind: null, fresh: "no indexer is to blame", without: null };
  }
  // Of a pair, the target that users are served from comes last, and counts.
  const byTier = own.toSorted((a, b) => Number(isProduction(a.target)) - Number(isProduction(b.target)));
  const pairs = [...new Map(byTier.map((trouble) => [pairName(trouble), trouble])).values()];
  const lags = own.flatMap(({ target }) => notableLagMs(target) ?? []);
  return {
    behind: lags.length === 0 ? null : `up to ${formatDuration(Math.max(...lags))} behind`,
    ...describePairs(pairs),
  };
}

function describePairs(pairs: readonly Trouble[]): Pick<Failover, "fresh" | "without"> {
  const served = pairs.filter((pair) => failoverTargets(pair).length > 0);
  const tested = pairs.filter((pair) => pair.fresh.length > 0 && failoverTargets(pair).length === 0);
  const bare = pairs.filter(({ fresh }) => fresh.length === 0);
  if (served.length === 0) {
    const only = tested.length === 0 ? "" : `, only ${otherTier(tested)} ${place(tested, pairs)}`;
    return { fresh: `no other variant is fresh${only}`, without: null };
  }
  const lacks = [
    tested.length === 0 ? [] : `only ${otherTier(tested)} ${listed(tested, pairs)}`,
    bare.length === 0 ? [] : `nothing ${listed(bare, pairs)}`,
  ].flat();
  return {
    fresh: `${whoIsFresh(served)} is fresh ${place(served, pairs)}`,
    without: lacks.length === 0 ? null : lacks.join(", "),
  };
}

/** The one variant that is fresh beside each of them, by its name. */
function whoIsFresh(served: readonly Trouble[]): string {
  const names = new Set(served.flatMap((pair) => failoverTargets(pair).map(({ variant }) => variant)));
  const [name] = names;
  return names.size === 1 && name !== undefined ? name : "another variant";
}

/** `a testing URL`. */
function otherTier(tested: readonly Trouble[]): string {
  const [tier, ...more] = new Set(tested.flatMap(({ fresh }) => fresh.map((one) => one.tier)));
  return tier === undefined || more.length > 0 ? "another tier" : `a ${tier} URL`;
}

/** `on 17 of 21 chains`; an incident of a host may be one of several protocols. */
function place(some: readonly Trouble[], pairs: readonly Trouble[]): string {
  const unit = isOneProtocol(pairs) ? "chains" : "pairs of protocol and chain";
  if (pairs.length === 1) {
    return `on ${pairs.map(({ chain }) => chain.name).join("")}`;
  }
  return some.length === pairs.length
    ? `on all ${formatNumber(pairs.length)} ${unit}`
    : `on ${formatNumber(some.length)} of ${formatNumber(pairs.length)} ${unit}`;
}

/** `on Morph, Sophon and Tangle`, in an order that stays, or how many where they are too many to name. */
function listed(some: readonly Trouble[], pairs: readonly Trouble[]): string {
  if (some.length > MOST_NAMES) {
    return `on ${formatNumber(some.length)}`;
  }
  const names = some
    .map((trouble) => (isOneProtocol(pairs) ? trouble.chain.name : pairName(trouble)))
    .toSorted();
  const last = names.at(-1) ?? "";
  return names.length < 2 ? `on ${last}` : `on ${names.slice(0, -1).join(", ")} and ${last}`;
}

function pairName({ target, chain }: Trouble): string {
  return `${target.protocol} on ${chain.name}`;
}

function isOneProtocol(pairs: readonly Trouble[]): boolean {
  return new Set(pairs.map(({ target }) => target.protocol)).size === 1;
}
