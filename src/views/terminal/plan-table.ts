import type { Plan, PlannedBudget } from "../../core/model/plan.ts";
import { formatCount, formatNumber, formatPercent, perWindow } from "../../core/model/text.ts";
import { describeDetection, describeProbe, PROBES_ARE_FREE, planRows } from "../wording/plan.ts";
import { skippedLine } from "./check.ts";
import { type Columns, renderTextTable } from "./text-table.ts";

const COLUMNS: Columns = {
  INDEXER: "left",
  ENDPOINTS: "right",
  "POLLED EVERY": "right",
  "REQUESTS A DAY": "right",
  BUDGET: "left",
  "FAULT DETECTED WITHIN": "left",
};

/** What `synclag plan` prints: a line for each indexer, then how much of each budget the schedules use. */
export function renderPlanTable(plan: Plan): string {
  const { endpoints, requests_per_day: requests } = plan.totals;
  const totals = ["total", formatNumber(endpoints), "", formatNumber(requests)];
  const table = renderTextTable(COLUMNS, [...planRows(plan), totals]);
  const budgets = plan.budgets.map(budgetLine);
  const skipped = plan.skipped.map(skippedLine);
  const parity = plan.parity.map((probe) => `Compared: ${describeProbe(probe)}`);
  const free = parity.length > 0 ? [PROBES_ARE_FREE] : [];
  return [table, budgets, skipped, [...parity, ...free], [describeDetection(plan.basis)]]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** What `synclag plan --format json` prints. */
export function renderPlanJson({ basis: _, ...plan }: Plan): string {
  const rounded = (key: string, value: unknown): unknown =>
    key === "share" && typeof value === "number" ? Math.round(value * 10_000) / 10_000 : value;
  return JSON.stringify(plan, rounded, 2);
}

function budgetLine(planned: PlannedBudget): string {
  const { budget, endpoints, limit, per, requests, scope, share } = planned;
  const used = `${formatNumber(Math.round(requests))} of ${formatNumber(limit)} ${perWindow(per)} (${formatPercent(share)})`;
  const left = `${formatNumber(Math.max(0, Math.round(limit - requests)))} left`;
  return scope === "shared"
    ? `Budget ${budget}: shared by ${formatCount(endpoints, "endpoint")}, ${used}, ${left}`
    : `Budget ${budget}: ${formatCount(endpoints, "endpoint")}, each at most ${used}, ${left}`;
}
