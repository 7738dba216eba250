import type { Report } from "../../core/model/report.ts";
import { formatAgo, formatClock, formatCount, formatNumber } from "../../core/model/text.ts";
import type { StatusJson } from "../api/api-schema.ts";
import { filterByWords } from "../api/filter-status.ts";
import { isoTime, statusJson } from "../api/status.ts";
import { type Headline, headline } from "../wording/headline.ts";
import { findProblems } from "../wording/problems.ts";
import { describeReplica } from "../wording/replica.ts";
import { TONE_GLYPHS } from "../wording/status-words.ts";
import { type Html, html } from "./html.ts";
import { renderBudgets, renderIncidents, renderProblems, renderSkipped } from "./lists.ts";
import { renderMatrix } from "./matrix.ts";
import { renderDifferences } from "./parity.ts";
import { type PageOptions, renderPage } from "./shell.ts";

/**
 * The status page: the headline, incidents, what is not ok worst first, then the whole fleet. The headline is always
 * about all targets; the rest shows those that match `query`.
 */
export function renderStatusPage(report: Report, options: PageOptions): string {
  const json = statusJson(report);
  const nowMs = report.generatedAtMs;
  const problems = findProblems(json);
  const summary = headline(json, problems);
  const shown = filterByWords(json, options.query ?? "");
  const main = html`${renderSummary(report, json, summary)}
${renderFilterNote(json, shown)}
${renderIncidents(shown.incidents, problems, nowMs)}
${renderProblems(shown === json ? problems : findProblems(json, shown.targets), shown.incidents, nowMs)}
${renderDifferences(shown, nowMs)}
${shown.targets.length === 0 ? null : renderMatrix(shown)}
${renderBudgets(shown.budgets)}
${renderSkipped(shown.skipped)}`;
  return renderPage({ ...options, title: pageTitle(summary), tone: summary.tone, main });
}

function pageTitle({ urgent, sentence }: Headline): string {
  return urgent === 0
    ? `${sentence} · Synclag`
    : `${formatNumber(urgent)} ${urgent === 1 ? "needs" : "need"} attention · Synclag`;
}

function renderSummary(report: Report, json: StatusJson, { tone, sentence }: Headline): Html {
  const nowMs = report.generatedAtMs;
  return html`<div class="summary ${tone}"><h1><i aria-hidden="true">${TONE_GLYPHS[tone]}</i> ${sentence}</h1>
<p>As of <time id="asof" datetime="${isoTime(nowMs)}">${formatClock(nowMs, nowMs)}</time>; ${describeLastReply(report)}. ${countByStatus(json)}</p>${renderReplica(json)}</div>`;
}

function renderReplica(json: StatusJson): Html | null {
  const sentence = describeReplica(json);
  return sentence === null ? null : html`<p id="replica">${sentence}</p>`;
}

/** Shows whether polling goes on. */
function describeLastReply({ chains, generatedAtMs }: Report): string {
  const times = chains.flatMap(({ targets }) => targets.flatMap(({ lastSuccessMs }) => lastSuccessMs ?? []));
  const last = times.reduce((latest, time) => Math.max(latest, time), Number.NEGATIVE_INFINITY);
  return Number.isFinite(last) ? `last reply ${formatAgo(last, generatedAtMs)}` : "no reply yet";
}

/** `136 ok · 3 stalled · 1 lagging`; empty if all are the same, which the headline says. */
function countByStatus({ targets }: StatusJson): string {
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

function renderFilterNote(json: StatusJson, shown: StatusJson): Html | null {
  if (shown === json) {
    return null;
  }
  return html`<p class="hint" id="shown">Showing ${shown.targets.length} of ${formatCount(json.targets.length, "target")}. <a href="/">Show all</a></p>`;
}
