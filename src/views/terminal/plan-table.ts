import type { Plan, PlannedBudget } from "../../core/model/plan.ts";
import { formatCount, formatNumber, formatPercent, perWindow } from "../../core/model/text.ts";
import { describeDetection, describeProbe, PROBES_ARE_FREE, planCells } from "../wording/plan.ts";
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
  const totals = ["total", formatNumber(plan.endpoints), "", formatNumber(plan.requestsPerDay)];
  const table = renderTextTable(COLUMNS, [...plan.rows.map(planCells), totals]);
  const budgets = plan.budgets.map(budgetLine);
  const skipped = plan.skipped.map(skippedLine);
  const parity = plan.parity.map((probe) => `Compared: ${describeProbe(probe)}`);
  const free = parity.length > 0 ? [PROBES_ARE_FREE] : [];
  return [table, budgets, skipped, [...parity, ...free], [describeDetection(plan.basis)]]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** What `synclag plan --format json` prints: names and units as in the API. */
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
    parity: plan.parity.map(({ name, protocol, variants, chains, everyMs }) => ({
      probe: name,
      protocol,
      variants,
      chains,
      every_seconds: everyMs / 1_000,
      extra_requests: 0,
    })),
  };
  return JSON.stringify(json, null, 2);
}

function rounded(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}

function budgetLine({ budget, endpoints, requests, share }: PlannedBudget): string {
  const { name, limit, per, scope } = budget;
  const used = `${formatNumber(Math.round(requests))} of ${formatNumber(limit)} ${perWindow(per)} (${formatPercent(share)})`;
  const left = `${formatNumber(Math.max(0, Math.round(limit - requests)))} left`;
  return scope === "shared"
    ? `Budget ${name}: shared by ${formatCount(endpoints, "endpoint")}, ${used}, ${left}`
    : `Budget ${name}: ${formatCount(endpoints, "endpoint")}, each at most ${used}, ${left}`;
}
