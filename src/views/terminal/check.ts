import { variantName } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import {
  type Incident,
  type Report,
  STATUSES,
  statusRank,
  type TargetReport,
} from "../../core/model/report.ts";
import { formatAgo, formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { type PairState, pairState, pairsOf } from "../../core/report/pairs.ts";
import { describeMissing, keepTargets, type Selection, selectTargets } from "../api/selection.ts";
import { describeReplica, headline } from "../wording/headline.ts";
import { describeFailover, incidentTitle } from "../wording/incidents.ts";
import { describeDifference, findDifferences, paritySummary, parityTitle } from "../wording/parity.ts";
import {
  findProblems,
  indexerName,
  reasonSuffix,
  statusWords,
  type TargetProblem,
  type Tone,
} from "../wording/targets.ts";
import { type Columns, renderTextTable, wrapWords } from "./text-table.ts";

/** Exit code of `synclag check`, as for monitoring plugins: ok, warning, critical, unknown. */
export type CheckExitCode = 0 | 1 | 2 | 3;

const EXIT_CODES: Readonly<Record<PairState, CheckExitCode>> = { ok: 0, degraded: 1, unknown: 2, down: 2 };

/**
 * 0: every target is ok. 2: some protocol and chain has no ok variant left that serves users; a selection that names a
 * variant considers that one alone. 1: anything between, or data that differ. 3: nothing could be learned at all.
 */
export function checkExitCode(report: Report, selections: readonly Selection[]): CheckExitCode {
  if (report.targets.every(({ status }) => status === "unknown")) {
    return 3;
  }
  const selected =
    selections.length === 0 ? [report.targets] : selections.map((one) => selectTargets(report.targets, one));
  const codes = selected
    .flatMap((targets) => pairsOf(report, targets))
    .map((pair) => EXIT_CODES[pairState(pair)]);
  const isDifferent = findDifferences(report).length > 0;
  const worstFirst: readonly CheckExitCode[] = [2, 1];
  return worstFirst.find((code) => codes.includes(code) || (code === 1 && isDifferent)) ?? 0;
}

/** What the filters of `synclag check` select, or an error for each filter that matches nothing. */
export type CheckSelection =
  | { readonly kind: "selected"; readonly json: Report; readonly selections: readonly Selection[] }
  | { readonly kind: "errors"; readonly errors: readonly string[] };

/** Narrows a status to the filters `protocol`, `protocol/chain` or `protocol/chain/variant`; without filters, to everything. */
export function selectForCheck(report: Report, filters: readonly string[]): CheckSelection {
  const parsed = filters.map(parseSelection);
  const selections = parsed.filter((one) => typeof one !== "string");
  const errors = parsed.flatMap((one) => {
    if (typeof one === "string") {
      return one;
    }
    return selectTargets(report.targets, one).length === 0 ? describeMissing(report.targets, one) : [];
  });
  if (errors.length > 0) {
    return { kind: "errors", errors };
  }
  const selected = new Set(selections.flatMap((one) => selectTargets(report.targets, one)));
  const json =
    filters.length === 0
      ? report
      : keepTargets(
          report,
          report.targets.filter((target) => selected.has(target)),
        );
  return { kind: "selected", json, selections };
}

/**
 * Treats targets that are ok but further behind than `maxLagMs` as lagging, and, where the lag is unknown, those that
 * have not advanced for that long. It is only ever stricter than the configuration.
 */
export function applyMaxLag(json: Report, maxLagMs: number): Report {
  const nowMs = Date.parse(json.generated_at);
  const targets = json.targets.map((target) => {
    const why = target.status === "ok" ? whyTooFarBehind(target, maxLagMs, nowMs) : null;
    return why === null ? target : { ...target, status: "lagging" as const, detail: why };
  });
  return { ...json, targets };
}

function parseSelection(filter: string): Selection | string {
  const parts = filter.split("/");
  const [protocol = "", chain, variant] = parts;
  return parts.length > 3 || parts.includes("")
    ? `Cannot use filter '${filter}': expected protocol, protocol/chain or protocol/chain/variant`
    : { protocol, chain, variant };
}

function whyTooFarBehind(target: TargetReport, maxLagMs: number, nowMs: number): string | null {
  const { lag_seconds, last_advance } = target;
  const limit = `more than the --max-lag of ${formatDuration(maxLagMs)}`;
  if (lag_seconds !== null) {
    const lagMs = lag_seconds * 1000;
    return lagMs <= maxLagMs ? null : `${formatDuration(lagMs)} behind the reference, ${limit}`;
  }
  if (last_advance === null) {
    return "Lag unknown, and never seen to advance";
  }
  const advancedMs = Date.parse(last_advance);
  return nowMs - advancedMs <= maxLagMs
    ? null
    : `Lag unknown; last advanced ${formatAgo(advancedMs, nowMs)}, ${limit}`;
}

export interface CheckTableOptions {
  /** The status that `json` was selected from: alternatives are looked for in all of it. */
  readonly unfiltered: Report;
  readonly color: "ansi" | "none";
  /** Table lines are cut to the width of the terminal, sentences are wrapped; null leaves both as they are. */
  readonly widthColumns: number | null;
  /** Where the statuses are explained, each at an anchor of its name. */
  readonly statusesUrl: string;
}

/** Of more targets only the ones that are not ok are listed. */
const MAX_LISTED_WHOLE = 12;

/** More would push the headline off the screen. */
const MAX_LISTED = 24;

const TARGET_COLUMNS: Columns = {
  ...{ STATUS: "left", TARGET: "left", LAG: "right", BLOCKS: "right", HEIGHT: "right", DETAIL: "left" },
};

const INDEXER_COLUMNS: Columns = { INDEXER: "left", OK: "right", "WORST LAG": "right", "NOT OK": "left" };

const ANSI: Readonly<Record<Tone, string>> = { ok: "32", busy: "34", idle: "2", warn: "33", bad: "31;1" };

/** What `synclag check` prints: the headline, the incidents, what is not ok worst first, and a line for each indexer. */
export function renderCheckTable(json: Report, options: CheckTableOptions): string {
  const { unfiltered, color, widthColumns, statusesUrl } = options;
  const problems = findProblems(unfiltered, json.targets);
  const { title: summary, detail, tone } = headline(json, problems);
  const nowMs = Date.parse(json.generated_at);
  const notOk = problems.map(({ target }) => target);
  const wrapped = (lines: readonly string[]) =>
    lines.flatMap((line) => wrapWords(printable(line), widthColumns));
  const cutToWidth = (lines: readonly string[]) => lines.map((line) => cut(printable(line), widthColumns));
  const painted = (lines: readonly string[]) => (color === "none" ? lines : lines.map(paintStatus));
  const title = wrapped([[summary, detail ?? []].flat().join(": ")]).join("\n");
  const blocks = [
    wrapped([describeReplica(json) ?? []].flat()),
    wrapped(json.incidents.map((incident) => incidentLine(incident, problems, nowMs))),
    painted(cutToWidth(targetLines(json, notOk))),
    json.targets.length > MAX_LISTED_WHOLE ? cutToWidth(indexerLines(json.targets)) : [],
    wrapped(parityLines(json, nowMs)),
    wrapped(json.skipped.map(skippedLine)),
    wrapped(statusLinks(new Set(notOk.map(({ status }) => status)), statusesUrl)),
  ];
  return [
    color === "none" ? title : coloured(title, tone),
    ...blocks.filter((lines) => lines.length > 0).map((lines) => lines.join("\n")),
  ].join("\n\n");
}

/** A line for each difference, and the number of equal pairs; no lines without comparisons. */
function parityLines(report: Report, nowMs: number): readonly string[] {
  const lines = findDifferences(report).map(
    (one) => `Data differ: ${parityTitle(one, report)}: ${describeDifference(one, nowMs)}`,
  );
  return [...lines, paritySummary(report) ?? []].flat();
}

/** `Status meanings: docs/statuses.md#stalled #lagging`. */
function statusLinks(statuses: ReadonlySet<string>, statusesUrl: string): readonly string[] {
  const anchors = [...statuses].map((status) => `#${status}`);
  return anchors.length === 0 ? [] : [`Status meanings: ${statusesUrl}${anchors.join(" ")}`];
}

function incidentLine(incident: Incident, problems: readonly TargetProblem[], nowMs: number): string {
  const forMs = nowMs - Date.parse(incident.since);
  const extent = `${formatCount(incident.targets.length, "target")}, for ${formatDuration(forMs)}`;
  const failover = describeFailover(incident, problems);
  return `Incident: ${incidentTitle(incident)} (${extent})${failover === "" ? "" : `: ${failover}`}`;
}

/** Leaves out what an incident explains and, of many targets, those without data. */
function targetLines({ targets, incidents }: Report, notOk: readonly TargetReport[]): readonly string[] {
  const explained = new Set(incidents.flatMap((incident) => incident.targets));
  const listed =
    targets.length <= MAX_LISTED_WHOLE
      ? [...notOk, ...targets.filter(({ status }) => status === "ok")]
      : notOk.filter((target) => target.status !== "unknown" && !explained.has(target.key));
  const rest = listed.length - MAX_LISTED;
  return listed.length === 0
    ? []
    : [
        ...renderTextTable(TARGET_COLUMNS, listed.slice(0, MAX_LISTED).map(targetCells)),
        ...(rest > 0 ? [`and ${formatNumber(rest)} more: filter by protocol or chain to list them`] : []),
      ];
}

function targetCells(target: TargetReport): readonly string[] {
  const { protocol, chain, lag_seconds, lag_blocks, block_number, status } = target;
  return [
    status,
    `${protocol}/${chain}/${variantName(target)}`,
    lag_seconds === null ? "-" : formatDuration(lag_seconds * 1000),
    lag_blocks === null ? "-" : formatNumber(lag_blocks),
    block_number === null ? "-" : formatNumber(block_number),
    `${target.detail}${reasonSuffix(target)}`,
  ];
}

function indexerLines(targets: readonly TargetReport[]): readonly string[] {
  const nameOf = (target: TargetReport) => `${target.protocol} ${variantName(target)}`;
  const indexers = [...groupBy(targets, nameOf)].sort(([a], [b]) => (a < b ? -1 : 1));
  return renderTextTable(
    INDEXER_COLUMNS,
    indexers.map(([name, own]) => indexerCells(name, own)),
  );
}

function indexerCells(name: string, targets: readonly TargetReport[]): readonly string[] {
  const lags = targets.flatMap(({ lag_seconds }) => lag_seconds ?? []);
  const statuses = targets.map(({ status }) => status).filter((status) => status !== "ok");
  const counts = [...new Set(statuses)]
    .sort((a, b) => statusRank(b) - statusRank(a))
    .map((status) => `${statuses.filter((one) => one === status).length} ${status}`);
  return [
    name,
    `${targets.length - statuses.length}/${targets.length}`,
    lags.length === 0 ? "-" : formatDuration(Math.max(...lags) * 1000),
    counts.join(", "),
  ];
}

/** An optional indexer that is not polled, and why. */
export function skippedLine(skipped: Report["skipped"][number]): string {
  return `Not polled: ${indexerName(skipped)}: ${skipped.why}`;
}

/** Texts from upstream servers must not control the terminal. */
function printable(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}]+/gu, " ");
}

function cut(line: string, widthColumns: number | null): string {
  return widthColumns === null || line.length <= widthColumns ? line : `${line.slice(0, widthColumns - 1)}…`;
}

/** Colours the status at the start of a line. */
function paintStatus(line: string): string {
  const status = STATUSES.find((word) => line.startsWith(`${word} `));
  return status === undefined
    ? line
    : `${coloured(status, statusWords(status).tone)}${line.slice(status.length)}`;
}

function coloured(text: string, tone: Tone): string {
  return `\u001B[${ANSI[tone]}m${text}\u001B[0m`;
}
