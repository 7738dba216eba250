import type { Report } from "../../core/model/report.ts";
import { formatAgo, formatCount, formatNumber } from "../../core/model/text.ts";
import { filterByWords } from "../api/selection.ts";
import { describeReplica, type Headline, headline } from "../wording/headline.ts";
import { findProblems } from "../wording/targets.ts";
import { type Html, html } from "./html.ts";
import { renderBudgets, renderIncidents, renderProblems, renderSkipped } from "./lists.ts";
import { renderMatrix } from "./matrix.ts";
import { renderDifferences } from "./parity.ts";
import { type PageOptions, renderPage, renderSummary, toneGlyph } from "./shell.ts";

/**
 * The status page: the headline, incidents, what is not ok worst first, then the whole fleet. The headline is always
 * about all targets; the rest shows those that match `query`.
 */
export function renderStatusPage(report: Report, options: PageOptions): string {
  const nowMs = Date.parse(report.generated_at);
  const problems = findProblems(report);
  const summary = headline(report, problems);
  const { tone, sentence } = summary;
  const shown = filterByWords(report, options.query ?? "");
  const main = html`${renderSummary(report, tone, html`${toneGlyph(tone)} ${sentence}`, describeState(report, nowMs))}
${shown === report ? null : renderFilterNote(report, shown)}
${renderIncidents(shown.incidents, problems, nowMs)}
${renderProblems(shown === report ? problems : findProblems(report, shown.targets), shown.incidents, nowMs)}
${renderDifferences(shown, nowMs)}
${shown.targets.length === 0 ? null : renderMatrix(shown)}
${renderBudgets(shown.budgets)}
${renderSkipped(shown.skipped)}`;
  return renderPage({ ...options, title: pageTitle(summary), tone, main });
}

function pageTitle({ urgent, sentence }: Headline): string {
  return urgent === 0
    ? `${sentence} · Synclag`
    : `${formatNumber(urgent)} ${urgent === 1 ? "needs" : "need"} attention · Synclag`;
}

/** Whether polling goes on, how many targets have each status, and who leads. */
function describeState(report: Report, nowMs: number): Html {
  const replica = describeReplica(report);
  const times = report.targets.flatMap(({ last_success: time }) => time ?? []);
  // Times in ISO 8601 sort as texts.
  const last = times.toSorted().at(-1) ?? "";
  const reply = last === "" ? "no reply yet" : `last reply ${formatAgo(Date.parse(last), nowMs)}`;
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

function renderFilterNote(report: Report, shown: Report): Html {
  const all = formatCount(report.targets.length, "target");
  return html`<p class="hint" id="shown">Showing ${shown.targets.length} of ${all}. <a href="/">Show all</a></p>`;
}
