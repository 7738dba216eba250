import { variantName } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import type { Links } from "../../core/model/links.ts";
import type { BudgetReport, Incident, Report, TargetReport } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatNumber, perWindow } from "../../core/model/text.ts";
import { describeFailover, incidentTitle } from "../wording/incidents.ts";
import {
  describeAlternatives,
  indexerName,
  notableLagMs,
  statusWords,
  type TargetProblem,
} from "../wording/targets.ts";
import { incidentProblem, renderAct, targetProblem } from "./act.ts";
import { type Html, html, webLink } from "./html.ts";
import { chainPath, PLAN_PATH, statusPath, targetAnchor } from "./links.ts";
import { glyphOf, renderAgo, renderClock, renderSection, renderTable } from "./shell.ts";

/** More cards than this would push the fleet off the screen. */
const MAX_PROBLEMS = 24;

/** The incidents, each with its extent, the failover, and its targets folded; null if there are none. */
export function renderIncidents(
  incidents: readonly Incident[],
  problems: readonly TargetProblem[],
  links: Links | undefined,
  nowMs: number,
): Html | null {
  const cards = incidents.map((incident) =>
    renderIncident(incident, describeFailover(incident, problems), links, nowMs),
  );
  return cards.length === 0
    ? null
    : renderSection("incidents", "Incidents", html`<ul class="cards">${cards}</ul>`);
}

function renderIncident(incident: Incident, failover: string, links: Links | undefined, nowMs: number): Html {
  const { scope, subject, since, targets } = incident;
  return html`<li class="card bad"><h3>${glyphOf("✕")} ${incidentTitle(incident)}</h3>
${failover === "" ? null : html`<p>${failover}</p>`}
<p class="meta">for ${formatDuration(nowMs - Date.parse(since))}, since ${renderClock(since, nowMs)}</p>
${renderTargets(`incident-${scope}-${subject}`, targets, targets.length)}
${renderAct(incidentProblem(incident), links, nowMs)}</li>
`;
}

/** The targets of an incident, folded. `count` includes those that are not listed. */
export function renderTargets(id: string, keys: readonly string[], count: number): Html {
  const rest = count - keys.length;
  return html`<details id="${id}"><summary>${formatCount(count, "target")}</summary>
<ul class="keys" tabindex="0">${keys.map((key) => html`<li>${key}</li>`)}${rest > 0 ? html`<li>and ${formatNumber(rest)} more</li>` : null}</ul></details>`;
}

/** What is not ok and not explained by an incident, worst first; null if there is nothing. Unknown targets are only in the matrix. */
export function renderProblems(
  problems: readonly TargetProblem[],
  incidents: readonly Incident[],
  links: Links | undefined,
  nowMs: number,
): Html | null {
  const explained = new Set(incidents.flatMap(({ targets }) => targets));
  const listed = problems.filter(({ target }) => target.status !== "unknown" && !explained.has(target.key));
  if (listed.length === 0) {
    return null;
  }
  const rest = listed.length - MAX_PROBLEMS;
  return renderSection(
    "problems",
    "Not ok, worst first",
    html`<ol class="cards">${listed.slice(0, MAX_PROBLEMS).map((problem) => renderProblem(problem, links, nowMs))}</ol>
${rest > 0 ? html`<p class="hint">and ${formatNumber(rest)} more, in the fleet below</p>` : null}`,
  );
}

function renderProblem(problem: TargetProblem, links: Links | undefined, nowMs: number): Html {
  const { target, chain } = problem;
  const { tone, glyph } = statusWords(target.status);
  const name = `${target.protocol} ${variantName(target)} on ${chain.name}`;
  const explorer = webLink(target.explorer);
  const { last_advance: time } = target;
  const advance = time === null ? "never seen to advance" : html`last advanced ${renderAgo(time, nowMs)}`;
  return html`<li class="card ${tone}"><h3>${glyphOf(glyph)}
<a href="${chainPath(chain.slug)}#${targetAnchor(target)}">${name}</a>${chain.testnet ? html` <small>testnet</small>` : null}</h3>
<p class="state"><a href="${statusPath(target.status)}">${target.status}</a>${sinceSuffix(target, nowMs)}${stateSuffix(problem)}
${target.maintenance ? html`<small>in maintenance</small>` : null}</p>
<p>${target.detail}</p>
<p class="meta">${describeAlternatives(problem)} · ${advance}
${explorer === null ? null : html`· <a href="${explorer}" rel="noopener noreferrer">explorer</a>`}</p>
${renderAct(targetProblem(target, target.key), links, nowMs)}</li>
`;
}

