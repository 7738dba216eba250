import type { Event } from "../../core/events/event.ts";
import type { Plan, PlannedBudget } from "../../core/model/plan.ts";
import type { Report } from "../../core/model/report.ts";
import { formatClock, formatCount, formatNumber, formatPercent, perWindow } from "../../core/model/text.ts";
import { eventWords } from "../wording/events.ts";
import { describePlan, planColumns } from "../wording/plan.ts";
import { indexerName } from "../wording/targets.ts";

/** Joins blocks of lines with an empty line between them. Empty blocks are left out. */
export function paragraphs(blocks: readonly (readonly string[])[]): string {
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/**
 * The lines of a table: titles, then rows, in aligned columns with two spaces between them. Columns in `right` are aligned to
 * the right.
 */
export function renderTextTable<Row>(
  columns: Readonly<Record<string, (row: Row) => string>>,
  rows: readonly Row[],
  right: readonly string[],
): readonly string[] {
  const aligned = Object.entries(columns).map(([title, cellOf]) => {
    const cells = [title.toUpperCase(), ...rows.map(cellOf)];
    const width = Math.max(...cells.map((cell) => cell.length));
    return cells.map((cell) => (right.includes(title) ? cell.padStart(width) : cell.padEnd(width)));
  });
  return ["", ...rows].map((_, line) =>
    aligned
      .map((cells) => cells[line])
      .join("  ")
      .trimEnd(),
  );
}

/**
 * What `synclag events` prints: a line for each event, the latest last, as in a log. `total`: the number of matching events.
 */
export function renderEventsTable(events: readonly Event[], total: number, nowMs: number): string {
  const rows = events.toReversed().map((event) => {
    const time = formatClock(Date.parse(event.time), nowMs);
    return { time, ...eventWords(event) };
  });
  type Row = (typeof rows)[number];
  const columns = {
    Time: ({ time }: Row) => time,
    What: ({ what }: Row) => what,
    Change: ({ change }: Row) => change,
    Detail: ({ detail }: Row) => detail,
  };
  const more = `The latest ${events.length} of ${formatCount(total, "event")}: see --limit`;
  return events.length === 0
    ? "No event matches in that time"
    : [...renderTextTable(columns, rows, []), ...(total > events.length ? [more] : [])].join("\n");
}

const NUMBERS = ["Endpoints", "Polled every", "Requests a day"];

/** What `synclag plan` prints: the indexers, how much of each budget the schedules use, and the skipped indexers. */
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

/** Names an optional indexer that is not polled, and says why. */
export function skippedLine(skipped: Report["skipped"][number]): string {
  return `Not polled: ${indexerName(skipped)}: ${skipped.why}`;
}
