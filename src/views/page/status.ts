import { groupBy } from "../../core/model/group-by.ts";
import type { Report, Severity } from "../../core/model/report.ts";
import { formatNumber } from "../../core/model/text.ts";
import { type Judgement, judgeReport, severityOfAll } from "../../core/report/severity.ts";
import { filterByWords } from "../api/selection.ts";
import { describeReload, describeReplica, type Headline, headlineAbove } from "../wording/headline.ts";
import { findProblems } from "../wording/targets.ts";
import { renderTroubles } from "./cards.ts";
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
import { renderFleetHistory } from "./strip.ts";

const NO_MATCH: Headline = {
  tone: "idle",
  title: "No target matches the filter",
  detail: "",
  others: [],
  urgent: 0,
};

/**
 * The status page: the headline, incidents, targets that are not ok, worst first, then the whole fleet. Only targets that match
 * the filter are shown; alternatives and failovers may be any target.
 */
export function renderStatusPage(report: Report, options: PageOptions): string {
  const nowMs = Date.parse(report.generated_at);
  const { view } = options;
  const shown = filterByWords(report, view.q);
  const judgement = judgeReport(report);
  const problems = findProblems(report, shown.targets);
  const isEmpty = shown !== report && shown.targets.length === 0;
  const { tone, title, detail, others, urgent } = isEmpty
    ? NO_MATCH
    : headlineAbove(shown, problems, severityOf(shown, judgement));
  const main = html`${renderSummary(report, tone, html`${toneGlyph(tone)} ${title}`, [detail, ...others], isEmpty ? "." : describeState(shown, nowMs))}
${renderFilterNote(report, shown, fleetPath({ ...view, q: "" }))}
${renderTroubles(shown, report, problems, options)}
${renderDifferences(shown, nowMs)}
${isEmpty ? null : renderMatrix(shown, judgement, view)}
${isEmpty ? null : renderFleetHistory(shown, options)}
${renderSkipped(shown.skipped)}`;
  const urgently = `${formatNumber(urgent)} ${urgent === 1 ? "needs" : "need"} attention`;
  return renderPage({
    ...options,
    title: `${urgent === 0 ? title : urgently} · Synclag`,
    tone,
    main,
    kind: "live",
  });
}

/** How bad the shown part of a report is, judged with all targets: alternatives count even if the filter hides them. */
function severityOf(shown: Report, { severity, targets }: Judgement): Severity {
  return shown.incidents.some(({ scope }) => scope === "network")
    ? severity
    : severityOfAll(
        shown,
        shown.targets.map(({ key }) => targets.get(key) ?? "unknown"),
      );
}

/** The time of the last height, the number of targets by status if statuses differ, the leader and a failed reload. */
function describeState(report: Report, nowMs: number): Html {
  const { targets } = report;
  // Times in ISO 8601 sort as texts.
  const last =
    targets
      .map(({ last_success: time }) => time ?? "")
      .toSorted()
      .at(-1) ?? "";
  const height = last === "" ? "no height yet" : html`last height ${renderAgo(last, nowMs)}`;
  const byStatus = [...groupBy(targets, ({ status }) => status)].sort(([, a], [, b]) => b.length - a.length);
  const counts = byStatus
    .map(([status, own]) => `${formatNumber(own.length)}\u00A0${status}`)
    .join("\u00A0· ");
  const [replica, reload] = [describeReplica(report), describeReload(report)];
  return html`; ${height}. ${byStatus.length < 2 ? null : counts}
${replica === null ? null : html`</p><p id="replica">${replica}`}
${reload === null ? null : html`</p><p id="reload">${reload}`}`;
}
