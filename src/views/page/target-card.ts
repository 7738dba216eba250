import type { EndpointRecord } from "../../core/model/exchange.ts";
import type { GapReport, TargetReport } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { isoTime } from "../api/status.ts";
import { formatAgo, formatClock } from "../wording/duration.ts";
import { reasonNote, STATUS_WORDS } from "../wording/status.ts";
import { renderEndpointDetails } from "./endpoint-details.ts";
import { type Html, html, webLink } from "./html.ts";
import { statusPath, targetAnchor } from "./links.ts";

/** What a card tells beside the report. */
export interface TargetCardOptions {
  readonly gap: GapReport | undefined;
  readonly endpoint: EndpointRecord | undefined;
  /** The last hours at a glance, or null. */
  readonly spark: Html | null;
  readonly nowMs: number;
}

/** All that is known of one target, for its chain's page. */
export function renderTargetCard(report: TargetReport, options: TargetCardOptions): Html {
  const { gap, endpoint, spark, nowMs } = options;
  const { target, status } = report;
  const anchor = targetAnchor(target);
  const { tone, glyph } = STATUS_WORDS[status];
  const tier = target.tier === "production" ? null : html` <span class="variant">${target.tier}</span>`;
  return html`<li class="card ${tone}" id="${anchor}"><h3>${target.variant}${tier} <a class="pill ${tone}" href="${statusPath(status)}"><i aria-hidden="true">${glyph}</i> ${status}</a>${report.preferred ? html` <small>freshest</small>` : null}${report.maintenance ? html` <small>in maintenance</small>` : null}</h3>
<p>${report.detail}<small>${reasonNote(report)}</small></p>
<dl>${facts(report, gap, nowMs).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
${spark}
<p class="meta">${links(report)}</p>
${renderEndpointDetails(endpoint, { id: `asked-${anchor}`, nowMs, open: report.up ? "closed" : "open" })}</li>
`;
}

type Fact = readonly [name: string, value: Html | string];

function facts(report: TargetReport, gap: GapReport | undefined, nowMs: number): readonly Fact[] {
  return [
    ["Behind", describeLag(report)],
    ["Height", describeHeight(report, nowMs)],
    ["Last answer", ago(report.lastSuccessMs, nowMs)],
    ["Last advance", ago(report.lastAdvanceMs, nowMs)],
    ...(gap === undefined ? [] : [[`Against ${gap.against}`, describeGap(gap)] as const]),
    ...rareFacts(report),
  ];
}

/** What is worth a line only when it is so. */
function rareFacts({
  indexingErrors,
  regressions,
  deployment,
  deploymentChanges,
}: TargetReport): readonly Fact[] {
  const steps = regressions.reorg + regressions.reindex;
  const changes = deploymentChanges === 0 ? "" : `, changed ${formatCount(deploymentChanges, "time")}`;
  const all: readonly (Fact | null)[] = [
    indexingErrors === true ? ["Indexing errors", "flagged by the indexer itself"] : null,
    steps === 0 ? null : ["Steps back", `${regressions.reorg} reorg, ${regressions.reindex} re-index`],
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
    : html`${formatNumber(block)}, from ${clock(blockTimestampSec * 1000, nowMs)}`;
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
