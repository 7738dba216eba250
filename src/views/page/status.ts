import type { Report } from "../../core/model/report.ts";
import { formatCount } from "../../core/model/text.ts";
import type { StatusJson } from "../api/api-schema.ts";
import { isoTime, statusJson } from "../api/status.ts";
import { formatAgo, formatClock } from "../wording/duration.ts";
import { type Headline, headline } from "../wording/headline.ts";
import { TONE_GLYPHS } from "../wording/status.ts";
import { findTroubles } from "../wording/triage.ts";
import { renderBudgets, renderSkipped } from "./budget-table.ts";
import { type Html, html } from "./html.ts";
import { renderIncidents } from "./incident-list.ts";
import { renderMatrix } from "./matrix.ts";
import { type PageOptions, renderPage } from "./shell.ts";
import { filterByWords } from "./target-filter.ts";
import { renderTroubles } from "./trouble-list.ts";

/**
 * The status page: one sentence of truth, shared causes, what is wrong worst first, then the whole fleet.
 * The sentence always speaks of all targets; the rest of those that `query` leaves.
 */
export function renderStatusPage(report: Report, options: PageOptions): string {
  const json = statusJson(report);
  const nowMs = report.generatedAtMs;
  const all = findTroubles(json);
  const truth = headline(json, all);
  const shown = filterByWords(json, options.query ?? "");
  const main = html`${renderVerdict(report, json, truth)}
${renderFilterNote(json, shown)}
${renderIncidents(shown.incidents, all, nowMs)}
${renderTroubles(shown === json ? all : findTroubles(json, shown.targets), shown.incidents, nowMs)}
${shown.targets.length === 0 ? null : renderMatrix(shown)}
${renderBudgets(shown.budgets)}
${renderSkipped(shown.skipped)}`;
  return renderPage({ ...options, title: pageTitle(truth), tone: truth.tone, main });
}

function pageTitle({ needed, sentence }: Headline): string {
  return needed === 0 ? `${sentence} · Synclag` : `${needed} need you · Synclag`;
}

function renderVerdict(report: Report, json: StatusJson, { tone, sentence }: Headline): Html {
  const nowMs = report.generatedAtMs;
  return html`<div class="verdict ${tone}"><h1><i aria-hidden="true">${TONE_GLYPHS[tone]}</i> ${sentence}</h1>
<p>As of <time id="asof" datetime="${isoTime(nowMs)}">${formatClock(nowMs, nowMs)}</time>; ${newestAnswer(report)}. ${countByStatus(json)}</p></div>`;
}

/** Tells a frozen poller from a live one. */
function newestAnswer({ chains, generatedAtMs }: Report): string {
  const answers = chains.flatMap(({ targets }) =>
    targets.flatMap(({ lastSuccessMs }) => lastSuccessMs ?? []),
  );
  const newest = answers.reduce((latest, time) => Math.max(latest, time), Number.NEGATIVE_INFINITY);
  return Number.isFinite(newest) ? `newest answer ${formatAgo(newest, generatedAtMs)}` : "no answer so far";
}

/** `136 ok · 3 stalled · 1 lagging`; nothing where the sentence has said it all. */
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
  const count = shown.targets.length === 0 ? "The filter fits none" : `Showing ${shown.targets.length}`;
  return html`<p class="hint" id="shown">${count} of ${formatCount(json.targets.length, "target")}. <a href="/">Show all</a></p>`;
}
