import type { IncidentJson } from "./status-json.ts";

type Told = Pick<IncidentJson, "scope" | "subject" | "detail">;

/** `lockup subgraph (production): 26 of 26 targets reject our key`. */
export function incidentTitle({ scope, subject, detail }: Told): string {
  return scope === "network"
    ? `Network: ${detail}`
    : `${subjectName(scope, subject)}: ${detail.replace(` of ${subject}`, "")}`;
}

/** `26 of 26 targets of lockup subgraph (production) reject our key`. */
export function incidentDetail({ scope, subject, detail }: Told): string {
  return scope === "endpoint" ? detail.replace(subject, subjectName(scope, subject)) : detail;
}

function subjectName(scope: IncidentJson["scope"], subject: string): string {
  const [protocol, variant, tier] = subject.split("/");
  return scope === "endpoint" ? `${protocol} ${variant} (${tier})` : `${scope} ${subject}`;
}
