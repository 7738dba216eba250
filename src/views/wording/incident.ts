import type { Incident } from "../../core/model/report.ts";
import { findFailover } from "./failover.ts";
import type { TargetProblem } from "./problems.ts";

type IncidentText = Pick<Incident, "scope" | "subject" | "detail">;

/** `lockup subgraph (production): 26 of 26 targets reject our key`. */
export function incidentTitle({ scope, subject, detail }: IncidentText): string {
  return scope === "network"
    ? `Network: ${detail}`
    : `${subjectName(scope, subject)}: ${detail.replace(` of ${nameInDetail(scope, subject)}`, "")}`;
}

/** `26 of 26 targets of lockup subgraph (production) reject our key`. */
export function incidentDetail({ scope, subject, detail }: IncidentText): string {
  return scope === "endpoint" ? detail.replace(subject, subjectName(scope, subject)) : detail;
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

/** How a detail names its subject: an indexer by its key, all else with its scope. */
function nameInDetail(scope: Incident["scope"], subject: string): string {
  return scope === "endpoint" ? subject : `${scope} ${subject}`;
}

function subjectName(scope: Incident["scope"], subject: string): string {
  const [protocol, variant, tier] = subject.split("/");
  return scope === "endpoint" ? `${protocol} ${variant} (${tier})` : `${scope} ${subject}`;
}
