import type { EndpointRecord, Exchange } from "../../core/model/exchange.ts";
import type { GapReport, TargetReport } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatNumber, isoTime } from "../../core/model/text.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { renderAgo, renderClock, renderCommand, renderTerm } from "./shell.ts";

/** A line of a list of facts; a value of null is left out. */
type Fact = readonly [name: HtmlValue, value: HtmlValue];

export function renderFacts(facts: readonly Fact[]): Html {
  const known = facts.filter(([, value]) => value !== null);
  return html`<dl>${known.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** The facts that decide whether traffic can be sent to the target. */
export function mainFacts(target: TargetReport, gap: GapReport | undefined, nowMs: number): readonly Fact[] {
  const { indexing_errors: isBroken, last_advance: advance } = target;
  return [
    ["Lag", describeLag(target)],
    ["Last advance", advance === null ? "never" : renderAgo(advance, nowMs)],
    [html`${renderTerm("Gap")} to ${gap?.against ?? ""}`, gap === undefined ? null : describeGap(gap)],
    ["Indexing errors", isBroken === true ? "reported by the indexer" : null],
  ];
}

export function otherFacts(target: TargetReport, nowMs: number): readonly Fact[] {
  const { block_number: block, block_timestamp: time, last_success: success } = target;
  const { deployment, deployment_changes: changes, regressions } = target;
  const { reorg, reindex } = regressions;
  const produced = time === null ? null : html`, at ${renderClock(time, nowMs)}`;
  const changed = changes === 0 ? "" : `, changed ${formatCount(changes, "time")}`;
  return [
    ["Height", block === null ? "unknown" : html`${formatNumber(block)}${produced}`],
    ["Last success", success === null ? "never" : renderAgo(success, nowMs)],
    ["Steps back", reorg + reindex === 0 ? null : `${formatCount(reorg, "reorg")}, ${reindex} re-indexed`],
    ["Deployment", deployment === null ? null : `${deployment}${changed}`],
  ];
}

function describeLag(target: TargetReport): string {
  const { lag_seconds: lag, lag_blocks: behind, lag_extrapolated: isEstimated } = target;
  const time = lag === null ? [] : `${isEstimated ? "about " : ""}${formatDuration(lag * 1000)}`;
  const blocks = behind === null ? [] : formatCount(behind, "block");
  return [time, blocks].flat().join(", ") || "unknown";
}

function describeGap({ blocks, seconds, uncertainty_blocks: uncertainty }: GapReport): string {
  const side = blocks < 0 ? "ahead" : "behind";
  const time = seconds === null ? "" : `, ${formatDuration(Math.abs(seconds) * 1000)}`;
  return `${formatNumber(Math.abs(blocks))} ± ${formatCount(uncertainty, "block")}${time} ${side}`;
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

function renderExchangeList(title: string, exchanges: readonly Exchange[], nowMs: number): Html | null {
  const items = exchanges.map(({ sentAtMs, receivedAtMs, httpStatus, outcome, text }) => {
    const status = httpStatus === null ? "no HTTP response" : `HTTP ${httpStatus}`;
    const how = `${status}, after ${formatDuration(receivedAtMs - sentAtMs)}`;
    return html`<li><span class="meta">${renderAgo(isoTime(receivedAtMs), nowMs)}, ${how}</span> ${outcome === "usable" ? null : html`<b>${outcome}</b>`} <q>${text}</q></li>
`;
  });
  return items.length === 0 ? null : html`<h4>${title}</h4><ol class="exchanges">${items}</ol>`;
}
