import type { Budget } from "../../core/model/fleet.ts";
import type { Plan, PlannedBudget, PlanRow } from "../../core/model/plan.ts";
import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { type Column, renderTextTable } from "./text-table.ts";

const COLUMNS: readonly Column[] = [
  { title: "INDEXER", align: "left" },
  { title: "ENDPOINTS", align: "right" },
  { title: "POLLED EVERY", align: "right" },
  { title: "REQUESTS A DAY", align: "right" },
  { title: "BUDGET", align: "left" },
  { title: "FAULT SHOWS WITHIN", align: "left" },
];

/** The plan as a table for a terminal, with what becomes of each budget below it. */
export function renderPlanTable(plan: Plan): string {
  const totals = ["total", formatNumber(plan.endpoints), "", formatNumber(plan.requestsPerDay)];
  const table = renderTextTable(COLUMNS, [...plan.rows.map(rowCells), totals]);
  const budgets = plan.budgets.map(budgetLine);
  const skipped = plan.skipped.map(
    ({ protocol, variant, tier, why }) => `Not polled: ${protocol} ${variant} ${tier}: ${why}`,
  );
  const { polls, pollMs } = plan.basis;
  const basis =
    "A fault shows within: the worst case, an endpoint that stops answering just after a poll; " +
    `${formatCount(polls, "poll")} of up to ${formatDuration(pollMs)} must fail in a row.`;
  return [table, budgets, skipped, [basis]]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** The plan for programs: names and units as in the API. */
export function renderPlanJson(plan: Plan): string {
  const json = {
    indexers: plan.rows.map((row) => ({
      protocol: row.protocol,
      variant: row.variant,
      tier: row.tier,
      endpoints: row.endpoints,
      schedule: row.schedule,
      interval_seconds: row.intervalMs / 1_000,
      requests_per_day: row.requestsPerDay,
      budget: row.budget?.name ?? null,
      share: row.share === null ? null : rounded(row.share),
      fault_shows_seconds: row.faultShowsMs / 1_000,
    })),
    budgets: plan.budgets.map(({ budget, endpoints, requests, share }) => ({
      budget: budget.name,
      limit: budget.limit,
      per: budget.per,
      scope: budget.scope,
      endpoints,
      requests,
      share: rounded(share),
    })),
    totals: { endpoints: plan.endpoints, requests_per_day: plan.requestsPerDay },
    skipped: plan.skipped,
  };
  return JSON.stringify(json, null, 2);
}

function rounded(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}

function rowCells(row: PlanRow): readonly string[] {
  return [
    [row.protocol, row.variant, row.tier].filter((part) => part !== "").join(" "),
    formatNumber(row.endpoints),
    formatDuration(row.intervalMs),
    formatNumber(row.requestsPerDay),
    row.budget === null || row.share === null ? "none" : shareCell(row.budget, row.share),
    formatDuration(row.faultShowsMs),
  ];
}

function shareCell({ name, scope }: Budget, share: number): string {
  return scope === "shared" ? `${percent(share)} of ${name}` : `${percent(share)} of ${name} each`;
}

/** What is left is for retries, people, and targets in doubt. */
function budgetLine({ budget, endpoints, requests, share }: PlannedBudget): string {
  const { name, limit, per, scope } = budget;
  const spent = `${formatNumber(Math.round(requests))} of ${formatNumber(limit)} ${per === "hour" ? "an" : "a"} ${per}`;
  const left = `${formatNumber(Math.max(0, Math.round(limit - requests)))} left`;
  return scope === "shared"
    ? `Budget ${name}: ${formatCount(endpoints, "endpoint")} together, ${spent} (${percent(share)}), ${left}`
    : `Budget ${name}: ${formatCount(endpoints, "endpoint")}, each at most ${spent} (${percent(share)}), ${left}`;
}

function percent(share: number): string {
  return `${formatNumber(share * 100)}%`;
}
