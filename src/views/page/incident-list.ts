import { formatCount } from "../../core/model/text.ts";
import type { IncidentJson } from "../api/api-schema.ts";
import { formatAgo, formatClock } from "../wording/duration.ts";
import { describeFailover, incidentTitle } from "../wording/incident.ts";
import type { Trouble } from "../wording/triage.ts";
import { type Html, html } from "./html.ts";

/**
 * The shared causes, each with how bad it is, what is fresh beside it, and the targets that it explains folded away;
 * null while there are none.
 */
export function renderIncidents(
  incidents: readonly IncidentJson[],
  troubles: readonly Trouble[],
  nowMs: number,
): Html | null {
  if (incidents.length === 0) {
    return null;
  }
  const cards = incidents.map((incident) =>
    renderIncident(incident, { wayOut: describeFailover(incident, troubles), nowMs }),
  );
  return html`<section aria-labelledby="incidents-title"><h2 id="incidents-title">One cause, many targets</h2>
<ul class="cards">${cards}</ul></section>`;
}

function renderIncident(
  { scope, subject, since, detail, targets }: IncidentJson,
  { wayOut, nowMs }: { readonly wayOut: string; readonly nowMs: number },
): Html {
  const sinceMs = Date.parse(since);
  return html`<li class="card bad"><h3><i aria-hidden="true">✕</i> ${incidentTitle({ scope, subject, detail })}</h3>
${wayOut === "" ? null : html`<p>${wayOut}</p>`}
<p class="meta">since <time datetime="${since}">${formatClock(sinceMs, nowMs)}</time>, ${formatAgo(sinceMs, nowMs)}</p>
<details id="incident-${scope}-${subject}"><summary>${formatCount(targets.length, "target")}</summary><ul class="keys" tabindex="0">${targets.map((key) => html`<li>${key}</li>`)}</ul></details></li>
`;
}
