import type { Plan, PlannedBudget, PlanRow } from "../../core/model/plan.ts";
import type { Report } from "../../core/model/report.ts";
import {
  formatClock,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  perWindow,
} from "../../core/model/text.ts";
import type { BudgetJson } from "../api/api-schema.ts";
import { isoTime, statusJson } from "../api/status.ts";
import {
  describeDetection,
  describeProbe,
  describeShare,
  PROBES_ARE_FREE,
  planRowName,
} from "../wording/plan.ts";
import { type Html, html } from "./html.ts";
import { renderSkipped, renderUsed } from "./lists.ts";
import { type PageOptions, renderPage } from "./shell.ts";

/** The page of all budgets, what is left of each, and the polling plan. */
export function renderPlanPage(report: Report, plan: Plan, options: PageOptions): string {
  const { budgets } = statusJson(report);
  const nowMs = report.generatedAtMs;
  const main = html`<div class="summary idle"><h1>${describePlan(plan)}</h1>
<p>As of <time id="asof" datetime="${isoTime(nowMs)}">${formatClock(nowMs, nowMs)}</time>. <a href="/">All chains</a></p></div>
${plan.budgets.map((planned) =>
  renderBudgetSection(
    planned,
    budgets.filter(({ budget }) => budget === planned.budget.name),
  ),
)}
${renderPlan(plan)}
${renderSkipped(plan.skipped)}`;
  return renderPage({ ...options, title: "Budgets and plan · Synclag", tone: "idle", main });
}

function describePlan({ endpoints, requestsPerDay, budgets }: Plan): string {
  const fullest = budgets.toSorted((a, b) => b.share - a.share)[0];
  const usage =
    fullest === undefined
      ? "no budgets configured"
      : `at most ${formatPercent(fullest.share)} of a budget (${fullest.budget.name})`;
  return `${formatCount(endpoints, "endpoint")}, ${formatNumber(requestsPerDay)} requests a day, ${usage}`;
}

function renderBudgetSection(
  { budget, endpoints, requests, share }: PlannedBudget,
  ledgers: readonly BudgetJson[],
): Html {
  const { name, limit, per, scope } = budget;
  const fullestFirst = ledgers.toSorted((a, b) => a.remaining - b.remaining);
  const whose = scope === "shared" ? `shared by ${formatCount(endpoints, "endpoint")}` : "for each endpoint";
  return html`<section aria-labelledby="budget-${name}"><h2 id="budget-${name}">Budget ${name}</h2>
<p class="hint">${formatNumber(limit)} requests ${perWindow(per)}, ${whose}. The schedules use ${formatNumber(Math.round(requests))} of them (${formatPercent(share)}); the rest is for retries, confirmation polls and manual checks. Used and left are those of the last ${WINDOW[per]}.</p>
<div class="box tall" id="box-budget-${name}" role="region" aria-label="Endpoints of budget ${name}" tabindex="0"><table class="plain">
<thead><tr><th scope="col">Endpoint</th><th scope="col">Used</th><th scope="col">Left</th></tr></thead>
<tbody>${fullestFirst.map(renderLedger)}</tbody></table></div></section>`;
}

/** As the ledgers count. */
const WINDOW = { hour: "60 minutes", day: "24 hours", month: "31 days" } as const;

function renderLedger(ledger: BudgetJson): Html {
  const where = ledger.endpoint ?? "all together";
  return html`<tr><th scope="row">${where.split(/(?<=\/)/).map((part) => html`${part}<wbr>`)}</th><td>${renderUsed(ledger, `${ledger.budget} used by ${where}`)}</td><td>${formatNumber(ledger.remaining)}${ledger.detail === null ? null : html`<br>${ledger.detail}`}${ledger.drawn_by.length === 0 ? null : html`<br>drawn by ${drawnBy(ledger)}`}</td></tr>
`;
}

/** For example `web-1:9855 1,200, check 80`. */
function drawnBy({ drawn_by }: BudgetJson): string {
  return drawn_by.map(({ name, requests }) => `${name} ${formatNumber(requests)}`).join(", ");
}

function renderPlan({ rows, basis, parity }: Plan): Html {
  return html`<section aria-labelledby="plan-title"><h2 id="plan-title">Plan</h2>
<div class="box" id="box-plan" role="region" aria-label="Indexers" tabindex="0"><table class="plain">
<thead><tr><th scope="col">Indexer</th><th scope="col">Endpoints</th><th scope="col">Polled every</th><th scope="col">Requests a day</th><th scope="col">Share of budget</th><th scope="col">Fault detected within</th></tr></thead>
<tbody>${rows.map(renderRow)}</tbody></table></div>
<p class="hint">${describeDetection(basis)}</p>${renderProbes(parity)}</section>`;
}

function renderProbes(probes: Plan["parity"]): Html | null {
  return probes.length === 0
    ? null
    : html`<p class="hint">Compared: ${probes.map(describeProbe).join("; ")}. ${PROBES_ARE_FREE}</p>`;
}

function renderRow(row: PlanRow): Html {
  return html`<tr><th scope="row">${planRowName(row)}</th><td>${formatNumber(row.endpoints)}</td><td>${formatDuration(row.intervalMs)}</td><td>${formatNumber(row.requestsPerDay)}</td><td>${describeShare(row)}</td><td>${formatDuration(row.faultShowsMs)}</td></tr>
`;
}
