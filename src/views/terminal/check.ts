import { targetName, variantName } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { atPace, isBeyond, type Limit, limitText } from "../../core/model/limit.ts";
import {
  type Incident,
  type Report,
  type Severity,
  sharedCauses,
  type TargetReport,
} from "../../core/model/report.ts";
import { statusRank } from "../../core/model/statuses.ts";
import { formatDuration, formatNumber } from "../../core/model/text.ts";
import { type Judgement, judgeReport, worst } from "../../core/report/severity.ts";
import { describeMissing, keepTargets, type Selection, selectTargets } from "../api/selection.ts";
import {
  describeReload,
  describeReplica,
  type Headline,
  headline,
  headlineAbove,
} from "../wording/headline.ts";
import { describeFailover, incidentTitle } from "../wording/incidents.ts";
import { describeDifference, findDifferences, paritySummary, parityTitle } from "../wording/parity.ts";
import {
  describeMaintenance,
  findProblems,
  latenessOf,
  SEVERITY_TONES,
  type TargetProblem,
  type Tone,
} from "../wording/targets.ts";
import { paragraphs, renderTextTable, skippedLine } from "./tables.ts";

/** Exit code of `synclag check`, as for monitoring plugins: ok, warning, critical, unknown. */
export type CheckExitCode = 0 | 1 | 2 | 3;

const EXIT_CODES: Readonly<Record<Severity, CheckExitCode>> = {
  ok: 0,
  calm: 0,
  unknown: 1,
  warning: 1,
  critical: 2,
};

/**
 * - 2: a pair has no usable variant that serves users, or the one variant that a selection names is not usable.
 * - 3: nothing is known about a pair, for example because no request may be sent.
 * - 1: something else needs a person.
 */
export function checkExitCode(report: Report, selections: readonly Selection[]): CheckExitCode {
  const { pairs, severity } = judgeSelections(report, selections);
  if (pairs.some((pair) => pair.severity === "critical")) {
    return 2;
  }
  const isBlind = pairs.some((pair) => pair.state === "unknown" && pair.severity !== "calm");
  return isBlind || pairs.length === 0 ? 3 : EXIT_CODES[severity];
}

/** How bad the selected targets are. Each selection is judged alone: targets outside of it do not count in its favour. */
function judgeSelections(report: Report, selections: readonly Selection[]): Judgement {
  const [first = judgeReport(report), ...others] = selections.map((one) =>
    judgeReport(keepTargets(report, selectTargets(report.targets, one))),
  );
  return others.reduce((all, { pairs, severity, targets }) => {
    const merged = [...targets].map(
      ([key, own]) => [key, worst([own, all.targets.get(key) ?? own])] as const,
    );
    return {
      severity: worst([all.severity, severity]),
      pairs: [...all.pairs, ...pairs],
      targets: new Map([...all.targets, ...merged]),
    };
  }, first);
}

/**
 * The part of a report that the filters select; without filters, the whole report. A filter is `protocol`, `protocol/chain`,
 * `protocol/chain/variant`, `protocol/chain/variant/tier` or the key of a target. Each filter that matches nothing is an error.
 */
export function selectForCheck(report: Report, filters: readonly string[]) {
  const { targets } = report;
  const read = filters.map((filter): Selection | string => {
    const parts = filter.split("/");
    const [protocol = "", chain, variant, tier] = parts;
    const selection = targets.find(({ key }) => key === filter) ?? { protocol, chain, variant, tier };
    if (parts.length > 4 || parts.includes("")) {
      return `Cannot use filter '${filter}': expected protocol, protocol/chain or protocol/chain/variant`;
    }
    return selectTargets(targets, selection).length === 0 ? describeMissing(targets, selection) : selection;
  });
  const errors = read.filter((one) => typeof one === "string");
  const selections = read.filter((one) => typeof one !== "string");
  const selected = new Set(selections.flatMap((one) => selectTargets(targets, one)));
  const kept = targets.filter((target) => selected.has(target));
  return { json: filters.length === 0 ? report : keepTargets(report, kept), selections, errors };
}

/**
 * Makes `ok` targets lagging if they are further behind than `maxLag` or, with an unknown lag, have not advanced within it.
 * Other targets keep their status, so that `maxLag` never loosens the configured limits.
 */
