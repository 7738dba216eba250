import type { Event } from "../../core/events/event.ts";
import type { Plan, PlannedBudget } from "../../core/model/plan.ts";
import type { Report } from "../../core/model/report.ts";
import { formatClock, formatCount, formatNumber, formatPercent, perWindow } from "../../core/model/text.ts";
import { eventWords } from "../wording/events.ts";
import { describePlan, planColumns } from "../wording/plan.ts";
import { indexerName } from "../wording/targets.ts";
import { renderTextTable } from "./text-table.ts";

/** Paragraphs, each of some lines; those without lines are left out. */
export function paragraphs(blocks: readonly (readonly string[])[]): string {
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** What `synclag events` prints: a line for each event, the latest last, as in a log. `total`: how many there are. */
export function renderEventsTable(events: readonly Event[], total: number, nowMs: number): string {
  const rows = events.toReversed().map((event) => {
    const { what, change, detail } = eventWords(event, (slug) => slug);
    return [formatClock(Date.parse(event.time), nowMs), what, change, detail] as const;
  });
  type Row = (typeof rows)[number];
  const columns = {
    Time: ([time]: Row) => time,
    What: ([, what]: Row) => what,
    Change: ([, , change]: Row) => change,
    Detail: ([, , , detail]: Row) => detail,
  };
  const more = `The latest ${events.length} of ${formatCount(total, "event")}: see --limit`;
  return events.length === 0
    ? "Nothing happened in that time"
    : [...renderTextTable(columns, rows, []), ...(total > events.length ? [more] : [])].join("\n");
}

const NUMBERS = ["Endpoints", "Polled every", "Requests a day"];

/** What `synclag plan` prints: a line for each indexer, then how much of each budget the schedules use. */
export function renderPlanTable(plan: Plan): string {
  return paragraphs([
    [...renderTextTable(planColumns(plan), plan.indexers, NUMBERS), describePlan(plan)],
    plan.budgets.map(budgetLine),
    plan.skipped.map(skippedLine),
  ]);
}

/** What `synclag plan --format json` prints. */
export function renderPlanJson(plan: Plan): string {
  const rounded = (key: string, value: unknown): unknown =>
    key === "share" && typeof value === "number" ? Math.round(value * 10_000) / 10_000 : value;
  return JSON.stringify(plan, rounded, 2);
}

function budgetLine({ budget, endpoints, limit, per, requests, scope, share }: PlannedBudget): string {
  const most = `${scope === "shared" ? "together" : "each"} at most ${formatNumber(Math.round(requests))}`;
  const left = formatNumber(Math.max(0, Math.round(limit - requests)));
  const of = `${formatNumber(limit)} ${perWindow(per)} (${formatPercent(share)})`;
  return `Budget ${budget}: ${formatCount(endpoints, "endpoint")}, ${most} of ${of}, ${left} left`;
}

/** An optional indexer that is not polled, and why. */
export function skippedLine(skipped: Report["skipped"][number]): string {
  return `Not polled: ${indexerName(skipped)}: ${skipped.why}`;
}
