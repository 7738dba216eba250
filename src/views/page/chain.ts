import type { HistorySlice } from "../../core/history/history.ts";
import type { EndpointRecord } from "../../core/model/exchange.ts";
import type { ChainReport, Report, SourceStanding } from "../../core/model/report.ts";
import { formatAgo, formatClock, formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { keepTargets } from "../api/filter-status.ts";
import { isoTime, statusJson } from "../api/status.ts";
import { type Headline, headline } from "../wording/headline.ts";
import { findProblems } from "../wording/problems.ts";
import { statusWords, TONE_GLYPHS } from "../wording/status-words.ts";
import { type Html, html } from "./html.ts";
import { historyPath, pairPath } from "./links.ts";
import { renderIncidents } from "./lists.ts";
import { renderChainParity } from "./parity.ts";
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
${renderStandings(found)}
${protocols.map((protocol) => renderProtocol(found, protocol, { ...options, nowMs: report.generatedAtMs }))}
${renderRpcNodes(options.endpoints, report.generatedAtMs)}`;
  return renderPage({ ...options, title: `${found.chain.name} · Synclag`, tone: summary.tone, main });
}

function renderSummary({ chain }: ChainReport, { tone, sentence }: Headline, nowMs: number): Html {
  return html`<div class="summary ${tone}"><h1><i aria-hidden="true">${TONE_GLYPHS[tone]}</i> ${chain.name}: ${sentence}</h1>
<p>As of <time id="asof" datetime="${isoTime(nowMs)}">${formatClock(nowMs, nowMs)}</time>. <a href="/">All chains</a></p></div>`;
}

function renderChainFacts(report: ChainReport, nowMs: number): Html {
  const { chain, blockIntervalMs } = report;
  const { laggingMs, criticalMs, stalledMs } = chain.thresholds;
  return html`<section aria-labelledby="chain-title"><h2 id="chain-title">Chain</h2><dl>
<dt>Chain ID</dt><dd>${chain.id}${chain.testnet ? " (testnet)" : null}</dd>
<dt>Reference head</dt><dd>${describeReference(report, nowMs)}</dd>
<dt>Block interval</dt><dd>${describeBlockTime(chain.blockTimeMs, blockIntervalMs)}</dd>
<dt>Thresholds</dt><dd>lagging ${formatDuration(laggingMs)}, critical ${formatDuration(criticalMs)}, stalled ${formatDuration(stalledMs)}</dd></dl></section>`;
}

function describeReference({ dispute, reference }: ChainReport, nowMs: number): string {
  if (reference === null) {
    return dispute === null
      ? "none: too few sources agree, so lag is measured against the clock, where block times are reported"
      : "none: sources contradict each other, so the lag is unknown";
  }
  const time = reference.timeMs === null ? "" : `, produced ${formatAgo(reference.timeMs, nowMs)}`;
  return `${formatNumber(reference.block)}, ${formatCount(reference.sources, "source")}${time}`;
}

function describeBlockTime(configuredMs: number | null, measuredMs: number | null): string {
  const measured = measuredMs === null ? "not measured yet" : `${(measuredMs / 1000).toFixed(2)} s measured`;
  return configuredMs === null ? measured : `${measured}, ${configuredMs / 1000} s configured`;
}

function renderProtocol(
  { chain, targets, gaps, parity }: ChainReport,
  protocol: string,
  options: Pick<ChainPageOptions, "past" | "endpoints"> & { readonly nowMs: number },
): Html {
  const { past, endpoints, nowMs } = options;
  const own = targets
    .filter(({ target }) => target.protocol === protocol)
    .sort((a, b) => statusWords(a.status).severity - statusWords(b.status).severity);
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
${renderChainParity(parity, protocol, options)}
<div class="plots" id="plots-${protocol}" data-keep data-history="${historyPath(protocol, chain.slug)}" hidden></div></section>`;
}

/** The RPC nodes, which are independent heads of the chain; null if none is configured. */
function renderRpcNodes(endpoints: readonly EndpointRecord[], nowMs: number): Html | null {
  const nodes = endpoints.filter(({ kind }) => kind === "rpc");
  return nodes.length === 0
    ? null
    : html`<section aria-labelledby="rpc-title"><h2 id="rpc-title">RPC nodes</h2>
<ul class="cards wide">${nodes.map((node) => html`<li class="card"><h3>${nameOfNode(node.key)}</h3>${renderExchanges(node, { id: `exchanges-${node.key}`, nowMs, fold: "closed" })}</li>`)}</ul></section>`;
}

interface Group {
  readonly stands: SourceStanding["stands"];
  readonly title: string;
  readonly tone: "ok" | "warn" | "bad";
}

const GROUPS: readonly Group[] = [
  { stands: "agrees", title: "Agree on the head", tone: "ok" },
  { stands: "disputed", title: "Contradict each other", tone: "bad" },
  { stands: "excluded", title: "Excluded", tone: "bad" },
  { stands: "apart", title: "Apart from it", tone: "warn" },
];

/** Who agrees with whom on the head of a chain; null before anybody has said anything. */
function renderStandings({ dispute, reference, standings }: ChainReport): Html | null {
  if (standings.length === 0) {
    return null;
  }
  const groups = GROUPS.map((group) => ({
    ...group,
    members: standings.filter(({ stands }) => stands === group.stands),
  })).filter(({ members }) => members.length > 0);
  const from = reference?.block ?? null;
  return html`<section aria-labelledby="agreement-title"><h2 id="agreement-title">Who agrees on the head</h2>
${dispute === null ? null : html`<p>No reference: ${dispute}</p>`}
<ul class="cards">${groups.map(({ members, title, tone }) => html`<li class="card ${tone}"><h3>${title} <small>${formatCount(members.length, "source")}</small></h3><ul class="list">${members.map((standing) => renderStanding(standing, from))}</ul></li>`)}</ul></section>`;
}

function renderStanding({ block, detail, host, source, stands }: SourceStanding, from: number | null): Html {
  const why = detail ?? (stands === "apart" && from !== null ? distanceText(block - from) : null);
  return html`<li><b>${nameOf(source)}</b>: ${formatNumber(block)}${why === null ? null : html`, ${why}`}${host === null ? null : html` <small>${host}</small>`}</li>`;
}

/** `RPC node mainnet.base.org`. */
function nameOfNode(key: string): string {
  return `RPC node ${key.split("/")[2] ?? ""}`;
}

function distanceText(blocks: number): string {
  return blocks >= 0
    ? `${formatCount(blocks, "block")} above it`
    : `${formatCount(-blocks, "block")} below it`;
}

/** `airdrops multichain`, with the tier where it is not production. The host of a source stands beside it. */
function nameOf(source: string): string {
  const [protocol = "", variant = "", tier = ""] = source.split("/");
  if (protocol === "rpc") {
    return "RPC node";
  }
  return tier === "production" ? `${protocol} ${variant}` : `${protocol} ${variant} (${tier})`;
}