export function applyMaxLag(json: Report, maxLag: Limit): Report {
  const nowMs = Date.parse(json.generated_at);
  const paces = new Map(
    json.chains.map((one) => [one.slug, one.block_interval_seconds ?? one.block_time_seconds]),
  );
  const targets = json.targets.map((target) => {
    const pace = paces.get(target.chain) ?? null;
    const limit = atPace(maxLag, pace === null ? null : pace * 1_000);
    const { lag, text } = latenessOf(target, nowMs, "Lag unknown", "reference");
    return target.status !== "ok" || isBeyond(lag, limit) === false
      ? target
      : {
          ...target,
          status: "lagging" as const,
          detail: `${text} (--max-lag ${limitText(limit)})`,
        };
  });
  return { ...json, targets };
}

export interface CheckTableOptions {
  /** The whole report that `json` was selected from: any target in it may be an alternative. */
  readonly unfiltered: Report;
  readonly selections: readonly Selection[];
  readonly color: "ansi" | "none";
  /** Lines of tables are cut to the width of the terminal; null leaves them as they are. */
  readonly widthColumns: number | null;
  /** Where the statuses are explained, each at an anchor of its name. */
  readonly statusesUrl: string;
}

/** A fleet with more targets than this is large. */
const MAX_LISTED_WHOLE = 12;

/** More lines would push the headline off the screen. */
const MAX_LISTED = 24;

const targetColumns = (nowMs: number) => ({
  Status: ({ status }: TargetReport) => status,
  Target: targetName,
  Lag: ({ lag_seconds: lag }: TargetReport) => (lag === null ? "-" : formatDuration(lag * 1000)),
  Blocks: ({ lag_blocks: blocks }: TargetReport) => (blocks === null ? "-" : formatNumber(blocks)),
  Height: ({ block_number: block }: TargetReport) => (block === null ? "-" : formatNumber(block)),
  Detail: (target: TargetReport) =>
    [describeMaintenance(target, nowMs) ?? [], target.detail].flat().join(": "),
});

/** An indexer with its targets. */
type Indexer = readonly [name: string, targets: readonly TargetReport[]];

const INDEXER_COLUMNS = {
  Indexer: ([name]: Indexer) => name,
  OK: ([, own]: Indexer) => `${own.filter(({ status }) => status === "ok").length}/${own.length}`,
  "Worst lag": ([, own]: Indexer) => {
    const lags = own.flatMap(({ lag_seconds: lag }) => lag ?? []);
    return lags.length === 0 ? "-" : formatDuration(Math.max(...lags) * 1000);
  },
  "Not ok": ([, own]: Indexer) =>
    [...groupBy(own, ({ status }) => status)]
      .filter(([status]) => status !== "ok")
      .sort(([a], [b]) => statusRank(b) - statusRank(a))
      .map(([status, { length }]) => `${length} ${status}`)
      .join(", "),
};

const ANSI: Readonly<Record<Tone, string>> = { ok: "32", busy: "34", idle: "2", warn: "33", bad: "31;1" };

/**
 * What `synclag check` prints: the headline, the incidents, the targets, worst first, and in a large fleet a line for each
 * indexer.
 */
export function renderCheckTable(json: Report, options: CheckTableOptions): string {
  const { unfiltered, selections, color, widthColumns, statusesUrl } = options;
  const judgement = judgeSelections(json, selections);
  const problems = findProblems(unfiltered, json.targets, judgement);
  const summary = headlineAbove(json, problems, judgement.severity);
  const nowMs = Date.parse(json.generated_at);
  const notOk = problems.map(({ target }) => target);
  const paint = (text: string, by: Tone) => (color === "none" ? text : `\u001B[${ANSI[by]}m${text}\u001B[0m`);
  const cut = (line: string) =>
    widthColumns === null || line.length <= widthColumns ? line : `${line.slice(0, widthColumns - 1)}…`;
  const rowOf = (line: string, { key, status }: TargetReport) => {
    const tone = SEVERITY_TONES[judgement.targets.get(key) ?? "unknown"];
    return `${paint(status, tone)}${cut(printable(line)).slice(status.length)}`;
  };
  const anchors = [...new Set(notOk.map(({ status }) => `#${status}`))];
  const differing = findDifferences(json).map(
    (one) => `Data differ: ${parityTitle(one, json)}: ${describeDifference(one, nowMs)}`,
  );
  return paragraphs([
    [paint(printable(sentenceOf(summary)), summary.tone)],
    [describeReplica(json) ?? [], describeReload(json) ?? []].flat().map(printable),
    sharedCauses(json.incidents).map((incident) => printable(incidentLine(incident, problems, nowMs))),
    targetLines(json, notOk, rowOf),
    json.targets.length > MAX_LISTED_WHOLE ? indexerLines(json.targets).map(cut) : [],
    [...differing, paritySummary(json) ?? []].flat().map(printable),
    json.skipped.map(skippedLine),
    anchors.length === 0 ? [] : [`Status meanings: ${statusesUrl}${anchors.join(" ")}`],
  ]);
}

