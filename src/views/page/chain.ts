import type { EndpointRecord, Exchange } from "../../core/model/exchange.ts";
import { variantName } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import {
  type ChainSummary,
  type GapReport,
  type Report,
  statusRank,
  type TargetReport,
} from "../../core/model/report.ts";
import { formatAgo, formatCount, formatDuration, formatNumber, isoTime } from "../../core/model/text.ts";
import { periodReader } from "../api/events.ts";
import { keepTargets } from "../api/selection.ts";
import { headline } from "../wording/headline.ts";
import { findProblems, idOfKey, type Tone } from "../wording/targets.ts";
import { renderIncidents, renderTargetCard } from "./cards.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { chainPath, eventsPath, pairPath, targetAnchor } from "./links.ts";
import { renderChainParity } from "./parity.ts";
import {
  type PageOptions,
  renderAgo,
  renderClock,
  renderCommand,
  renderLink,
  renderPage,
  renderPill,
  renderSection,
  renderSummary,
  renderTable,
  renderTerm,
  toneGlyph,
} from "./shell.ts";
import { intervalOf, renderRanges, renderStrip, type StripOptions } from "./strip.ts";

/** What the page of a chain shows in addition to the report. */
export interface ChainPageOptions extends PageOptions {
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
  const { endpoints, links, strips } = options;
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
${renderIncidents(own.incidents, problems, { links, nowMs })}
${strips === undefined ? null : renderRanges(strips.range, (range) => `${chainPath(slug)}?range=${range}`)}
${byProtocol.map(([protocol, targets]) => renderProtocol(own, chain, protocol, targets, options))}
${byProtocol.map(([protocol]) => renderHistory(protocol, slug))}
${[...parity.values()].map((compared) => renderChainParity(compared, nowMs))}
${chain.standings.length === 0 ? null : renderStandings(chain)}
${renderChainFacts(chain, nowMs)}
${renderRpcNodes(endpoints, nowMs)}`;
  return renderPage({ ...options, title: `${chain.name} · Synclag`, tone, main, plots: "drawn" });
}

function renderChainFacts(chain: ChainSummary, nowMs: number): Html {
  const { block_interval_seconds: found, block_time_seconds: expected, thresholds } = chain;
  const { lagging_seconds: lagging, critical_seconds: critical, stalled_seconds: stalled } = thresholds;
  const levels = Object.entries({ lagging, critical, stalled }).map(
    ([level, seconds]) => `${level} ${formatDuration(seconds * 1000)}`,
  );
  const measured = found === null ? "not measured yet" : `${found.toFixed(2)} s measured`;
  const facts = renderFacts([
    ["Chain ID", `${chain.chain_id}${chain.testnet ? " (testnet)" : ""}`],
    [renderTerm("Reference head"), describeReference(chain, nowMs)],
    [renderTerm("Block interval"), expected === null ? measured : `${measured}, ${expected} s expected`],
    ["Thresholds", levels.join(", ")],
  ]);
  return renderSection("chain", "Chain", facts);
}

function describeReference({ dispute, explorer, reference }: ChainSummary, nowMs: number): HtmlValue {
  if (reference === null) {
    return dispute === null
      ? "none: too few sources agree, so lag is measured against the clock, where block times are reported"
      : "none: sources contradict each other, so the lag is unknown";
  }
  const { block_number: block, sources, time } = reference;
  const produced = time === null ? "" : `, produced ${formatAgo(Date.parse(time), nowMs)}`;
  const linked =
    renderLink(formatNumber(block), explorer && `${explorer}/block/${block}`) ?? formatNumber(block);
  return html`${linked} from ${formatCount(sources, "source")}${produced}`;
}

type Standing = ChainSummary["standings"][number];

/** How a source stands to the head, in this order. */
const STANDS: Readonly<Record<Standing["stands"], readonly [words: string, tone: Tone]>> = {
  agrees: ["agrees", "ok"],
  disputed: ["contradicts others", "bad"],
  excluded: ["excluded", "bad"],
  rejected: ["not of this chain", "bad"],
  apart: ["apart from it", "warn"],
};

/** Which sources agree on the head of a chain: the evidence of the decision, and what would change it. */
function renderStandings({ dispute, reference, standings }: ChainSummary): Html {
  const order = Object.keys(STANDS);
  const rows = standings
    .toSorted((a, b) => order.indexOf(a.stands) - order.indexOf(b.stands))
    .map(({ block_number: block, detail, host, source, stands }) => {
      const { protocol, ...id } = idOfKey(source);
      const [words, tone] = STANDS[stands];
      const away = block === null || reference === null ? 0 : block - reference.block_number;
      const side = `${formatCount(Math.abs(away), "block")} ${away < 0 ? "below" : "above"} it`;
      return [
        html`${protocol === "rpc" ? "RPC node" : `${protocol} ${variantName(id)}`} <small>${host}</small>`,
        renderPill(tone, words),
        block === null ? "–" : formatNumber(block),
        detail ?? (stands === "apart" && away !== 0 ? side : ""),
      ];
    });
  const agreeing = standings.filter(({ stands }) => stands === "agrees");
  const providers = new Set(agreeing.map(({ host, source }) => host ?? source)).size;
  const decided =
    providers < 2
      ? "Fewer than two providers show this head: another one, or an RPC node (rpc), would confirm or refute it."
      : `${providers} providers agree on this head. More providers that contradict them and agree with each other would change it.`;
  return renderSection(
    "agreement",
    "Who agrees on the head",
    html`<p>${dispute === null ? decided : `No reference: ${dispute}`}</p>
${renderTable("agreement", "Sources", ["Source", "Head", "Block", "Why"], rows)}`,
  );
}

function renderProtocol(
  { gaps, generated_at: time }: Report,
  chain: ChainSummary,
  protocol: string,
  targets: readonly TargetReport[],
  { endpoints, links, strips }: ChainPageOptions,
): Html {
  const nowMs = Date.parse(time);
  const strip = strips === undefined ? () => null : stripsOfChain(strips, chain, nowMs);
  const worstFirst = targets.toSorted((a, b) => statusRank(b.status) - statusRank(a.status));
  const cards = worstFirst.map((target) => {
    const id = targetAnchor(target);
    const gap = gaps.find(({ key }) => key === target.key);
    const served = endpoints.filter(({ targets: keys }) => keys.includes(target.key));
    const body = html`${renderFacts(mainFacts(target, gap, nowMs))}
${strip("status", target.key)}
<details id="exchanges-${id}"><summary>More, replies and the request</summary>
${renderFacts(otherFacts(target, nowMs))}
<p class="meta">${renderLink("Explorer", target.explorer)}${renderLink("Playground", target.playground)}</p>
${served.map((endpoint) => renderExchanges(endpoint, nowMs))}</details>`;
    return renderTargetCard(target, { id, title: variantName(target), body }, { links, nowMs });
  });
  const preferred = targets.find((target) => target.preferred);
  const where =
    preferred === undefined
      ? "No variant can take traffic now."
      : `Traffic should go to ${variantName(preferred)}, the freshest healthy one.`;
  return html`<section aria-label="${protocol}"><h2>${protocol}
<small><a href="#history-${protocol}">History</a> · <a href="${pairPath("status", protocol, chain.slug)}">JSON</a></small></h2>
<p class="hint">${where}</p>
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
  return cards.length === 0
    ? null
    : renderSection("rpc", "RPC nodes", html`<ul class="cards wide">${cards}</ul>`);
}

/** A line of a list of facts; a value of null is left out. */
type Fact = readonly [name: HtmlValue, value: HtmlValue];

function renderFacts(facts: readonly Fact[]): Html {
  const known = facts.filter(([, value]) => value !== null);
  return html`<dl>${known.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** The facts that decide whether traffic can be sent to the target. */
function mainFacts(target: TargetReport, gap: GapReport | undefined, nowMs: number): readonly Fact[] {
  const { indexing_errors: isBroken, last_advance: advance } = target;
  return [
    ["Lag", lagText(target)],
    ["Last advance", advance === null ? "never" : renderAgo(advance, nowMs)],
    [html`${renderTerm("Gap")} to ${gap?.against ?? ""}`, gap === undefined ? null : describeGap(gap)],
    ["Indexing errors", isBroken === true ? "reported by the indexer" : null],
  ];
}

function otherFacts(target: TargetReport, nowMs: number): readonly Fact[] {
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

function lagText(target: TargetReport): string {
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
function renderExchanges(record: EndpointRecord, nowMs: number): Html | null {
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
