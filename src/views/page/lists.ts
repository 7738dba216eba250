import type { SkippedIndexer } from "../../core/model/fleet.ts";
import {
  formatAgo,
  formatClock,
  formatCount,
  formatDuration,
  formatNumber,
  perWindow,
} from "../../core/model/text.ts";
import type { BudgetJson, IncidentJson } from "../api/api-schema.ts";
import { targetKey } from "../api/filter-status.ts";
import { describeFailover, incidentTitle } from "../wording/incident.ts";
import type { TargetProblem } from "../wording/problems.ts";
import { statusWords } from "../wording/status-words.ts";
import { describeAlternatives, notableLagMs, variantName } from "../wording/target.ts";
import { type Html, html, webLink } from "./html.ts";
import { chainPath, PLAN_PATH, statusPath, targetAnchor } from "./links.ts";

/** More cards than this would push the fleet off the screen. */
const MAX_PROBLEMS = 24;

/** The incidents, each with its extent, where to fail over to, and its targets folded away; null if there are none. */
export function renderIncidents(
  incidents: readonly IncidentJson[],
  problems: readonly TargetProblem[],
  nowMs: number,
): Html | null {
  return incidents.length === 0
    ? null
    : html`<section aria-labelledby="incidents-title"><h2 id="incidents-title">Incidents</h2>
<ul class="cards">${incidents.map((incident) => renderIncident(incident, describeFailover(incident, problems), nowMs))}</ul></section>`;
}

function renderIncident(incident: IncidentJson, failover: string, nowMs: number): Html {
  const { scope, subject, since, targets } = incident;
  const sinceMs = Date.parse(since);
  return html`<li class="card bad"><h3><i aria-hidden="true">✕</i> ${incidentTitle(incident)}</h3>
${failover === "" ? null : html`<p>${failover}</p>`}
<p class="meta">for ${formatDuration(nowMs - sinceMs)}, since <time datetime="${since}">${formatClock(sinceMs, nowMs)}</time></p>
<details id="incident-${scope}-${subject}"><summary>${formatCount(targets.length, "target")}</summary><ul class="keys" tabindex="0">${targets.map((key) => html`<li>${key}</li>`)}</ul></details></li>
`;
}

/** What is not ok and not explained by an incident, worst first; null if there is nothing. Unknown targets are only in the matrix. */
export function renderProblems(
  problems: readonly TargetProblem[],
  incidents: readonly IncidentJson[],
  nowMs: number,
): Html | null {
  const explained = new Set(incidents.flatMap(({ targets }) => targets));
  const listed = problems.filter(
    ({ target }) => target.status !== "unknown" && !explained.has(targetKey(target)),
  );
  if (listed.length === 0) {
    return null;
  }
  const rest = listed.length - MAX_PROBLEMS;
  return html`<section aria-labelledby="problems-title"><h2 id="problems-title">Not ok, worst first</h2>
<ol class="cards">${listed.slice(0, MAX_PROBLEMS).map((problem) => renderProblem(problem, nowMs))}</ol>
${rest > 0 ? html`<p class="hint">and ${formatNumber(rest)} more, in the fleet below</p>` : null}</section>`;
}

function renderProblem(problem: TargetProblem, nowMs: number): Html {
  const { target, chain } = problem;
  const { tone, glyph } = statusWords(target.status);
  const name = `${target.protocol} ${variantName(target)} on ${chain.name}`;
  return html`<li class="card ${tone}"><h3><i aria-hidden="true">${glyph}</i> <a href="${chainPath(chain.slug)}#${targetAnchor(target)}">${name}</a>${chain.testnet ? html` <small>testnet</small>` : null}</h3>
<p class="state"><a href="${statusPath(target.status)}">${target.status}</a>${stateSuffix(problem)}${target.maintenance ? html` <small>in maintenance</small>` : null}</p>
<p>${target.detail}</p>
<p class="meta">${describeAlternatives(problem)}${lastAdvance(target.last_advance, nowMs)}${explorerLink(target.explorer)}</p></li>
`;
}

/** What the status alone does not say. */
function stateSuffix({ target }: TargetProblem): string {
  const { reason, status } = target;
  const lagMs = notableLagMs(target);
  const lag = lagMs === null ? "" : `, ${formatDuration(lagMs)} behind`;
  return `${reason === null || reason === status ? "" : ` (${reason})`}${lag}`;
}

function lastAdvance(time: string | null, nowMs: number): Html {
  return time === null
    ? html` · never seen to advance`
    : html` · last advanced <time datetime="${time}">${formatAgo(Date.parse(time), nowMs)}</time>`;
}

function explorerLink(explorer: string | null): Html | null {
  const link = webLink(explorer);
  return link === null ? null : html` · <a href="${link}" rel="noopener noreferrer">explorer</a>`;
}

/** A line for each budget; of a budget that each endpoint has for itself, the endpoint that has used most of it. */
export function renderBudgets(budgets: readonly BudgetJson[]): Html | null {
  if (budgets.length === 0) {
    return null;
  }
  const names = [...new Set(budgets.map(({ budget }) => budget))];
  return html`<section aria-labelledby="budgets-title"><h2 id="budgets-title">Budgets <small><a href="${PLAN_PATH}">details and plan</a></small></h2>
<div class="box" id="box-budgets" role="region" aria-label="Budgets" tabindex="0"><table class="plain">
<thead><tr><th scope="col">Budget</th><th scope="col">Used</th><th scope="col">Left</th><th scope="col">Endpoint</th></tr></thead>
<tbody>${names.map((name) => renderBudget(budgets.filter(({ budget }) => budget === name)))}</tbody></table></div></section>`;
}

function renderBudget(budgets: readonly BudgetJson[]): Html | null {
  const fullest = budgets.toSorted((a, b) => a.remaining / a.limit - b.remaining / b.limit)[0];
  if (fullest === undefined) {
    return null;
  }
  const { budget, endpoint, per, limit, remaining } = fullest;
  const where = endpoint === null ? "shared" : `${endpoint}, the most used of ${budgets.length}`;
  const [wait, ...moreWaits] = budgets.flatMap(({ detail }) => detail ?? []);
  return html`<tr><th scope="row">${budget}</th><td>${renderUsed(fullest, `${budget} used`)} of ${formatNumber(limit)} ${perWindow(per)}</td><td>${formatNumber(remaining)}</td><td>${where}${wait === undefined ? null : html`<br>${wait}`}${moreWaits.length === 0 ? null : `, and ${formatCount(moreWaits.length, "more endpoint")}`}</td></tr>
`;
}

/** How much of a budget is used, as a bar and a number. */
export function renderUsed({ limit, used }: BudgetJson, label: string): Html {
  return html`<meter min="0" max="${limit}" high="${Math.floor(limit * 0.9)}" value="${used}" aria-label="${label}"></meter> ${formatNumber(used)}`;
}

/** The optional indexers that are not polled, and why; null if all are. */
export function renderSkipped(skipped: readonly SkippedIndexer[]): Html | null {
  return skipped.length === 0
    ? null
    : html`<section aria-labelledby="skipped-title"><h2 id="skipped-title">Not polled</h2>
<ul class="list">${skipped.map(
        ({ protocol, variant, tier, why }) => html`<li><b>${protocol} ${variant} (${tier})</b>: ${why}</li>`,
      )}</ul></section>`;
}
