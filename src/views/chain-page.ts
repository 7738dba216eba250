import type { ChainReport, Report } from "../core/report.ts";
import { keepTargets } from "./filter-status.ts";
import { formatCount, formatNumber } from "./format-count.ts";
import { formatAgo, formatClock, formatDuration } from "./format-duration.ts";
import { type Headline, headline } from "./headline.ts";
import { type Html, html } from "./html.ts";
import { renderIncidents } from "./incident-list.ts";
import { pairPath } from "./page-links.ts";
import { type PageOptions, renderPage } from "./page-shell.ts";
import { isoTime, statusJson } from "./status-json.ts";
import { STATUS_WORDS, TONE_GLYPHS } from "./status-words.ts";
import { renderTargetCard } from "./target-card.ts";
import { findTroubles } from "./triage.ts";

/** One chain with all of its targets, over all protocols; null where no such chain is watched. */
export function renderChainPage(report: Report, slug: string, options: PageOptions): string | null {
  const found = report.chains.find(({ chain }) => chain.slug === slug);
  if (found === undefined) {
    return null;
  }
  const all = statusJson(report);
  const json = keepTargets(
    all,
    all.targets.filter((target) => target.chain === slug),
  );
  const truth = headline(json, findTroubles(json));
  const protocols = [...new Set(found.targets.map(({ target }) => target.protocol))];
  const main = html`${renderSummary(found, truth, report.generatedAtMs)}
${renderIncidents(json.incidents, report.generatedAtMs)}
${renderChainFacts(found, report.generatedAtMs)}
${protocols.map((protocol) => renderProtocol(found, protocol, report.generatedAtMs))}`;
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

function renderProtocol({ chain, targets, gaps }: ChainReport, protocol: string, nowMs: number): Html {
  const own = targets
    .filter(({ target }) => target.protocol === protocol)
    .sort((a, b) => STATUS_WORDS[a.status].severity - STATUS_WORDS[b.status].severity);
  const cards = own.map((one) => {
    const gap = gaps.find(({ target }) => target.key === one.target.key);
    return renderTargetCard(one, gap, nowMs);
  });
  return html`<section aria-label="${protocol}"><h2>${protocol} <small><a href="${pairPath(protocol, chain.slug)}">JSON</a></small></h2>
<ul class="cards">${cards}</ul></section>`;
}
