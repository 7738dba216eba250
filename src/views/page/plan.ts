import type { Plan } from "../../core/model/plan.ts";
import type { BudgetReport, Report } from "../../core/model/report.ts";
import { formatCount, formatNumber, formatPercent, perWindow } from "../../core/model/text.ts";
import { filterByWords, filterPlan } from "../api/selection.ts";
import { describeDetection, describeProbe, PROBES_ARE_FREE, planRows } from "../wording/plan.ts";
import { type Html, html } from "./html.ts";
import { PLAN_PATH } from "./links.ts";
import {
  type PageOptions,
  renderFilterNote,
  renderPage,
  renderSection,
  renderSkipped,
  renderSummary,
  renderTable,
  renderUnlisted,
} from "./shell.ts";

/** The page of all budgets, what is left of each, and the polling plan, as far as they concern the targets that match the filter. */
export function renderPlanPage(report: Report, whole: Plan, options: PageOptions): string {
  const shown = filterByWords(report, options.query ?? "");
  const plan = shown === report ? whole : filterPlan(whole, shown.targets);
  const used = new Set(plan.budgets.map(({ budget }) => budget));
  const main = html`${renderSummary(report, "idle", describePlan(plan), "", html`. <a href="/">All chains</a>`)}
${renderFilterNote(report, shown, PLAN_PATH)}
${renderBudgets(shown.budgets.filter(({ budget }) => used.has(budget)))}
${renderPlan(plan)}
${renderUnlisted(shown)}
${renderSkipped(shown.skipped)}`;
  const title = "Budgets and plan · Synclag";
  return renderPage({ ...options, title, tone: "idle", main, filters: PLAN_PATH });
}

function describePlan({ totals, budgets }: Plan): string {
  const fullest = budgets.toSorted((a, b) => b.share - a.share)[0];
  const usage =
    fullest === undefined
      ? "no budgets configured"
      : `at most ${formatPercent(fullest.share)} of a budget (${fullest.budget})`;
  const requests = `${formatNumber(totals.requests_per_day)} requests a day`;
  return `${formatCount(totals.endpoints, "endpoint")}, ${requests}, ${usage}`;
}

const BUDGET_HEAD = ["Endpoint", "Budget", "Used", "Left"];

/** What is left for each endpoint, or for all that share a budget, the least first. */
function renderBudgets(budgets: readonly BudgetReport[]): Html | null {
  const rows = budgets
    .toSorted((a, b) => a.remaining / a.limit - b.remaining / b.limit)
    .map(({ budget, detail, endpoint, limit, per, remaining, used }) => {
      const where = endpoint ?? "all together";
      const high = Math.floor(limit * 0.9);
      const label = `${budget} used by ${where}`;
      return [
        html`${where.split(/(?<=\/)/).map((part) => html`${part}<wbr>`)}`,
        `${budget}, ${formatNumber(limit)} ${perWindow(per)}`,
        html`<meter min="0" max="${limit}" high="${high}" value="${used}" aria-label="${label}"></meter> ${formatNumber(used)}`,
        html`${formatNumber(remaining)}${detail === null ? null : html`<br>${detail}`}`,
      ];
    });
  return rows.length === 0
    ? null
    : renderSection("budgets", "Budgets", renderTable("budgets", "What is left", BUDGET_HEAD, rows, "tall"));
}

const HEAD = [
  "Indexer",
  "Endpoints",
  "Polled every",
  "Requests a day",
  "Share of budget",
  "Fault detected within",
];

function renderPlan(plan: Plan): Html {
  const { basis, parity } = plan;
  const compared = `Compared: ${parity.map(describeProbe).join("; ")}. ${PROBES_ARE_FREE}`;
  return renderSection(
    "plan",
    "Plan",
    html`${renderTable("plan", "Indexers", HEAD, planRows(plan))}
<p class="hint">${describeDetection(basis)}</p>
${parity.length === 0 ? null : html`<p class="hint">${compared}</p>`}`,
  );
}
