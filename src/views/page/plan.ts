import { groupBy } from "../../core/model/group-by.ts";
import type { Plan, PlannedBudget } from "../../core/model/plan.ts";
import type { BudgetReport, Report } from "../../core/model/report.ts";
import { formatCount, formatNumber, formatPercent, perWindow } from "../../core/model/text.ts";
import { filterByWords, filterPlan } from "../api/selection.ts";
import { describeDetection, describeProbe, PROBES_ARE_FREE, planRows } from "../wording/plan.ts";
import { type Html, html } from "./html.ts";
import { PLAN_PATH } from "./links.ts";
import { renderFilterNote, renderSkipped, renderUnlisted, renderUsed } from "./lists.ts";
import { type PageOptions, renderPage, renderSection, renderSummary, renderTable } from "./shell.ts";

/** The page of all budgets, what is left of each, and the polling plan, as far as they concern the targets that match the filter. */
export function renderPlanPage(report: Report, whole: Plan, options: PageOptions): string {
  const shown = filterByWords(report, options.query ?? "");
  const plan = shown === report ? whole : filterPlan(whole, shown.targets);
  const ledgers = groupBy(shown.budgets, ({ budget }) => budget);
  const main = html`${renderSummary(report, "idle", describePlan(plan), null, html`. <a href="/">All chains</a>`)}
${renderFilterNote(report, shown, PLAN_PATH)}
${plan.budgets.map((planned) => renderBudget(planned, ledgers.get(planned.budget) ?? []))}
${renderPlan(plan)}
${renderUnlisted(shown)}
${renderSkipped(plan.skipped)}`;
  return renderPage({
    ...options,
    title: "Budgets and plan · Synclag",
    tone: "idle",
    main,
    filters: PLAN_PATH,
  });
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

/** As the ledgers count. */
const WINDOW = { hour: "60 minutes", day: "24 hours", month: "31 days" } as const;

function renderBudget(planned: PlannedBudget, ledgers: readonly BudgetReport[]): Html {
  const { budget: name, limit, per, scope } = planned;
  const whose =
    scope === "shared" ? `shared by ${formatCount(planned.endpoints, "endpoint")}` : "for each endpoint";
  const rows = ledgers.toSorted((a, b) => a.remaining - b.remaining).map(ledgerCells);
  const used = `${formatNumber(Math.round(planned.requests))} of them (${formatPercent(planned.share)})`;
  return renderSection(
    `budget-${name}`,
    `Budget ${name}`,
    html`<p class="hint">${formatNumber(limit)} requests ${perWindow(per)}, ${whose}. The schedules use ${used}; the rest is
for retries, confirmation polls and manual checks. Used and left are those of the last ${WINDOW[per]}.</p>
${renderTable(`budget-${name}`, `Endpoints of budget ${name}`, ["Endpoint", "Used", "Left"], rows, "tall")}`,
  );
}

function ledgerCells(ledger: BudgetReport) {
  const where = ledger.endpoint ?? "all together";
  return [
    html`${where.split(/(?<=\/)/).map((part) => html`${part}<wbr>`)}`,
    renderUsed(ledger, `${ledger.budget} used by ${where}`),
    html`${formatNumber(ledger.remaining)}${ledger.detail === null ? null : html`<br>${ledger.detail}`}`,
  ];
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
