import type { Plan } from "../../core/model/plan.ts";
import type { BudgetReport, Report } from "../../core/model/report.ts";
import { formatCount, formatNumber, perWindow } from "../../core/model/text.ts";
import { filterByWords, filterPlan } from "../api/selection.ts";
import { describePlan, planColumns } from "../wording/plan.ts";
import { html } from "./html.ts";
import { PLAN_PATH } from "./links.ts";
import {
  type PageOptions,
  renderFilterNote,
  renderList,
  renderPage,
  renderSection,
  renderSkipped,
  renderSummary,
  renderTable,
} from "./shell.ts";

/** What is left of each budget, and the polling plan, for the targets that match the filter. */
export function renderPlanPage(report: Report, whole: Plan, options: PageOptions): string {
  const shown = filterByWords(report, options.view.q);
  const plan = shown === report ? whole : filterPlan(whole, shown.targets);
  const used = new Set(plan.budgets.map(({ budget }) => budget));
  const budgets = shown.budgets
    .filter(({ budget }) => used.has(budget))
    .sort((a, b) => a.remaining / a.limit - b.remaining / b.limit);
  const left = renderTable("budgets", "What is left", BUDGET_COLUMNS, budgets, "tall");
  const main = html`${renderSummary(report, "idle", describePlan(plan))}
${renderFilterNote(report, shown, PLAN_PATH)}
${budgets.length === 0 ? null : renderSection("budgets", "Budgets", left)}
${renderSection("plan", "Plan", renderTable("plan", "Indexers", planColumns(plan), plan.indexers))}
${renderUnlisted(shown)}
${renderSkipped(shown.skipped)}`;
  const title = "Budgets and plan · Synclag";
  return renderPage({ ...options, title, tone: "idle", main, filters: PLAN_PATH, kind: "live" });
}

const ALL = "all together";

/** What is left for each endpoint, or for all endpoints that share a budget. */
const BUDGET_COLUMNS = {
  Endpoint: ({ endpoint }: BudgetReport) =>
    (endpoint ?? ALL).split(/(?<=\/)/).map((part) => html`${part}<wbr>`),
  Budget: ({ budget, limit, per }: BudgetReport) => `${budget}, ${formatNumber(limit)} ${perWindow(per)}`,
  Used: ({ budget, endpoint, limit, used }: BudgetReport) =>
    html`<meter min="0" max="${limit}" high="${Math.floor(limit * 0.9)}" value="${used}" aria-label="${budget} used by ${endpoint ?? ALL}"></meter> ${formatNumber(used)}`,
  Left: ({ detail, remaining }: BudgetReport) =>
    html`${formatNumber(remaining)}${detail === null ? null : html`<br>${detail}`}`,
};

function renderUnlisted({ chains, unlisted }: Report) {
  const names = new Map(chains.map(({ chain_id: id, slug }) => [id, `${id} (${slug})`]));
  const items = unlisted.flatMap(({ chain_ids: ids, endpoint }) => {
    const named = ids.map((id) => names.get(id) ?? id).join(", ");
    const item = html`<li><b>${endpoint}</b>: ${formatCount(ids.length, "chain")}: ${named}</li>`;
    return ids.length === 0 ? [] : item;
  });
  return renderList("unlisted", "Chains not listed for the indexer that serves them", items);
}
