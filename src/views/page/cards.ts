import type { PastIncident } from "../../core/events/timeline.ts";
import { variantName } from "../../core/model/fleet.ts";
import type { Links } from "../../core/model/links.ts";
import type { Incident, TargetReport } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { describeFailover, incidentTitle } from "../wording/incidents.ts";
import {
  describeAlternatives,
  describeLag,
  reasonSuffix,
  statusWords,
  type TargetProblem,
} from "../wording/targets.ts";
import { incidentProblem, renderAct, targetProblem } from "./act.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { chainPath, statusPath, targetAnchor } from "./links.ts";
import {
  renderAgo,
  renderClock,
  renderFor,
  renderLink,
  renderSection,
  renderTerm,
  toneGlyph,
} from "./shell.ts";

/** What cards need beside the report. */
export interface CardOptions {
  readonly links: Links | undefined;
  readonly nowMs: number;
}

/** More cards than this would push the fleet off the screen. */
const MAX_PROBLEMS = 24;

/** A target: its title, its status and why; then what the page says of it, and how to act. */
export function renderTargetCard(
  target: TargetReport,
  { id, title, body }: { readonly id: string; readonly title: HtmlValue; readonly body: HtmlValue },
  { links, nowMs }: CardOptions,
): Html {
  const { status, detail, since, preferred, maintenance } = target;
  const { tone } = statusWords(status);
  const lasting = since === null ? null : html`${renderFor(since, nowMs)} `;
  return html`<li class="card ${tone}" id="${id}"><h3>${title}
<a class="pill ${tone}" href="${statusPath(status)}">${toneGlyph(tone)} ${status}</a>
<small>${lasting}${preferred ? html`${renderTerm("preferred")} ` : null}${maintenance ? "in maintenance" : null}</small></h3>
<p>${detail}<small>${reasonSuffix(target)}</small></p>
${body}
${renderAct(targetProblem(target, id), links, nowMs)}</li>
`;
}

/** What is not ok and not explained by an incident, worst first; null if there is nothing. Unknown targets are only in the matrix. */
export function renderProblems(
  problems: readonly TargetProblem[],
  incidents: readonly Incident[],
  options: CardOptions,
): Html | null {
  const explained = new Set(incidents.flatMap(({ targets }) => targets));
  const listed = problems.filter(({ target }) => target.status !== "unknown" && !explained.has(target.key));
  const rest = listed.length - MAX_PROBLEMS;
  const cards = listed.slice(0, MAX_PROBLEMS).map((problem) => {
    const { target, chain } = problem;
    const { last_advance: time } = target;
    const name = `${target.protocol} ${variantName(target)} on ${chain.name}`;
    const title = html`<a href="${chainPath(chain.slug)}#${targetAnchor(target)}">${name}</a>${chain.testnet ? " (testnet)" : null}`;
    const facts = [describeLag(target) ?? [], describeAlternatives(problem)].flat().join(" · ");
    const advance =
      time === null ? "never seen to advance" : html`last advanced ${renderAgo(time, options.nowMs)}`;
    const body = html`<p class="meta">${facts} · ${advance} ${renderLink("Explorer", target.explorer)}</p>`;
    return renderTargetCard(target, { id: target.key, title, body }, options);
  });
  return cards.length === 0
    ? null
    : renderSection(
        "problems",
        "Not ok, worst first",
        html`<ol class="cards">${cards}</ol>
${rest > 0 ? html`<p class="hint">and ${formatNumber(rest)} more, in the fleet below</p>` : null}`,
      );
}

/** The incidents, each with its extent, the failover, and its targets folded; null if there are none. */
export function renderIncidents(
  incidents: readonly Incident[],
  problems: readonly TargetProblem[],
  options: CardOptions,
): Html | null {
  const cards = incidents.map((incident) =>
    renderIncidentCard(
      { ...incident, targets: [...incident.targets], until: null, target_count: incident.targets.length },
      describeFailover(incident, problems),
      options,
    ),
  );
  return cards.length === 0
    ? null
    : renderSection("incidents", "Incidents", html`<ul class="cards">${cards}</ul>`);
}

/** An incident; `until` is null while it goes on, and `target_count` includes targets that are not listed. */
export function renderIncidentCard(
  incident: PastIncident,
  body: HtmlValue,
  { links, nowMs }: CardOptions,
): Html {
  const { detail, scope, since, subject, target_count: count, targets, until } = incident;
  const length = formatDuration((until === null ? nowMs : Date.parse(until)) - Date.parse(since));
  const end = until === null ? null : html` to ${renderClock(until, nowMs)}`;
  const tone = until === null ? "bad" : "idle";
  const glyph = until === null ? toneGlyph("bad") : null;
  const id = until === null ? `${scope}-${subject}` : `${scope}-${subject}-${since}`;
  const rest = count - targets.length;
  return html`<li class="card ${tone}"><h3>${glyph} ${incidentTitle({ scope, subject, detail: detail ?? "" })}</h3>
<p>${body}</p>
<p class="meta">for ${length}, from ${renderClock(since, nowMs)}${end}</p>
<details id="incident-${id}"><summary>${formatCount(count, "target")}</summary>
<ul class="keys" tabindex="0">${targets.map((key) => html`<li>${key}</li>`)}${rest > 0 ? html`<li>and ${formatNumber(rest)} more</li>` : null}</ul></details>
${until === null ? renderAct(incidentProblem(incident), links, nowMs) : null}</li>
`;
}