function sinceSuffix({ since }: TargetReport, nowMs: number): Html | null {
  return since === null
    ? null
    : html` <time datetime="${since}">for ${formatDuration(nowMs - Date.parse(since))}</time>`;
}

/** Facts of a target that its status does not contain. */
function stateSuffix({ target }: TargetProblem): string {
  const { reason, status } = target;
  const lagMs = notableLagMs(target);
  const lag = lagMs === null ? "" : `, ${formatDuration(lagMs)} behind`;
  return `${reason === null || reason === status ? "" : ` (${reason})`}${lag}`;
}

const BUDGET_HEAD = ["Budget", "Used", "Left", "Endpoint"];

/** A line for each budget; of a budget per endpoint, the endpoint that has used most. */
export function renderBudgets(budgets: readonly BudgetReport[]): Html | null {
  const rows = [...groupBy(budgets, ({ budget }) => budget).values()].flatMap(budgetCells);
  const title = html`Budgets <small><a href="${PLAN_PATH}">details and plan</a></small>`;
  return rows.length === 0
    ? null
    : renderSection("budgets", title, renderTable("budgets", "Budgets", BUDGET_HEAD, rows));
}

function budgetCells(ledgers: readonly BudgetReport[]) {
  const fullest = ledgers.toSorted((a, b) => a.remaining / a.limit - b.remaining / b.limit)[0];
  if (fullest === undefined) {
    return [];
  }
  const { budget, endpoint, per, limit, remaining } = fullest;
  const where = endpoint === null ? "shared" : `${endpoint}, the most used of ${ledgers.length}`;
  const [wait, ...moreWaits] = ledgers.flatMap(({ detail }) => detail ?? []);
  const more = moreWaits.length === 0 ? "" : `, and ${formatCount(moreWaits.length, "more endpoint")}`;
  return [
    [
      budget,
      html`${renderUsed(fullest, `${budget} used`)} of ${formatNumber(limit)} ${perWindow(per)}`,
      formatNumber(remaining),
      html`${where}${wait === undefined ? null : html`<br>${wait}`}${more}`,
    ],
  ];
}

/** How much of a budget is used, as a bar and a number. */
export function renderUsed({ limit, used }: BudgetReport, label: string): Html {
  const high = Math.floor(limit * 0.9);
  return html`<meter min="0" max="${limit}" high="${high}" value="${used}" aria-label="${label}"></meter> ${formatNumber(used)}`;
}

/** How many targets the filter of a page shows, and the way back to all; null if it shows all. */
export function renderFilterNote(report: Report, shown: Report, path: string): Html | null {
  const all = formatCount(report.targets.length, "target");
  return shown === report
    ? null
    : html`<p class="hint" id="shown">Showing ${shown.targets.length} of ${all}. <a href="${path}">Show all</a></p>`;
}

/** The optional indexers that are not polled, and why; null if all are. */
/** Chains that endpoints serve and chains.yaml does not list. */
export function renderUnlisted({ chains, unlisted }: Pick<Report, "chains" | "unlisted">): Html | null {
  const names = new Map(chains.map(({ chain_id: id, slug }) => [id, `${id} (${slug})`]));
  const items = unlisted
    .filter(({ chain_ids: ids }) => ids.length > 0)
    .map(({ chain_ids: ids, endpoint }) => {
      const listed = ids.map((id) => names.get(id) ?? id).join(", ");
      return html`<li><b>${endpoint}</b>: ${formatCount(ids.length, "chain")}: ${listed}</li>`;
    });
  return items.length === 0
    ? null
    : renderSection("unlisted", "Served, but not in chains.yaml", html`<ul class="list">${items}</ul>`);
}

export function renderSkipped(skipped: Report["skipped"]): Html | null {
  const items = skipped.map((one) => html`<li><b>${indexerName(one)}</b>: ${one.why}</li>`);
  return items.length === 0
    ? null
    : renderSection("skipped", "Not polled", html`<ul class="list">${items}</ul>`);
}