function sentenceOf({ title, detail, others }: Headline): string {
  return [title, detail, ...others].filter((one) => one !== "").join("; ");
}

function incidentLine(incident: Incident, problems: readonly TargetProblem[], nowMs: number): string {
  const forMs = nowMs - Date.parse(incident.since);
  const failover = describeFailover(incident, problems);
  return `Incident: ${incidentTitle(incident)} (for ${formatDuration(forMs)})${failover === "" ? "" : `; ${failover}`}`;
}

/**
 * The lines of the targets, targets that are not ok first. In a large fleet, targets that are ok or unknown, or that an incident
 * explains, are left out.
 */
function targetLines(
  { generated_at, targets, incidents }: Report,
  notOk: readonly TargetReport[],
  rowOf: (line: string, target: TargetReport) => string,
): readonly string[] {
  const explained = new Set(sharedCauses(incidents).flatMap((incident) => incident.targets));
  const listed =
    targets.length <= MAX_LISTED_WHOLE
      ? [...notOk, ...targets.filter(({ status }) => status === "ok")]
      : notOk.filter((target) => target.status !== "unknown" && !explained.has(target.key));
  if (listed.length === 0) {
    return [];
  }
  const shown = listed.slice(0, MAX_LISTED);
  const columns = targetColumns(Date.parse(generated_at));
  const [head = "", ...lines] = renderTextTable(columns, shown, ["Lag", "Blocks", "Height"]);
  const rest = listed.length - shown.length;
  return [
    head,
    ...shown.map((target, index) => rowOf(lines[index] ?? "", target)),
    ...(rest > 0 ? [`and ${formatNumber(rest)} more: filter by protocol or chain to list them`] : []),
  ];
}

function indexerLines(targets: readonly TargetReport[]): readonly string[] {
  const indexers = groupBy(targets, (target) => `${target.protocol} ${variantName(target)}`);
  const sorted = [...indexers].sort(([a], [b]) => (a < b ? -1 : 1));
  return renderTextTable(INDEXER_COLUMNS, sorted, ["OK", "Worst lag"]);
}

/** Texts from upstream servers must not control the terminal. */
function printable(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}]+/gu, " ");
}

const STATES = ["OK", "WARNING", "CRITICAL", "UNKNOWN"] as const;

/** A status in one line, as monitoring plugins print it: `SYNCLAG OK: …`, then performance data behind a bar. */
export function renderNagiosLine(
  report: Report,
  { unfiltered, selections }: Pick<CheckTableOptions, "unfiltered" | "selections">,
): string {
  const judgement = judgeSelections(report, selections);
  const problems = findProblems(unfiltered, report.targets, judgement);
  const sentence = sentenceOf(headline(report, problems, judgement.severity));
  const { targets } = report;
  const ok = targets.filter(({ status }) => status === "ok").length;
  const lags = targets.flatMap(({ lag_seconds: lag }) => lag ?? []);
  const most = lags.length === 0 ? "" : ` max_lag=${Math.max(...lags)}s;;;0`;
  const performance = `targets=${targets.length};;;0 ok=${ok};;;0;${targets.length}${most}`;
  // Monitoring systems end the text at a bar or a line break.
  return `SYNCLAG ${STATES[checkExitCode(report, selections)]}: ${sentence.replace(/[|\r\n]+/g, " ")} | ${performance}`;
}
