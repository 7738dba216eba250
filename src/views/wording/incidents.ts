import { targetName, variantName } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import type { Incident } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatList, formatNumber } from "../../core/model/text.ts";
import { isPairDown } from "../../core/report/incidents-of.ts";
import {
  describeAlternatives,
  failoverTargets,
  idOfKey,
  indexerName,
  notableLagMs,
  type TargetProblem,
} from "./targets.ts";

/** The parts of an incident that describe it. */
type IncidentWords = Pick<Incident, "scope" | "subject"> & { readonly detail: string | null };

/** `lockup subgraph (production): 26 of 26 targets reject our requests`. */
export function incidentTitle(incident: IncidentWords): string {
  if (incident.scope === "pair" || incident.scope === "target") {
    return `${incidentSubject(incident)} ${incidentEffect(incident)}`;
  }
  return `${incidentSubject(incident)}: ${incidentEffect(incident)}`;
}

/** `lockup subgraph (production)` or `host gateway.example`. */
export function incidentSubject({ scope, subject }: IncidentWords): string {
  if (scope === "network") {
    return "Network";
  }
  if (scope === "pair") {
    return subject;
  }
  if (scope === "target") {
    return targetName({ key: subject });
  }
  return scope === "endpoint" ? indexerName(idOfKey(subject)) : `${scope} ${subject}`;
}

/** `26 of 26 targets reject our requests`: without the subject. Events of former versions name a target by its key. */
export function incidentEffect(incident: IncidentWords): string {
  const { detail, scope, subject } = incident;
  if (scope === "pair" || scope === "target") {
    return detail?.replace(`${incidentSubject(incident)} `, "").replace(`${subject} `, "") ?? "";
  }
  return detail?.replace(` of ${scope === "endpoint" ? subject : `${scope} ${subject}`}`, "") ?? "";
}

/** Longer lists of names are replaced by their count. */
const MAX_NAMES = 4;

/**
 * How late the targets of an incident are, and where their users can be sent: `up to 41 min behind; subgraph is ok on 17 of 19
 * chains, not on Morph and Tangle`. Empty without problems, and in a network incident, since nothing is known then.
 */
export function describeFailover(incident: Incident, problems: readonly TargetProblem[]): string {
  const { scope, targets } = incident;
  const keys = new Set(targets);
  const own = problems.filter(({ target }) => keys.has(target.key));
  if (scope === "network" || own.length === 0) {
    return "";
  }
  if (own.every(({ target }) => target.status === "chain_halted")) {
    return "the indexers are not the cause";
  }
  const lags = own.flatMap(({ target }) => notableLagMs(target) ?? []);
  const upTo = own.length === 1 ? "" : "up to ";
  const late = lags.length === 0 ? [] : `${upTo}${formatDuration(Math.max(...lags))} behind`;
  return [late, isPairDown(incident) ? [] : whereToSend(own)].flat().join("; ");
}

/** Where the users of the affected chains can be sent. A chain counts as served if each affected target has an alternative. */
function whereToSend(problems: readonly TargetProblem[]): string {
  const [first] = problems;
  if (first !== undefined && problems.length === 1) {
    return describeAlternatives(first);
  }
  const chains = [...groupBy(problems, ({ chain }) => chain.name)];
  const stuck = chains
    .filter(([, own]) => own.some((problem) => failoverTargets(problem).length === 0))
    .map(([name]) => name);
  if (stuck.length === chains.length) {
    const texts = new Set(problems.map(describeAlternatives));
    const [text = "", ...others] = texts;
    return others.length === 0 ? text : "no other variant is ok";
  }
  const variants = new Set(problems.flatMap(failoverTargets).map(variantName));
  if (chains.length === 1) {
    return `${formatList([...variants])} ${variants.size === 1 ? "is" : "are"} ok`;
  }
  const [variant = ""] = variants.size === 1 ? variants : ["another variant"];
  const named = stuck.length > MAX_NAMES ? formatNumber(stuck.length) : formatList(stuck);
  const where = `${chains.length - stuck.length} of ${formatCount(chains.length, "chain")}`;
  return `${variant} is ok on ${where}${stuck.length === 0 ? "" : `, not on ${named}`}`;
}
