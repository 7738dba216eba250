import type { EndpointRecord, Exchange } from "../../core/model/exchange.ts";
import { variantName } from "../../core/model/fleet.ts";
import type { GapReport, TargetReport } from "../../core/model/report.ts";
import { formatAgo, formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { reasonSuffix, statusWords } from "../wording/targets.ts";
import { type Html, html, webLink } from "./html.ts";
import { statusPath, targetAnchor } from "./links.ts";
import { glyphOf, renderClock, renderCommand } from "./shell.ts";

/** What a card shows beside the report of its target. */
export interface TargetCardOptions {
  readonly gap: GapReport | undefined;
  /** The one that serves it, and the index-node API beside that. */
  readonly endpoints: readonly EndpointRecord[];
  readonly sparkline: Html | null;
  readonly nowMs: number;
}

/** Everything that is known of one target, for the page of its chain. */
export function renderTargetCard(target: TargetReport, options: TargetCardOptions): Html {
  const { gap, endpoints, sparkline, nowMs } = options;
  const { status } = target;
  const anchor = targetAnchor(target);
  const { tone, glyph } = statusWords(status);
  const fold = target.up ? "closed" : "open";
  return html`<li class="card ${tone}" id="${anchor}"><h3>${variantName(target)}
<a class="pill ${tone}" href="${statusPath(status)}">${glyphOf(glyph)} ${status}</a>
${target.preferred ? html` <small>preferred</small>` : null}${target.maintenance ? html` <small>in maintenance</small>` : null}</h3>
<p>${target.detail}<small>${reasonSuffix(target)}</small></p>
<dl>${facts(target, gap, nowMs).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
${sparkline}
<p class="meta">${link("Explorer", target.explorer)}${link("Playground", target.playground)}</p>
${endpoints.map((endpoint) =>
  renderExchanges(endpoint, {
    id: `${endpoint.kind === "status" ? "status" : "exchanges"}-${anchor}`,
    nowMs,
    fold,
  }),
)}</li>
`;
}

/** What an endpoint answered lately, and the request as a curl command; null before its first poll. */
export function renderExchanges(
  record: EndpointRecord,
  { id, nowMs, fold }: { readonly id: string; readonly nowMs: number; readonly fold: "open" | "closed" },
): Html | null {
  if (record.curl === null) {
    return null;
  }
  const shared = record.targets.length > 1 ? ` It serves ${record.targets.length} targets.` : "";
  const title = record.kind === "status" ? "Recent replies of its index-node API" : "Recent replies";
  return html`<details id="${id}"${fold === "open" ? html` open` : null}><summary>${title} and the request</summary>
<p class="hint">Endpoint <b>${record.key}</b>.${shared} The request as a command:</p>
${renderCommand(record.curl, record.key)}
${renderExchangeList("Recent failures", record.failures, nowMs)}
${renderExchangeList("Recent usable replies", record.replies, nowMs)}</details>`;
}

type Fact = readonly [name: string, value: Html | string];

function facts(target: TargetReport, gap: GapReport | undefined, nowMs: number): readonly Fact[] {
  const { deployment, deployment_changes: changes, indexing_errors: errors, regressions } = target;
  const { reorg, reindex } = regressions;
  const steps = [
    reorg === 0 ? [] : formatCount(reorg, "reorg"),
    reindex === 0 ? [] : `${formatNumber(reindex)} re-indexed`,
  ].flat();
  const changed = changes === 0 ? "" : `, changed ${formatCount(changes, "time")}`;
  const all: readonly (Fact | null)[] = [
    ["Lag", describeLag(target)],
    ["Height", describeHeight(target, nowMs)],
    ["Last success", ago(target.last_success, nowMs)],
    ["Last advance", ago(target.last_advance, nowMs)],
    gap === undefined ? null : [`Gap to ${gap.against}`, describeGap(gap)],
    errors === true ? ["Indexing errors", "reported by the indexer"] : null,
    steps.length === 0 ? null : ["Steps back", steps.join(", ")],
    deployment === null ? null : ["Deployment", `${deployment}${changed}`],
  ];
  return all.filter((fact) => fact !== null);
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

function link(name: string, url: string | null): Html | null {
  const safe = webLink(url);
  return safe === null ? null : html`<a href="${safe}" rel="noopener noreferrer">${name}</a> `;
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
    formatAgo(receivedAtMs, nowMs),
    httpStatus === null ? "no HTTP response" : `HTTP ${httpStatus}`,
    `after ${formatDuration(receivedAtMs - sentAtMs)}`,
  ];
  return html`<li><span class="meta">${how.join(", ")}</span> ${outcome === "usable" ? null : html`<b>${outcome}</b>`} <q>${text}</q></li>
`;
}
