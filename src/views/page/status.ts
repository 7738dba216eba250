import { groupBy } from "../../core/model/group-by.ts";
import type { Report } from "../../core/model/report.ts";
import { formatNumber } from "../../core/model/text.ts";
import { filterByWords } from "../api/selection.ts";
import { describeReplica, type Headline, headline } from "../wording/headline.ts";
import { findProblems } from "../wording/targets.ts";
import { renderIncidents, renderProblems } from "./cards.ts";
import { type Html, html } from "./html.ts";
import { fleetPath } from "./links.ts";
import { renderMatrix } from "./matrix.ts";
import { renderDifferences } from "./parity.ts";
import {
  type PageOptions,
  renderAgo,
  renderFilterNote,
  renderPage,
  renderSkipped,
  renderSummary,
  toneGlyph,
} from "./shell.ts";
import { renderFleetHistory, type StripOptions } from "./strip.ts";

/**
 * The status page: the headline, incidents, what is not ok worst first, then the whole fleet. All of it is about the
 * targets that match `query`; alternatives and failovers are looked for among all.
 */
export function renderStatusPage(report: Report, options: PageOptions, strips?: StripOptions): string {
  const nowMs = Date.parse(report.generated_at);
  const { links, query = "", sort = "" } = options;
  const shown = filterByWords(report, query);
  const view = { q: query, sort, range: strips === undefined || strips.range === "24h" ? "" : strips.range };
  const problems = findProblems(report, shown.targets);
  const summary = shown !== report && shown.targets.length === 0 ? NO_MATCH : headline(shown, problems);
  const { tone, title, detail } = summary;
  const main = html`${renderSummary(report, tone, html`${toneGlyph(tone)} ${title}`, detail, describeState(shown, nowMs))}
${renderFilterNote(report, shown, fleetPath({ ...view, q: "" }))}
${renderIncidents(shown.incidents, problems, { links, nowMs })}
${renderProblems(problems, shown.incidents, { links, nowMs })}
${renderDifferences(shown, nowMs)}
${shown.targets.length === 0 ? null : renderMatrix(shown, view)}
${strips === undefined || shown.targets.length === 0 ? null : renderFleetHistory(shown, strips, view)}
${renderSkipped(shown.skipped)}`;
  return renderPage({ ...options, title: pageTitle(summary), tone, main });
}

const NO_MATCH: Headline = { tone: "idle", title: "No target matches the filter", detail: "", urgent: 0 };

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
  const byStatus = [...groupBy(targets, ({ status }) => status)].sort(([, a], [, b]) => b.length - a.length);
  return byStatus.length < 2 ? "" : byStatus.map(([status, own]) => `${own.length} ${status}`).join(" · ");
}
