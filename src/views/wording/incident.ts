import type { IncidentJson } from "../api/api-schema.ts";
import { findFailover } from "./failover.ts";
import type { Trouble } from "./triage.ts";

type Told = Pick<IncidentJson, "scope" | "subject" | "detail">;

/** `lockup subgraph (production): 26 of 26 targets reject our key`. */
export function incidentTitle({ scope, subject, detail }: Told): string {
  return scope === "network"
    ? `Network: ${detail}`
    : `${subjectName(scope, subject)}: ${detail.replace(` of ${detailName(scope, subject)}`, "")}`;
}

/** `26 of 26 targets of lockup subgraph (production) reject our key`. */
export function incidentDetail({ scope, subject, detail }: Told): string {
  return scope === "endpoint" ? detail.replace(subject, subjectName(scope, subject)) : detail;
}

/** `up to 41 min behind; subgraph is fresh on 17 of 21 chains, nothing on Morph and Tangle`; empty where nothing is to be said. */
export function describeFailover(incident: IncidentJson, troubles: readonly Trouble[]): string {
  const wayOut = findFailover(incident, troubles);
  if (wayOut === null) {
    return "";
  }
  const { behind, fresh, without } = wayOut;
  const where = without === null ? fresh : `${fresh}, ${without}`;
  return behind === null ? where : `${behind}; ${where}`;
}

/** What a detail calls its subject: an indexer by its key, all else with its scope. */
function detailName(scope: IncidentJson["scope"], subject: string): string {
  return scope === "endpoint" ? subject : `${scope} ${subject}`;
}

function subjectName(scope: IncidentJson["scope"], subject: string): string {
  const [protocol, variant, tier] = subject.split("/");
  return scope === "endpoint" ? `${protocol} ${variant} (${tier})` : `${scope} ${subject}`;
}
