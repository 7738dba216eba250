import type { Plan, PlanRow } from "../../core/model/plan.ts";
import type { Report } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import type { BudgetJson } from "../api/api-schema.ts";
import { isoTime, statusJson } from "../api/status.ts";
import { formatClock } from "../wording/duration.ts";
import { renderSkipped } from "./budget-table.ts";
import { type Html, html } from "./html.ts";
import { type PageOptions, renderPage } from "./shell.ts";

/** Every budget, what is left of it, and what the schedules ask of it. */
export function renderPlanPage(report: Report, plan: Plan, options: PageOptions): string {
  const { budgets } = statusJson(report);
  const nowMs = report.generatedAtMs;
  const main = html`<div class="verdict idle"><h1>${sentence(plan)}</h1>
<p>As of <time id="asof" datetime="${isoTime(nowMs)}">${formatClock(nowMs, nowMs)}</time>. <a href="/">All chains</a></p></div>
${renderBudgetSections(budgets, plan)}
${renderRows(plan)}
${renderSkipped(plan.skipped)}`;
  return renderPage({ ...options, title: "Budgets and plan · Synclag", tone: "idle", main });
}

function sentence({ endpoints, requestsPerDay, budgets }: Plan): string {
  const fullest = budgets.toSorted((a, b) => b.share - a.share)[0];
  const most =
    fullest === undefined
      ? "no budget limits them"
      : `at most ${percent(fullest.share)} of a budget (${fullest.budget.name})`;
  return `${formatCount(endpoints, "endpoint")}, ${formatNumber(requestsPerDay)} requests a day: ${most}`;
}

function renderBudgetSections(budgets: readonly BudgetJson[], plan: Plan): readonly Html[] {
  return plan.budgets.map(({ budget, endpoints, requests, share }) => {
    const { name, limit, per, scope } = budget;
    const own = budgets.filter((one) => one.budget === name).sort((a, b) => a.remaining - b.remaining);
    const whose = scope === "shared" ? `${formatCount(endpoints, "endpoint")} together` : "each endpoint";
    return html`<section aria-labelledby="budget-${name}"><h2 id="budget-${name}">Budget ${name}</h2>
<p class="hint">${formatNumber(limit)} requests ${a(per)} for ${whose}. The schedules take ${formatNumber(Math.round(requests))} of them (${percent(share)}); the rest is for retries, people and targets in doubt. Used and left are by the stricter of the calendar's ${per} and the last one.</p>
<div class="box tall" id="box-budget-${name}" role="region" aria-label="Endpoints of budget ${name}" tabindex="0"><table class="plain">
<thead><tr><th scope="col">Endpoint</th><th scope="col">Used</th><th scope="col">Left</th></tr></thead>
<tbody>${own.map(renderBudget)}</tbody></table></div></section>`;
  });
}

function renderBudget({ budget, endpoint, limit, used, remaining }: BudgetJson): Html {
  const where = endpoint ?? "all that share it";
  return html`<tr><th scope="row">${where}</th><td><meter min="0" max="${limit}" high="${Math.floor(limit * 0.9)}" value="${used}" aria-label="${budget} used by ${where}"></meter> ${formatNumber(used)}</td><td>${formatNumber(remaining)}</td></tr>
`;
}

function renderRows({ rows, basis }: Plan): Html {
  return html`<section aria-labelledby="plan-title"><h2 id="plan-title">Plan</h2>
<div class="box" id="box-plan" role="region" aria-label="Indexers" tabindex="0"><table class="plain">
<thead><tr><th scope="col">Indexer</th><th scope="col">Endpoints</th><th scope="col">Polled every</th><th scope="col">Requests a day</th><th scope="col">Of its budget</th><th scope="col">A fault shows within</th></tr></thead>
<tbody>${rows.map(renderRow)}</tbody></table></div>
<p class="hint">A fault shows within: the worst case, an endpoint that stops answering just after a poll; ${formatCount(basis.polls, "poll")} of up to ${formatDuration(basis.pollMs)} must fail in a row.</p></section>`;
}

function renderRow(row: PlanRow): Html {
  const name = [row.protocol, row.variant, row.tier].filter((part) => part !== "").join(" ");
  const share =
    row.budget === null || row.share === null ? "none" : `${percent(row.share)} of ${row.budget.name}`;
  const each = row.budget?.scope === "endpoint" ? " each" : "";
  return html`<tr><th scope="row">${name}</th><td>${formatNumber(row.endpoints)}</td><td>${formatDuration(row.intervalMs)}</td><td>${formatNumber(row.requestsPerDay)}</td><td>${share}${each}</td><td>${formatDuration(row.faultShowsMs)}</td></tr>
`;
}

function a(per: string): string {
  return per === "hour" ? "an hour" : `a ${per}`;
}

function percent(share: number): string {
  return `${formatNumber(share * 100)}%`;
}
