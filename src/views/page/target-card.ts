import type { EndpointRecord, Exchange } from "../../core/model/exchange.ts";
import type { GapReport, TargetReport } from "../../core/model/report.ts";
import { formatAgo, formatClock, formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { isoTime } from "../api/status.ts";
import { reasonSuffix, statusWords } from "../wording/status-words.ts";
import { variantName } from "../wording/target.ts";
import { type Html, html, webLink } from "./html.ts";
import { statusPath, targetAnchor } from "./links.ts";

/** What a card shows beside the report of its target. */
export interface TargetCardOptions {
  readonly gap: GapReport | undefined;
  /** The one that serves it, and the index-node API beside that. */
  readonly endpoints: readonly EndpointRecord[];
  readonly sparkline: Html | null;
  readonly nowMs: number;
}

/** Everything that is known of one target, for the page of its chain. */
export function renderTargetCard(report: TargetReport, options: TargetCardOptions): Html {
  const { gap, endpoints, sparkline, nowMs } = options;
  const { target, status } = report;
  const anchor = targetAnchor(target);
  const { tone, glyph } = statusWords(status);
  return html`<li class="card ${tone}" id="${anchor}"><h3>${variantName(target)} <a class="pill ${tone}" href="${statusPath(status)}"><i aria-hidden="true">${glyph}</i> ${status}</a>${report.preferred ? html` <small>preferred</small>` : null}${report.maintenance ? html` <small>in maintenance</small>` : null}</h3>
<p>${report.detail}<small>${reasonSuffix(report)}</small></p>
<dl>${facts(report, gap, nowMs).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
${sparkline}
<p class="meta">${links(report)}</p>
${endpoints.map((endpoint) => renderExchanges(endpoint, { id: `${endpoint.kind === "status" ? "status" : "exchanges"}-${anchor}`, nowMs, fold: report.up ? "closed" : "open" }))}</li>
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
  return html`<details id="${id}"${fold === "open" ? html` open` : null}><summary>${record.kind === "status" ? "Recent replies of its index-node API" : "Recent replies"} and the request</summary>
<p class="hint">Endpoint <b>${record.key}</b>.${shared} The request as a command:</p>
<pre class="curl" tabindex="0" role="region" aria-label="curl command for ${record.key}">${record.curl}</pre>
${renderExchangeList("Recent failures", record.failures, nowMs)}
${renderExchangeList("Recent usable replies", record.replies, nowMs)}</details>`;
}

type Fact = readonly [name: string, value: Html | string];

function facts(report: TargetReport, gap: GapReport | undefined, nowMs: number): readonly Fact[] {
  return [
    ["Lag", describeLag(report)],
    ["Height", describeHeight(report, nowMs)],
    ["Last success", ago(report.lastSuccessMs, nowMs)],
    ["Last advance", ago(report.lastAdvanceMs, nowMs)],
    ...(gap === undefined ? [] : [[`Gap to ${gap.against}`, describeGap(gap)] as const]),
    ...exceptionalFacts(report),
  ];
}

/** What is shown only when it applies. */
function exceptionalFacts({
  indexingErrors,
  regressions: { reorg, reindex },
  deployment,
  deploymentChanges,
}: TargetReport): readonly Fact[] {
  const steps = [
    reorg === 0 ? [] : formatCount(reorg, "reorg"),
    reindex === 0 ? [] : `${formatNumber(reindex)} re-indexed`,
  ].flat();
  const changes = deploymentChanges === 0 ? "" : `, changed ${formatCount(deploymentChanges, "time")}`;
  const all: readonly (Fact | null)[] = [
    indexingErrors === true ? ["Indexing errors", "reported by the indexer"] : null,
    steps.length === 0 ? null : ["Steps back", steps.join(", ")],
    deployment === null ? null : ["Deployment", `${deployment}${changes}`],
  ];
  return all.filter((fact) => fact !== null);
}

function describeLag({ lagMs, lagBlocks, lagExtrapolated }: TargetReport): string {
  const time = lagMs === null ? null : `${lagExtrapolated ? "about " : ""}${formatDuration(lagMs)}`;
  const blocks = lagBlocks === null ? null : formatCount(lagBlocks, "block");
  return [time, blocks].filter((part) => part !== null).join(", ") || "unknown";
}

function describeHeight({ block, blockTimestampSec }: TargetReport, nowMs: number): Html | string {
  if (block === null) {
    return "unknown";
  }
  return blockTimestampSec === null
    ? formatNumber(block)
    : html`${formatNumber(block)}, at ${clock(blockTimestampSec * 1000, nowMs)}`;
}

function describeGap({ blocks, seconds, uncertaintyBlocks }: GapReport): string {
  const side = blocks < 0 ? "ahead" : "behind";
  const time = seconds === null ? "" : `, ${formatDuration(Math.abs(seconds) * 1000)}`;
  return `${formatNumber(Math.abs(blocks))} ± ${formatCount(uncertaintyBlocks, "block")}${time} ${side}`;
}

function ago(timeMs: number | null, nowMs: number): Html | string {
  return timeMs === null ? "never" : html`${formatAgo(timeMs, nowMs)}, ${clock(timeMs, nowMs)}`;
}

function clock(timeMs: number, nowMs: number): Html {
  return html`<time datetime="${isoTime(timeMs)}">${formatClock(timeMs, nowMs)}</time>`;
}

function links({ target }: TargetReport): Html {
  const named = [
    { name: "Explorer", url: webLink(target.explorer) },
    { name: "Playground", url: webLink(target.playground) },
  ];
  return html`${named.map(({ name, url }) => (url === null ? null : html`<a href="${url}" rel="noopener noreferrer">${name}</a> `))}`;
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
