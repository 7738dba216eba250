import type { HistorySlice } from "../../core/history/history.ts";
import type { EndpointRecord } from "../../core/model/exchange.ts";
import type { ChainReport, Report } from "../../core/model/report.ts";
import { formatAgo, formatClock, formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { keepTargets } from "../api/filter-status.ts";
import { isoTime, statusJson } from "../api/status.ts";
import { type Headline, headline } from "../wording/headline.ts";
import { findProblems } from "../wording/problems.ts";
import { STATUS_WORDS, TONE_GLYPHS } from "../wording/status-words.ts";
import { type Html, html } from "./html.ts";
import { historyPath, pairPath } from "./links.ts";
import { renderIncidents } from "./lists.ts";
import { type PageOptions, type PlotAssets, renderPage } from "./shell.ts";
import { renderSparkline } from "./sparkline.ts";
import { renderExchanges, renderTargetCard } from "./target-card.ts";

/** What the page of a chain shows beside the report. */
export interface ChainPageOptions extends PageOptions {
  /** The history of its targets, for the sparklines. */
  readonly past: HistorySlice;
  /** The endpoints that serve the chain, and its RPC nodes. */
  readonly endpoints: readonly EndpointRecord[];
  readonly plots: PlotAssets;
}

/** One chain with its targets of all protocols; null if there is no such chain. */
export function renderChainPage(report: Report, slug: string, options: ChainPageOptions): string | null {
  const found = report.chains.find(({ chain }) => chain.slug === slug);
  if (found === undefined) {
    return null;
  }
  const all = statusJson(report);
  const json = keepTargets(
    all,
    all.targets.filter((target) => target.chain === slug),
  );
  const problems = findProblems(json);
  const summary = headline(json, problems);
  const protocols = [...new Set(found.targets.map(({ target }) => target.protocol))];
  const main = html`${renderSummary(found, summary, report.generatedAtMs)}
${renderIncidents(json.incidents, problems, report.generatedAtMs)}
${renderChainFacts(found, report.generatedAtMs)}
${protocols.map((protocol) => renderProtocol(found, protocol, { ...options, nowMs: report.generatedAtMs }))}
${renderRpcNodes(options.endpoints, report.generatedAtMs)}`;
  return renderPage({ ...options, title: `${found.chain.name} · Synclag`, tone: summary.tone, main });
}

function renderSummary({ chain }: ChainReport, { tone, sentence }: Headline, nowMs: number): Html {
  return html`<div class="summary ${tone}"><h1><i aria-hidden="true">${TONE_GLYPHS[tone]}</i> ${chain.name}: ${sentence}</h1>
<p>As of <time id="asof" datetime="${isoTime(nowMs)}">${formatClock(nowMs, nowMs)}</time>. <a href="/">All chains</a></p></div>`;
}

function renderChainFacts({ chain, reference, blockIntervalMs }: ChainReport, nowMs: number): Html {
  const { laggingMs, criticalMs, stalledMs } = chain.thresholds;
  return html`<section aria-labelledby="chain-title"><h2 id="chain-title">Chain</h2><dl>
<dt>Chain ID</dt><dd>${chain.id}${chain.testnet ? " (testnet)" : null}</dd>
<dt>Reference head</dt><dd>${describeReference(reference, nowMs)}</dd>
<dt>Block interval</dt><dd>${describeBlockTime(chain.blockTimeMs, blockIntervalMs)}</dd>
<dt>Thresholds</dt><dd>lagging ${formatDuration(laggingMs)}, critical ${formatDuration(criticalMs)}, stalled ${formatDuration(stalledMs)}</dd></dl></section>`;
}

function describeReference(reference: ChainReport["reference"], nowMs: number): string {
  if (reference === null) {
    return "none: too few sources agree, so the lag is unknown";
  }
  const time = reference.timeMs === null ? "" : `, produced ${formatAgo(reference.timeMs, nowMs)}`;
  return `${formatNumber(reference.block)}, ${formatCount(reference.sources, "source")}${time}`;
}

function describeBlockTime(configuredMs: number | null, measuredMs: number | null): string {
  const measured = measuredMs === null ? "not measured yet" : `${(measuredMs / 1000).toFixed(2)} s measured`;
  return configuredMs === null ? measured : `${measured}, ${configuredMs / 1000} s configured`;
}

function renderProtocol(
  { chain, targets, gaps }: ChainReport,
  protocol: string,
  options: Pick<ChainPageOptions, "past" | "endpoints"> & { readonly nowMs: number },
): Html {
  const { past, endpoints, nowMs } = options;
  const own = targets
    .filter(({ target }) => target.protocol === protocol)
    .sort((a, b) => STATUS_WORDS[a.status].severity - STATUS_WORDS[b.status].severity);
  const cards = own.map((report) =>
    renderTargetCard(report, {
      gap: gaps.find(({ target }) => target.key === report.target.key),
      endpoints: endpoints.filter(({ targets: keys }) => keys.includes(report.target.key)),
      sparkline: renderSparkline(
        [...past.timesMs, nowMs],
        [...(past.targets[report.target.key]?.lagMs ?? past.timesMs.map(() => null)), report.lagMs],
        { nowMs, laggingMs: chain.thresholds.laggingMs },
      ),
      nowMs,
    }),
  );
  return html`<section aria-label="${protocol}"><h2>${protocol} <small><a href="${pairPath(protocol, chain.slug)}">JSON</a> · <a href="${historyPath(protocol, chain.slug)}">History</a></small></h2>
<ul class="cards wide">${cards}</ul>
<div class="plots" id="plots-${protocol}" data-keep data-history="${historyPath(protocol, chain.slug)}" hidden></div></section>`;
}

/** The RPC nodes, which are independent heads of the chain; null if none is configured. */
function renderRpcNodes(endpoints: readonly EndpointRecord[], nowMs: number): Html | null {
  const nodes = endpoints.filter(({ kind }) => kind === "rpc");
  return nodes.length === 0
    ? null
    : html`<section aria-labelledby="rpc-title"><h2 id="rpc-title">RPC nodes</h2>
<ul class="cards wide">${nodes.map((node) => html`<li class="card"><h3>${node.key}</h3>${renderExchanges(node, { id: `exchanges-${node.key}`, nowMs, fold: "closed" })}</li>`)}</ul></section>`;
}
