import type { Plan } from "../../core/model/plan.ts";
import type { Report } from "../../core/model/report.ts";
import { formatNumber } from "../../core/model/text.ts";
import { filterByWords, filterPlan } from "../api/selection.ts";
import { describeReplica, type Headline, headline } from "../wording/headline.ts";
import { findProblems } from "../wording/targets.ts";
import { type Html, html } from "./html.ts";
import { fleetPath } from "./links.ts";
import { renderBudgets, renderFilterNote, renderIncidents, renderProblems, renderSkipped } from "./lists.ts";
import { renderMatrix } from "./matrix.ts";
import { renderDifferences } from "./parity.ts";
import { type PageOptions, renderAgo, renderPage, renderSummary, toneGlyph } from "./shell.ts";
import { renderFleetHistory, type StripOptions } from "./strip.ts";

/** What the page shows in addition to the report. */
export interface StatusPageParts {
  /** Finds the budgets of the targets that match the filter. */
  readonly plan?: Plan | undefined;
  /** The availability of the pairs. */
  readonly strips?: StripOptions | undefined;
}

/**
 * The status page: the headline, incidents, what is not ok worst first, then the whole fleet. All of it is about the
 * targets that match `query`; alternatives and failovers are looked for among all.
 */
export function renderStatusPage(
  report: Report,
  options: PageOptions,
  { plan, strips }: StatusPageParts = {},
): string {
  const nowMs = Date.parse(report.generated_at);
  const { links, query = "", sort = "" } = options;
  const shown = filterByWords(report, query);
  const view = { q: query, sort, range: strips === undefined || strips.range === "24h" ? "" : strips.range };
  const problems = findProblems(report, shown.targets);
  const summary = shown !== report && shown.targets.length === 0 ? NO_MATCH : headline(shown, problems);
  const { tone, title, detail } = summary;
  const main = html`${renderSummary(report, tone, html`${toneGlyph(tone)} ${title}`, detail, describeState(shown, nowMs))}
${renderFilterNote(report, shown, fleetPath({ ...view, q: "" }))}
${renderIncidents(shown.incidents, problems, links, nowMs)}
${renderProblems(problems, shown.incidents, links, nowMs)}
${renderDifferences(shown, nowMs)}
${shown.targets.length === 0 ? null : renderMatrix(shown, view)}
${strips === undefined || shown.targets.length === 0 ? null : renderFleetHistory(shown, strips, view)}
${renderBudgets(budgetsOf(shown, plan))}
${renderSkipped(shown.skipped)}`;
  return renderPage({ ...options, title: pageTitle(summary), tone, main, filters: "/" });
}

const NO_MATCH: Headline = { tone: "idle", title: "No target matches the filter", detail: null, urgent: 0 };

/** Which endpoints use a shared budget is known to the plan alone. */
function budgetsOf({ budgets, targets }: Report, plan: Plan | undefined): Report["budgets"] {
  const used = plan === undefined ? null : filterPlan(plan, targets).budgets.map(({ budget }) => budget);
  return used === null ? budgets : budgets.filter(({ budget }) => used.includes(budget));
}

function pageTitle({ urgent, title }: Headline): string {
  return urgent === 0
    ? `${title} · Synclag`
    : `${formatNumber(urgent)} ${urgent === 1 ? "needs" : "need"} attention · Synclag`;
}

/** Whether polling works, the number of targets by status, and the leader. */
function describeState(report: Report, nowMs: number): Html {
  const replica = describeReplica(report);
  const times = report.targets.flatMap(({ last_success: time }) => time ?? []);
  // Times in ISO 8601 sort as texts.
  const last = times.toSorted().at(-1) ?? "";
  const reply = last === "" ? "no reply yet" : html`last reply ${renderAgo(last, nowMs)}`;
  return html`; ${reply}. ${countByStatus(report)}
${replica === null ? null : html`</p><p id="replica">${replica}`}`;
}

/** `136 ok · 3 stalled · 1 lagging`; empty if all are the same, which the headline says. */
function countByStatus({ targets }: Report): string {
  const counts = new Map<string, number>();
  for (const { status } of targets) {
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts.size < 2
    ? ""
    : [...counts]
        .sort(([, a], [, b]) => b - a)
        .map(([status, count]) => `${count} ${status}`)
        .join(" · ");
}
