import type { Incident, Report, TargetReport } from "../../core/model/report.ts";
import { STATUSES } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { headline } from "../wording/headline.ts";
import { describeFailover, incidentTitle } from "../wording/incident.ts";
import { describeDifference, findDifferences, paritySummary, parityTitle } from "../wording/parity.ts";
import { findProblems, type TargetProblem } from "../wording/problems.ts";
import { describeReplica } from "../wording/replica.ts";
import { reasonSuffix, statusWords, type Tone } from "../wording/status-words.ts";
import { type Column, renderTextTable, wrapWords } from "./text-table.ts";

export interface CheckTableOptions {
  /** The status that `json` was selected from: alternatives are looked for in all of it. */
  readonly unfiltered: Report;
  readonly color: "ansi" | "none";
  /** Table lines are cut to the width of the terminal, sentences are wrapped; null leaves both as they are. */
  readonly widthColumns: number | null;
  /** Where the statuses are explained, each at an anchor of its name. */
  readonly statusesUrl: string;
}

/** Of more targets, only those that are not ok are listed. */
const MAX_LISTED_WHOLE = 12;

/** More would push the headline off the screen. */
const MAX_LISTED = 24;

const TARGET_COLUMNS: readonly Column[] = [
  { title: "STATUS", align: "left" },
  { title: "TARGET", align: "left" },
  { title: "LAG", align: "right" },
  { title: "BLOCKS", align: "right" },
  { title: "HEIGHT", align: "right" },
  { title: "DETAIL", align: "left" },
];

const INDEXER_COLUMNS: readonly Column[] = [
  { title: "INDEXER", align: "left" },
  { title: "OK", align: "right" },
  { title: "WORST LAG", align: "right" },
  { title: "NOT OK", align: "left" },
];

const ANSI: Readonly<Record<Tone, string>> = { ok: "32", busy: "34", idle: "2", warn: "33", bad: "31;1" };

/** What `synclag check` prints: the headline, the incidents, what is not ok worst first, and a line for each indexer. */
export function renderCheckTable(json: Report, options: CheckTableOptions): string {
  const { unfiltered, color, widthColumns, statusesUrl } = options;
  const problems = findProblems(unfiltered, json.targets);
  const { sentence, tone } = headline(json, problems);
  const nowMs = Date.parse(json.generated_at);
  const notOk = problems.map(({ target }) => target);
  const wrapped = (lines: readonly string[]) =>
    lines.flatMap((line) => wrapWords(printable(line), widthColumns));
  const cutToWidth = (lines: readonly string[]) => lines.map((line) => cut(printable(line), widthColumns));
  const painted = (lines: readonly string[]) => (color === "none" ? lines : lines.map(paintStatus));
  const title = wrapped([sentence]).join("\n");
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

/** A line for each difference, and how many pairs are equal; none where nothing is compared. */
function parityLines(json: Report, nowMs: number): readonly string[] {
  const summary = paritySummary(json);
  const lines = findDifferences(json).map(
    (one) => `Data differ: ${parityTitle(one, json)}: ${describeDifference(one, nowMs)}`,
  );
  return summary === null ? [] : [...lines, summary];
}

function skippedLine({ protocol, variant, tier, why }: Report["skipped"][number]): string {
  return `Not polled: ${protocol} ${variant} (${tier}): ${why}`;
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
  const { protocol, chain, variant, tier, lag_seconds, lag_blocks, block_number, status } = target;
  return [
    status,
    `${protocol}/${chain}/${variant}${tier === "production" ? "" : ` ${tier}`}`,
    lag_seconds === null ? "-" : formatDuration(lag_seconds * 1000),
    lag_blocks === null ? "-" : formatNumber(lag_blocks),
    block_number === null ? "-" : formatNumber(block_number),
    `${target.detail}${reasonSuffix(target)}`,
  ];
}

function indexerLines(targets: readonly TargetReport[]): readonly string[] {
  const names = [...new Set(targets.map(indexerName))].sort();
  const rows = names.map((name) =>
    indexerCells(
      name,
      targets.filter((target) => indexerName(target) === name),
    ),
  );
  return renderTextTable(INDEXER_COLUMNS, rows);
}

function indexerName({ protocol, variant, tier }: TargetReport): string {
  return `${protocol} ${variant}${tier === "production" ? "" : ` ${tier}`}`;
}

function indexerCells(name: string, targets: readonly TargetReport[]): readonly string[] {
  const lags = targets.flatMap(({ lag_seconds }) => lag_seconds ?? []);
  const statuses = targets.map(({ status }) => status).filter((status) => status !== "ok");
  const counts = [...new Set(statuses)]
    .sort((a, b) => statusWords(a).severity - statusWords(b).severity)
    .map((status) => `${statuses.filter((one) => one === status).length} ${status}`);
  return [
    name,
    `${targets.length - statuses.length}/${targets.length}`,
    lags.length === 0 ? "-" : formatDuration(Math.max(...lags) * 1000),
    counts.join(", "),
  ];
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
