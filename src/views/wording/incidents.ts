import { isProduction } from "../../core/model/fleet.ts";
import type { Incident } from "../../core/model/report.ts";
import { formatDuration, formatNumber } from "../../core/model/text.ts";
import { failoverTargets, idOfKey, indexerName, notableLagMs, type TargetProblem } from "./targets.ts";

/** What an incident is described by. */
type IncidentWords = Pick<Incident, "scope" | "subject" | "detail">;

/** `lockup subgraph (production): 26 of 26 targets reject our key`. */
export function incidentTitle(incident: IncidentWords): string {
  return `${incidentSubject(incident)}: ${incidentEffect(incident)}`;
}

/** `lockup subgraph (production)` or `host gateway.example`. */
export function incidentSubject({ scope, subject }: IncidentWords): string {
  if (scope === "network") {
    return "Network";
  }
  return scope === "endpoint" ? indexerName(idOfKey(subject)) : `${scope} ${subject}`;
}

/** `26 of 26 targets reject our key`: without the subject, which a detail names by its key or with its scope. */
export function incidentEffect({ scope, subject, detail }: IncidentWords): string {
  return detail.replace(` of ${scope === "endpoint" ? subject : `${scope} ${subject}`}`, "");
}

/** `up to 41 min behind; subgraph is ok on 17 of 21 chains, no alternative on Morph and Tangle`; may be empty. */
export function describeFailover(incident: Incident, problems: readonly TargetProblem[]): string {
  const failover = findFailover(incident, problems);
  if (failover === null) {
    return "";
  }
  const { worstLag, available, unavailable } = failover;
  const where = unavailable === null ? available : `${available}, ${unavailable}`;
  return worstLag === null ? where : `${worstLag}; ${where}`;
}

/** How bad an incident is, and where the users of its targets can be sent. */
interface Failover {
  /** `up to 41 min behind`; null where no lag is worth mentioning. */
  readonly worstLag: string | null;
  /** `subgraph is ok on 17 of 21 chains`. */
  readonly available: string;
  /** `no alternative on Morph and Tangle`; null if every chain has an alternative, or no chain has one. */
  readonly unavailable: string | null;
}

/** Longer lists of names are replaced by their count. */
const MAX_NAMES = 4;

/** Finds what is ok beside the targets of an incident. Null in a network incident, since nothing is known then. */
export function findFailover(incident: Incident, problems: readonly TargetProblem[]): Failover | null {
  const keys = new Set(incident.targets);
  const own = problems.filter(({ target }) => keys.has(target.key));
  if (incident.scope === "network" || own.length === 0) {
    return null;
  }
  if (own.every(({ target }) => target.status === "chain_halted")) {
    return { worstLag: null, available: "the indexers are not the cause", unavailable: null };
  }
  // One problem for each protocol and chain: the last in this order, which is that of a production target if it has one.
  const byTier = own.toSorted((a, b) => Number(isProduction(a.target)) - Number(isProduction(b.target)));
  const pairs = [...new Map(byTier.map((problem) => [pairName(problem), problem])).values()];
  const lags = own.flatMap(({ target }) => notableLagMs(target) ?? []);
  return {
    worstLag: lags.length === 0 ? null : `up to ${formatDuration(Math.max(...lags))} behind`,
    ...describePairs(pairs),
  };
}

function describePairs(pairs: readonly TargetProblem[]): Pick<Failover, "available" | "unavailable"> {
  const withFailover = pairs.filter((pair) => failoverTargets(pair).length > 0);
  const onlyOtherTier = pairs.filter((pair) => pair.alternatives.length > 0 && !withFailover.includes(pair));
  const withNothing = pairs.filter(({ alternatives }) => alternatives.length === 0);
  const other = onlyOtherTier.length === 0 ? null : `only ${otherTier(onlyOtherTier)}`;
  if (withFailover.length === 0) {
    const only = other === null ? "" : `, ${other} ${share(onlyOtherTier, pairs)}`;
    return { available: `no other variant is ok${only}`, unavailable: null };
  }
  const exceptions = [
    other === null ? [] : `${other} ${listed(onlyOtherTier, pairs)}`,
    withNothing.length === 0 ? [] : `no alternative ${listed(withNothing, pairs)}`,
  ].flat();
  return {
    available: `${commonVariant(withFailover)} is ok ${share(withFailover, pairs)}`,
    unavailable: exceptions.length === 0 ? null : exceptions.join(", "),
  };
}

/** The one variant that is available for each of them, by its name. */
function commonVariant(pairs: readonly TargetProblem[]): string {
  const [name = "", ...more] = new Set(
    pairs.flatMap((pair) => failoverTargets(pair).map(({ variant }) => variant)),
  );
  return more.length === 0 ? name : "another variant";
}

/** `a testing URL`. */
function otherTier(pairs: readonly TargetProblem[]): string {
  const [tier, ...more] = new Set(pairs.flatMap(({ alternatives }) => alternatives.map((one) => one.tier)));
  return tier === undefined || more.length > 0 ? "another tier" : `a ${tier} URL`;
}

/** `on 17 of 21 chains`; the incident of a host may be one of several protocols. */
function share(some: readonly TargetProblem[], pairs: readonly TargetProblem[]): string {
  const [only, ...more] = pairs;
  if (only !== undefined && more.length === 0) {
    return `on ${only.chain.name}`;
  }
  const unit = isOneProtocol(pairs) ? "chains" : "pairs of protocol and chain";
  const all = formatNumber(pairs.length);
  return some.length === pairs.length
    ? `on all ${all} ${unit}`
    : `on ${formatNumber(some.length)} of ${all} ${unit}`;
}

/** `on Morph, Sophon and Tangle`, sorted, or only how many if there are too many to name. */
function listed(some: readonly TargetProblem[], pairs: readonly TargetProblem[]): string {
  if (some.length > MAX_NAMES) {
    return `on ${formatNumber(some.length)}`;
  }
  const nameOf = (problem: TargetProblem) => (isOneProtocol(pairs) ? problem.chain.name : pairName(problem));
  return `on ${new Intl.ListFormat("en-GB").format(some.map(nameOf).toSorted())}`;
}

function pairName({ target, chain }: TargetProblem): string {
  return `${target.protocol} on ${chain.name}`;
}

function isOneProtocol(pairs: readonly TargetProblem[]): boolean {
  return new Set(pairs.map(({ target }) => target.protocol)).size === 1;
}
