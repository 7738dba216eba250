import type { Event } from "../../core/events/event.ts";
import type { Plan, PlannedBudget } from "../../core/model/plan.ts";
import { formatClock, formatCount, formatNumber, formatPercent, perWindow } from "../../core/model/text.ts";
import { eventWords } from "../wording/events.ts";
import { describeDetection, describeProbe, PROBES_ARE_FREE, planRows } from "../wording/plan.ts";
import { skippedLine } from "./check.ts";
import { type Columns, renderTextTable } from "./text-table.ts";

const EVENT_COLUMNS: Columns = { TIME: "left", WHAT: "left", CHANGE: "left", DETAIL: "left" };

/** What `synclag events` prints: a line for each event, the latest last, as in a log. `total`: how many there are. */
export function renderEventsTable(events: readonly Event[], total: number, nowMs: number): string {
  if (events.length === 0) {
    return "Nothing happened in that time";
  }
  const rows = events.toReversed().map((event) => {
    const { what, change, detail } = eventWords(event, (slug) => slug);
    return [formatClock(Date.parse(event.time), nowMs), what, change, detail];
  });
  const more =
    total > events.length
      ? [`The latest ${events.length} of ${formatCount(total, "event")}: see --limit`]
      : [];
  return [...renderTextTable(EVENT_COLUMNS, rows), ...more].join("\n");
}

const PLAN_COLUMNS: Columns = {
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
  const table = renderTextTable(PLAN_COLUMNS, [...planRows(plan), totals]);
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
