import type { HistorySlice } from "../../core/history/history.ts";
import type { EndpointRecord } from "../../core/model/exchange.ts";
import type { ChainReport, Report } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { keepTargets } from "../api/filter-status.ts";
import { isoTime, statusJson } from "../api/status.ts";
import { formatAgo, formatClock } from "../wording/duration.ts";
import { type Headline, headline } from "../wording/headline.ts";
import { STATUS_WORDS, TONE_GLYPHS } from "../wording/status.ts";
import { findTroubles } from "../wording/triage.ts";
import { renderEndpointDetails } from "./endpoint-details.ts";
import { type Html, html } from "./html.ts";
import { renderIncidents } from "./incident-list.ts";
import { historyPath, pairPath } from "./links.ts";
import { renderPlotSection } from "./plot-section.ts";
import { type PageOptions, type PlotAssets, renderPage } from "./shell.ts";
import { renderSparkline } from "./sparkline.ts";
import { renderTargetCard } from "./target-card.ts";

/** What the chain's page tells beside the report. */
export interface ChainPageOptions extends PageOptions {
  /** The last hours. */
  readonly past: HistorySlice;
  /** Everything that speaks of the chain. */
  readonly endpoints: readonly EndpointRecord[];
  readonly plots: PlotAssets;
}

/** One chain with all of its targets, over all protocols; null where no such chain is watched. */
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
  const troubles = findTroubles(json);
  const truth = headline(json, troubles);
  const protocols = [...new Set(found.targets.map(({ target }) => target.protocol))];
  const main = html`${renderSummary(found, truth, report.generatedAtMs)}
${renderIncidents(json.incidents, troubles, report.generatedAtMs)}
${renderChainFacts(found, report.generatedAtMs)}
${protocols.map((protocol) => renderProtocol(found, protocol, { ...options, nowMs: report.generatedAtMs }))}
${renderRpcNodes(options.endpoints, report.generatedAtMs)}`;
  return renderPage({ ...options, title: `${found.chain.name} · Synclag`, tone: truth.tone, main });
}

function renderSummary({ chain }: ChainReport, { tone, sentence }: Headline, nowMs: number): Html {
  return html`<div class="verdict ${tone}"><h1><i aria-hidden="true">${TONE_GLYPHS[tone]}</i> ${chain.name}: ${sentence}</h1>
<p>As of <time id="asof" datetime="${isoTime(nowMs)}">${formatClock(nowMs, nowMs)}</time>. <a href="/">All chains</a></p></div>`;
}

function renderChainFacts({ chain, reference, blockIntervalMs }: ChainReport, nowMs: number): Html {
  const { laggingMs, criticalMs } = chain.thresholds;
  return html`<section aria-labelledby="chain-title"><h2 id="chain-title">Chain</h2><dl>
<dt>Chain id</dt><dd>${chain.id}${chain.testnet ? ", a testnet" : null}</dd>
<dt>Reference head</dt><dd>${describeReference(reference, nowMs)}</dd>
<dt>Between blocks</dt><dd>${describeBlockTime(chain.blockTimeMs, blockIntervalMs)}</dd>
<dt>Limits</dt><dd>lagging after ${formatDuration(laggingMs)}, critical after ${formatDuration(criticalMs)}</dd></dl></section>`;
}

function describeReference(reference: ChainReport["reference"], nowMs: number): string {
  if (reference === null) {
    return "none: too few sources agree, so no lag can be told";
  }
  const time = reference.timeMs === null ? "" : `, produced ${formatAgo(reference.timeMs, nowMs)}`;
  return `${formatNumber(reference.block)}, by ${formatCount(reference.sources, "source")}${time}`;
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
      endpoint: endpoints.find((endpoint) => endpoint.targets.includes(report.target.key)),
      spark: renderSparkline(past.timesMs, past.targets[report.target.key]?.lagMs ?? [], {
        nowMs,
        laggingMs: chain.thresholds.laggingMs,
      }),
      nowMs,
    }),
  );
  return html`<section aria-label="${protocol}"><h2>${protocol} <small><a href="${pairPath(protocol, chain.slug)}">JSON</a> · <a href="${historyPath(protocol, chain.slug)}">History</a></small></h2>
<ul class="cards wide">${cards}</ul>
${renderPlotSection(protocol, chain.slug)}</section>`;
}

/** The independent heads, which prove what the chain does; null where none is configured. */
function renderRpcNodes(endpoints: readonly EndpointRecord[], nowMs: number): Html | null {
  const nodes = endpoints.filter(({ kind }) => kind === "rpc");
  return nodes.length === 0
    ? null
    : html`<section aria-labelledby="rpc-title"><h2 id="rpc-title">RPC nodes</h2>
<ul class="cards wide">${nodes.map((node) => html`<li class="card"><h3>${node.key}</h3>${renderEndpointDetails(node, { id: `asked-${node.key}`, nowMs, open: "closed" })}</li>`)}</ul></section>`;
}
