import type { EndpointRecord, Exchange } from "../../core/model/exchange.ts";
import { variantName } from "../../core/model/fleet.ts";
import type { Links } from "../../core/model/links.ts";
import type { GapReport, TargetReport } from "../../core/model/report.ts";
import { formatAgo, formatCount, formatDuration, formatNumber, isoTime } from "../../core/model/text.ts";
import { reasonSuffix, statusWords } from "../wording/targets.ts";
import { renderAct, targetProblem } from "./act.ts";
import { type Html, html } from "./html.ts";
import { statusPath, targetAnchor } from "./links.ts";
import { glyphOf, renderAgo, renderClock, renderCommand, renderLink, renderTerm } from "./shell.ts";

/** What a card shows in addition to the report of its target. */
export interface TargetCardOptions {
  readonly gap: GapReport | undefined;
  /** The endpoint that serves the target, and its index-node API. */
  readonly endpoints: readonly EndpointRecord[];
  readonly sparkline: Html | null;
  readonly links: Links | undefined;
  readonly nowMs: number;
}

/** The card of a target on the page of its chain: status and lag; the rest is folded. */
export function renderTargetCard(target: TargetReport, options: TargetCardOptions): Html {
  const { gap, endpoints, sparkline, links, nowMs } = options;
  const { status } = target;
  const anchor = targetAnchor(target);
  const { tone, glyph } = statusWords(status);
  const act =
    status === "ok" || status === "unknown" ? null : renderAct(targetProblem(target, anchor), links, nowMs);
  return html`<li class="card ${tone}" id="${anchor}"><h3>${variantName(target)}
<a class="pill ${tone}" href="${statusPath(status)}">${glyphOf(glyph)} ${status}</a>
${target.preferred ? html` <small>${renderTerm("preferred")}</small>` : null}${target.maintenance ? html` <small>in maintenance</small>` : null}</h3>
<p>${target.detail}<small>${reasonSuffix(target)}</small></p>
${renderFacts(mainFacts(target, gap, nowMs))}
${sparkline}
${act}
<details id="exchanges-${anchor}"><summary>More, replies and the request</summary>
${renderFacts(otherFacts(target, nowMs))}
<p class="meta">${renderLink("Explorer", target.explorer)}${renderLink("Playground", target.playground)}</p>
${endpoints.map((endpoint) => renderExchanges(endpoint, nowMs))}</details></li>
`;
}

/** The last replies of an endpoint, and the request as a curl command; null before the first poll. */
export function renderExchanges(record: EndpointRecord, nowMs: number): Html | null {
  if (record.curl === null) {
    return null;
  }
  const shared = record.targets.length > 1 ? ` It serves ${record.targets.length} targets.` : "";
  const name = record.kind === "status" ? "Its index-node API" : "Endpoint";
  return html`<p class="hint">${name} <b>${record.key}</b>.${shared} The request as a command:</p>
${renderCommand(record.curl, `curl command for ${record.key}`)}
${renderExchangeList("Recent failures", record.failures, nowMs)}
${renderExchangeList("Recent usable replies", record.replies, nowMs)}`;
}

function renderFacts(facts: readonly (Fact | null)[]): Html {
  const known = facts.filter((fact) => fact !== null);
  return html`<dl>${known.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

type Fact = readonly [name: Html | string, value: Html | string];

/** The facts that decide whether traffic can be sent to the target. */
function mainFacts(
  target: TargetReport,
  gap: GapReport | undefined,
  nowMs: number,
): readonly (Fact | null)[] {
  return [
    target.since === null ? null : ["Status since", ago(target.since, nowMs)],
    ["Lag", describeLag(target)],
    ["Last advance", target.last_advance === null ? "never" : renderAgo(target.last_advance, nowMs)],
    gap === undefined ? null : [html`${renderTerm("Gap")} to ${gap.against}`, describeGap(gap)],
    target.indexing_errors === true ? ["Indexing errors", "reported by the indexer"] : null,
  ];
}

function otherFacts(target: TargetReport, nowMs: number): readonly (Fact | null)[] {
  const { deployment, deployment_changes: changes, regressions } = target;
  const { reorg, reindex } = regressions;
  const steps = [
    reorg === 0 ? [] : formatCount(reorg, "reorg"),
    reindex === 0 ? [] : `${formatNumber(reindex)} re-indexed`,
  ].flat();
  const changed = changes === 0 ? "" : `, changed ${formatCount(changes, "time")}`;
  return [
    ["Height", describeHeight(target, nowMs)],
    ["Last success", ago(target.last_success, nowMs)],
    steps.length === 0 ? null : ["Steps back", steps.join(", ")],
    deployment === null ? null : ["Deployment", `${deployment}${changed}`],
  ];
}

function describeLag({
  lag_seconds: lag,
  lag_blocks: behind,
  lag_extrapolated: estimated,
}: TargetReport): string {
  const time = lag === null ? [] : `${estimated ? "about " : ""}${formatDuration(lag * 1000)}`;
  const blocks = behind === null ? [] : formatCount(behind, "block");
  return [time, blocks].flat().join(", ") || "unknown";
}

function describeHeight(
  { block_number: block, block_timestamp: time }: TargetReport,
  nowMs: number,
): Html | string {
  if (block === null) {
    return "unknown";
  }
  return time === null ? formatNumber(block) : html`${formatNumber(block)}, at ${renderClock(time, nowMs)}`;
}

function describeGap({ blocks, seconds, uncertainty_blocks: uncertainty }: GapReport): string {
  const side = blocks < 0 ? "ahead" : "behind";
  const time = seconds === null ? "" : `, ${formatDuration(Math.abs(seconds) * 1000)}`;
  return `${formatNumber(Math.abs(blocks))} ± ${formatCount(uncertainty, "block")}${time} ${side}`;
}

function ago(time: string | null, nowMs: number): Html | string {
  return time === null ? "never" : html`${formatAgo(Date.parse(time), nowMs)}, ${renderClock(time, nowMs)}`;
}

function renderExchangeList(title: string, exchanges: readonly Exchange[], nowMs: number): Html | null {
  return exchanges.length === 0
    ? null
    : html`<h4>${title}</h4><ol class="exchanges">${exchanges.map((exchange) => renderExchange(exchange, nowMs))}</ol>`;
}

function renderExchange(
  { sentAtMs, receivedAtMs, httpStatus, outcome, text }: Exchange,
  nowMs: number,
): Html {
  const how = [
    httpStatus === null ? "no HTTP response" : `HTTP ${httpStatus}`,
    `after ${formatDuration(receivedAtMs - sentAtMs)}`,
  ];
  return html`<li><span class="meta">${renderAgo(isoTime(receivedAtMs), nowMs)}, ${how.join(", ")}</span> ${outcome === "usable" ? null : html`<b>${outcome}</b>`} <q>${text}</q></li>
`;
}
