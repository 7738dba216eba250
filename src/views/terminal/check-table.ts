import { STATUSES, type Status } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import type { IncidentJson, StatusJson, TargetJson } from "../api/api-schema.ts";
import { targetKey } from "../api/filter-status.ts";
import { formatAgo } from "../wording/duration.ts";
import { headline } from "../wording/headline.ts";
import { describeFailover, incidentTitle } from "../wording/incident.ts";
import { reasonNote, STATUS_WORDS, type Tone } from "../wording/status.ts";
import { findTroubles, type Trouble } from "../wording/triage.ts";
import { type Column, renderTextTable } from "./text-table.ts";
import { wrapWords } from "./wrap-words.ts";

export interface CheckTableOptions {
  /** Everything that is known, where the status that is printed is a part of it: what is fresh may not be selected. */
  readonly whole: StatusJson;
  readonly color: "ansi" | "none";
  /** Lines of a table are cut to the terminal's width, sentences are wrapped; null leaves them whole. */
  readonly widthColumns: number | null;
  /** Where the statuses are explained, each at an anchor of its name. */
  readonly statusesAt: string;
}

/** Up to so many targets, each has its line; of more, those that are not ok. */
const ALL_LISTED = 12;

/** More would push the sentence off the screen. */
const MOST_LISTED = 24;

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

/** What `synclag check` prints: the sentence of truth, shared causes, what is not ok worst first, and a line an indexer. */
export function renderCheckTable(json: StatusJson, options: CheckTableOptions): string {
  const { whole, color, widthColumns, statusesAt } = options;
  const troubles = findTroubles(whole, json.targets);
  const { sentence, tone } = headline(json, troubles);
  const nowMs = Date.parse(json.generated_at);
  const notOk = troubles.map(({ target }) => target);
  const wrapped = (lines: readonly string[]) =>
    lines.flatMap((line) => wrapWords(printable(line), widthColumns));
  const cutOff = (lines: readonly string[]) => lines.map((line) => cut(printable(line), widthColumns));
  const painted = (lines: readonly string[]) => (color === "none" ? lines : lines.map(paintStatus));
  const truth = wrapped([sentence]).join("\n");
  const blocks = [
    wrapped(json.incidents.map((incident) => incidentLine(incident, troubles, nowMs))),
    painted(cutOff(targetLines(json, notOk))),
    json.targets.length > ALL_LISTED ? cutOff(indexerLines(json.targets)) : [],
    wrapped(json.skipped.map(skippedLine)),
    wrapped(explanationLines(new Set(notOk.map(({ status }) => status)), statusesAt)),
  ];
  return [
    color === "none" ? truth : coloured(truth, tone),
    ...blocks.filter((lines) => lines.length > 0).map((lines) => lines.join("\n")),
  ].join("\n\n");
}

function skippedLine({ protocol, variant, tier, why }: StatusJson["skipped"][number]): string {
  return `Not polled: ${protocol} ${variant} (${tier}): ${why}`;
}

/** `What that means: docs/statuses.md#stalled #lagging`. */
function explanationLines(statuses: ReadonlySet<Status>, statusesAt: string): readonly string[] {
  const anchors = [...statuses].map((status) => `#${status}`);
  return anchors.length === 0 ? [] : [`What that means: ${statusesAt}${anchors.join(" ")}`];
}

function incidentLine(incident: IncidentJson, troubles: readonly Trouble[], nowMs: number): string {
  const { since, targets } = incident;
  const wayOut = describeFailover(incident, troubles);
  return `One cause: ${incidentTitle(incident)} (${formatCount(targets.length, "target")}, ${formatAgo(Date.parse(since), nowMs)})${wayOut === "" ? "" : `: ${wayOut}`}`;
}

/** What an incident explains is not listed again; of many targets, those without evidence are only counted. */
function targetLines({ targets, incidents }: StatusJson, notOk: readonly TargetJson[]): readonly string[] {
  const told = new Set(incidents.flatMap((incident) => incident.targets));
  const listed =
    targets.length <= ALL_LISTED
      ? [...notOk, ...targets.filter(({ status }) => status === "ok")]
      : notOk.filter((target) => target.status !== "unknown" && !told.has(targetKey(target)));
  const rest = listed.length - MOST_LISTED;
  return listed.length === 0
    ? []
    : [
        ...renderTextTable(TARGET_COLUMNS, listed.slice(0, MOST_LISTED).map(targetCells)),
        ...(rest > 0
          ? [`and ${formatCount(rest, "target")} more: name a protocol or a chain to see them`]
          : []),
      ];
}

function targetCells(target: TargetJson): readonly string[] {
  const { protocol, chain, variant, tier, lag_seconds, lag_blocks, block_number, status } = target;
  return [
    status,
    `${protocol}/${chain}/${variant}${tier === "production" ? "" : ` ${tier}`}`,
    lag_seconds === null ? "-" : formatDuration(lag_seconds * 1000),
    lag_blocks === null ? "-" : formatNumber(lag_blocks),
    block_number === null ? "-" : formatNumber(block_number),
    `${target.detail}${reasonNote(target)}`,
  ];
}

function indexerLines(targets: readonly TargetJson[]): readonly string[] {
  const names = [...new Set(targets.map(indexerName))].sort();
  const rows = names.map((name) =>
    indexerCells(
      name,
      targets.filter((target) => indexerName(target) === name),
    ),
  );
  return renderTextTable(INDEXER_COLUMNS, rows);
}

function indexerName({ protocol, variant, tier }: TargetJson): string {
  return `${protocol} ${variant}${tier === "production" ? "" : ` ${tier}`}`;
}

function indexerCells(name: string, targets: readonly TargetJson[]): readonly string[] {
  const lags = targets.flatMap(({ lag_seconds }) => lag_seconds ?? []);
  const statuses = targets.map(({ status }) => status).filter((status) => status !== "ok");
  const counts = [...new Set(statuses)]
    .sort((a, b) => STATUS_WORDS[a].severity - STATUS_WORDS[b].severity)
    .map((status) => `${statuses.filter((one) => one === status).length} ${status}`);
  return [
    name,
    `${targets.length - statuses.length}/${targets.length}`,
    lags.length === 0 ? "-" : formatDuration(Math.max(...lags) * 1000),
    counts.join(", "),
  ];
}

/** What an upstream said must not move the cursor of a terminal. */
function printable(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}]+/gu, " ");
}

function cut(line: string, widthColumns: number | null): string {
  return widthColumns === null || line.length <= widthColumns ? line : `${line.slice(0, widthColumns - 1)}…`;
}

/** Colours the status word that starts a line; never the only signal. */
function paintStatus(line: string): string {
  const status = STATUSES.find((word) => line.startsWith(`${word} `));
  return status === undefined
    ? line
    : `${coloured(status, STATUS_WORDS[status].tone)}${line.slice(status.length)}`;
}

function coloured(text: string, tone: Tone): string {
  return `\u001B[${ANSI[tone]}m${text}\u001B[0m`;
}
