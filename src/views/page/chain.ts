import type { HistorySlice } from "../../core/history/history.ts";
import type { EndpointRecord } from "../../core/model/exchange.ts";
import { variantName } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { type ChainSummary, type Report, statusRank, type TargetReport } from "../../core/model/report.ts";
import { formatAgo, formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import { periodReader } from "../api/events.ts";
import { keepTargets } from "../api/selection.ts";
import { headline } from "../wording/headline.ts";
import { findProblems, idOfKey } from "../wording/targets.ts";
import { type Html, type HtmlValue, html, webLink } from "./html.ts";
import { chainPath, eventsPath, pairPath } from "./links.ts";
import { renderIncidents } from "./lists.ts";
import { renderChainParity } from "./parity.ts";
import {
  type PageOptions,
  renderPage,
  renderSection,
  renderSummary,
  renderTerm,
  toneGlyph,
} from "./shell.ts";
import { renderSparkline } from "./sparkline.ts";
import { intervalOf, renderRanges, renderStrip, type StripOptions } from "./strip.ts";
import { renderExchanges, renderTargetCard } from "./target-card.ts";

/** What the page of a chain shows in addition to the report. */
export interface ChainPageOptions extends PageOptions {
  /** The history of its targets, for the sparklines. */
  readonly past: HistorySlice;
  /** The endpoints that serve the chain, and its RPC nodes. */
  readonly endpoints: readonly EndpointRecord[];
  /** The availability of its targets. */
  readonly strips?: StripOptions | undefined;
}

/**
 * The page of one chain: the targets and the failover, then the plots, and last the evidence for the head. Null if there is no such
 * chain.
 */
export function renderChainPage(report: Report, slug: string, options: ChainPageOptions): string | null {
  const chain = report.chains.find((one) => one.slug === slug);
  if (chain === undefined) {
    return null;
  }
  const nowMs = Date.parse(report.generated_at);
  const own = keepTargets(
    report,
    report.targets.filter((target) => target.chain === slug),
  );
  const byProtocol = [...groupBy(own.targets, ({ protocol }) => protocol)];
  const parity = groupBy(own.parity, ({ protocol }) => protocol);
  const problems = findProblems(own);
  const { tone, title, detail } = headline(own, problems);
  const sentence = html`${toneGlyph(tone)} ${chain.name}: ${title}`;
  const main = html`${renderSummary(report, tone, sentence, detail, html`. <a href="/">All chains</a>`)}
${renderIncidents(own.incidents, problems, options.links, nowMs)}
${options.strips === undefined ? null : renderRanges(options.strips.range, (range) => `${chainPath(slug)}?range=${range}`)}
${byProtocol.map(([protocol, targets]) => renderProtocol(own, chain, protocol, targets, options))}
${byProtocol.map(([protocol]) => renderHistory(protocol, slug))}
${[...parity.values()].map((compared) => renderChainParity(compared, options.endpoints, nowMs))}
${chain.standings.length === 0 ? null : renderStandings(chain)}
${renderFacts(chain, nowMs)}
${renderRpcNodes(options.endpoints, nowMs)}`;
  return renderPage({ ...options, title: `${chain.name} · Synclag`, tone, main, plots: "drawn" });
}

function renderFacts(chain: ChainSummary, nowMs: number): Html {
  const { lagging_seconds: lagging, critical_seconds: critical, stalled_seconds: stalled } = chain.thresholds;
  const [late, bad, still] = [lagging, critical, stalled].map((seconds) => formatDuration(seconds * 1000));
  return renderSection(
    "chain",
    "Chain",
    html`<dl>
<dt>Chain ID</dt><dd>${chain.chain_id}${chain.testnet ? " (testnet)" : null}</dd>
<dt>${renderTerm("Reference head")}</dt><dd>${describeReference(chain, nowMs)}</dd>
<dt>${renderTerm("Block interval")}</dt><dd>${describeBlockTime(chain)}</dd>
<dt>Thresholds</dt><dd>lagging ${late ?? ""}, critical ${bad ?? ""}, stalled ${still ?? ""}</dd></dl>`,
  );
}

function describeReference({ dispute, explorer, reference }: ChainSummary, nowMs: number): HtmlValue {
  if (reference === null) {
    return dispute === null
      ? "none: too few sources agree, so lag is measured against the clock, where block times are reported"
      : "none: sources contradict each other, so the lag is unknown";
  }
  const time = reference.time === null ? "" : `, produced ${formatAgo(Date.parse(reference.time), nowMs)}`;
  const block = formatNumber(reference.block_number);
  const page = explorer === null ? null : webLink(`${explorer}/block/${reference.block_number}`);
  const linked = page === null ? block : html`<a href="${page}" rel="noopener noreferrer">${block}</a>`;
  return html`${linked} from ${formatCount(reference.sources, "source")}${time}`;
}

function describeBlockTime({
  block_time_seconds: expected,
  block_interval_seconds: found,
}: ChainSummary): string {
  const measured = found === null ? "not measured yet" : `${found.toFixed(2)} s measured`;
  return expected === null ? measured : `${measured}, ${expected} s expected`;
}

const GROUPS = [
  { stands: "agrees", title: "Agree on the head", tone: "ok" },
  { stands: "disputed", title: "Contradict each other", tone: "bad" },
  { stands: "excluded", title: "Excluded", tone: "bad" },
  { stands: "rejected", title: "Not of this chain", tone: "bad" },
  { stands: "apart", title: "Apart from it", tone: "warn" },
] as const;

type Standing = ChainSummary["standings"][number];

/** Which sources agree on the head of a chain. */
function renderStandings({ dispute, reference, standings }: ChainSummary): Html {
  const groups = GROUPS.map(({ stands, title, tone }) => {
    const members = standings.filter((one) => one.stands === stands);
    return members.length === 0
      ? null
      : html`<li class="card ${tone}"><h3>${title} <small>${formatCount(members.length, "source")}</small></h3>
<ul class="list">${members.map((one) => renderStanding(one, reference?.block_number ?? null))}</ul></li>`;
  });
  return renderSection(
    "agreement",
    "Who agrees on the head",
    html`<p>${dispute === null ? decisionText(standings) : `No reference: ${dispute}`}</p>
<ul class="cards">${groups}</ul>`,
  );
}

/** The evidence of the decision, and what would change it. */
function decisionText(standings: readonly Standing[]): string {
  const providersThat = (stands: Standing["stands"]) =>
    new Set(standings.filter((one) => one.stands === stands).map(({ host, source }) => host ?? source)).size;
  const agreeing = providersThat("agrees");
  if (agreeing === 0) {
    return "No reference: the sources heard lately do not show where the head is.";
  }
  if (agreeing === 1) {
    return "One provider alone shows this head. A second one, or an RPC node (rpc), would confirm or refute it.";
  }
  const others =
    providersThat("excluded") === 0 ? "" : " An excluded source counts again once its heights fit theirs.";
  return `${agreeing} providers agree on this head. More providers that contradict them and agree with each other would change it.${others}`;
}

function renderStanding(
  { block_number: block, detail, host, source, stands }: Standing,
  from: number | null,
): Html {
  const isApart = stands === "apart" && block !== null && from !== null;
  const why = detail ?? (isApart ? distanceText(block - from) : null);
  const said = [block === null ? null : formatNumber(block), why].filter((part) => part !== null).join(", ");
  return html`<li><b>${nameOf(source)}</b>: ${said}${host === null ? null : html` <small>${host}</small>`}</li>`;
}

function distanceText(blocks: number): string {
  return `${formatCount(Math.abs(blocks), "block")} ${blocks >= 0 ? "above" : "below"} it`;
}

/** `airdrops multichain`, with the tier where it is not production. The host of a source stands beside it. */
function nameOf(source: string): string {
  const id = idOfKey(source);
  return id.protocol === "rpc" ? "RPC node" : `${id.protocol} ${variantName(id)}`;
}

function renderProtocol(
  { gaps, generated_at: time }: Report,
  chain: ChainSummary,
  protocol: string,
  targets: readonly TargetReport[],
  { endpoints, links, past, strips }: ChainPageOptions,
): Html {
  const nowMs = Date.parse(time);
  const timesMs = [...past.timesMs, nowMs];
  const laggingMs = chain.thresholds.lagging_seconds * 1000;
  const worstFirst = targets.toSorted((a, b) => statusRank(b.status) - statusRank(a.status));
  const strip = strips === undefined ? () => null : stripsOfChain(strips, chain, nowMs);
  const cards = worstFirst.map((target) => {
    const lags = past.targets[target.key]?.lagMs ?? past.timesMs.map(() => null);
    const lagMs = target.lag_seconds === null ? null : target.lag_seconds * 1000;
    return renderTargetCard(target, {
      gap: gaps.find(({ key }) => key === target.key),
      endpoints: endpoints.filter(({ targets: served }) => served.includes(target.key)),
      sparkline: html`${renderSparkline(timesMs, [...lags, lagMs], laggingMs, nowMs)}${strip("status", target.key)}`,
      links,
      nowMs,
    });
  });
  return html`<section aria-label="${protocol}"><h2>${protocol}
<small><a href="#history-${protocol}">History</a> · <a href="${pairPath("status", protocol, chain.slug)}">JSON</a></small></h2>
<p class="hint">${whereTrafficGoes(targets)}</p>
${strip("pair", `${protocol}/${chain.slug}`)}
<ul class="cards wide">${cards}</ul></section>`;
}

/** The strip of a target or of a pair, with a link to its events. */
function stripsOfChain({ events, range }: StripOptions, { name, slug: chain }: ChainSummary, nowMs: number) {
  const read = periodReader(events, intervalOf(range, nowMs));
  return (kind: "status" | "pair", subject: string): Html => {
    const { protocol, ...id } = idOfKey(subject);
    const of = kind === "pair" ? { protocol, chain, range } : { protocol, ...id, chain, range };
    const named = kind === "pair" ? `${protocol} on ${name}` : `${protocol} ${variantName(id)}`;
    return renderStrip(read(kind, subject), named, range, nowMs, eventsPath(of));
  };
}

function whereTrafficGoes(targets: readonly TargetReport[]): string {
  const preferred = targets.find((target) => target.preferred);
  return preferred === undefined
    ? "No variant can take traffic now."
    : `Traffic should go to ${variantName(preferred)}, the freshest healthy one.`;
}

/** The container in which a script draws the plots. */
function renderHistory(protocol: string, slug: string): Html {
  const path = pairPath("history", protocol, slug);
  return renderSection(
    `history-${protocol}`,
    html`History of ${protocol} <small><a href="${path}">JSON</a></small>`,
    html`<div class="plots" id="plots-${protocol}" data-keep data-history="${path}" hidden></div>`,
  );
}

/** The RPC nodes, which are independent heads of the chain; null if none is configured. */
function renderRpcNodes(endpoints: readonly EndpointRecord[], nowMs: number): Html | null {
  const nodes = endpoints.filter(({ kind }) => kind === "rpc");
  const cards = nodes.map(
    (node) => html`<li class="card"><h3>RPC node ${node.key.split("/")[2] ?? ""}</h3>
<details id="exchanges-${node.key}"><summary>Replies and the request</summary>
${renderExchanges(node, nowMs)}</details></li>`,
  );
  return nodes.length === 0
    ? null
    : renderSection("rpc", "RPC nodes", html`<ul class="cards wide">${cards}</ul>`);
}
