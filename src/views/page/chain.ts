import { endedText } from "../../core/model/end.ts";
import type { EndpointRecord, Exchange } from "../../core/model/exchange.ts";
import { isProduction, variantName } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { limitText } from "../../core/model/limit.ts";
import {
  type ChainReport,
  type ChainSummary,
  type GapReport,
  limitOf,
  type Report,
  sharedCauses,
  type TargetReport,
} from "../../core/model/report.ts";
import { statusRank } from "../../core/model/statuses.ts";
import {
  formatAgo,
  formatCount,
  formatDuration,
  formatList,
  formatNumber,
  isoTime,
} from "../../core/model/text.ts";
import { judgeReport } from "../../core/report/severity.ts";
import { keepTargets } from "../api/selection.ts";
import { chainPath, pairAnchor, targetAnchor } from "../wording/chain-links.ts";
import { headlineAbove } from "../wording/headline.ts";
import { findProblems, idOfKey, type Tone } from "../wording/targets.ts";
import { incidentCards, renderTargetLine } from "./cards.ts";
import { type DrawnSource, drawDecision, type Standing } from "./decision.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { pairPath } from "./links.ts";
import { renderChainParity } from "./parity.ts";
import {
  type PageOptions,
  renderAgo,
  renderClock,
  renderCommand,
  renderLink,
  renderList,
  renderPage,
  renderPill,
  renderSection,
  renderSummary,
  renderTable,
  renderTerm,
  toneGlyph,
} from "./shell.ts";
import { readRange, renderRanges, renderStripLegend, stripReader } from "./strip.ts";

/**
 * The page of one chain: its targets and the failover, how its head was decided, and the plots; the rest is folded.
 * `endpoints`: the endpoints that serve the chain, and its RPC nodes. Null if there is no such chain.
 */
export function renderChainPage(
  report: Report,
  slug: string,
  endpoints: readonly EndpointRecord[],
  options: PageOptions,
): string | null {
  const chain = report.chains.find((one) => one.slug === slug);
  if (chain === undefined) {
    return null;
  }
  const nowMs = Date.parse(report.generated_at);
  const own = keepTargets(
    report,
    report.targets.filter((target) => target.chain === slug),
  );
  const worstFirst = own.targets.toSorted((a, b) => statusRank(b.status) - statusRank(a.status));
  const protocols = [...new Set(worstFirst.map(({ protocol }) => protocol))];
  const problems = findProblems(own);
  const { tone, title, detail, others } = headlineAbove(own, problems);
  const main = html`${renderSummary(report, tone, html`${toneGlyph(tone)} ${chain.name}: ${title}`, [detail, ...others])}
${renderList("incidents", "Incidents", incidentCards(sharedCauses(own.incidents), report, problems, options), "cards")}
${renderRanges(readRange(options.view.range), (range) => `${chainPath(slug)}?range=${range}`)}
${renderStripLegend("operators")}
${protocols.map((protocol) => renderProtocol(own, chain, protocol, endpoints, options))}
${chain.standings.length === 0 ? null : renderDecision(chain, own.targets)}
${protocols.map((protocol, index) => renderHistory(protocol, slug, index === 0))}
${[...groupBy(own.parity, ({ protocol }) => protocol)].map(([protocol, compared]) => renderChainParity(protocol, compared, nowMs))}
${renderChainFacts(chain, nowMs)}
${renderRpcNodes(endpoints, nowMs)}`;
  return renderPage({ ...options, title: `${chain.name} · Synclag`, tone, main, kind: "plots" });
}

/** The targets of one protocol on the chain, the worst first, and where its traffic should go. */
function renderProtocol(
  report: Report,
  summary: ChainSummary,
  protocol: string,
  endpoints: readonly EndpointRecord[],
  options: PageOptions,
): Html {
  const { name, slug: chain } = summary;
  const nowMs = Date.parse(report.generated_at);
  const range = readRange(options.view.range);
  const { read, renderAxis } = stripReader(options.events, range, report);
  const targets = report.targets
    .filter((target) => target.protocol === protocol)
    .sort((a, b) => statusRank(b.status) - statusRank(a.status));
  const judgement = judgeReport(report);
  const state = judgement.pairs.find((pair) => pair.protocol === protocol)?.state ?? "unknown";
  const cards = targets.map((target) => {
    const { explorer, key, playground, tier, variant } = target;
    const id = targetAnchor(target);
    const title = variantName(target);
    const gap = report.gaps.find((one) => one.key === key);
    const served = endpoints.filter(({ targets: keys }) => keys.includes(key));
    const body = html`${renderFacts(mainFacts(target, gap, nowMs))}
${read("status", key).render(`${protocol} ${title}`, { protocol, variant, tier, chain })}
<details id="exchanges-${id}"><summary>More facts, the last replies, and the request</summary>
${renderFacts(otherFacts(target, nowMs))}
<p class="meta">${renderLink("Explorer", explorer)}${renderLink("Playground", playground)}</p>
${served.map((endpoint) => renderExchanges(endpoint, nowMs))}</details>`;
    const severity = judgement.targets.get(key) ?? "unknown";
    return renderTargetLine(target, { id, pair: state, severity, title, body }, options, nowMs);
  });
  const pair = read("pair", `${protocol}/${chain}`);
  return html`<section id="${pairAnchor(protocol)}" aria-label="${protocol}"><h2>${protocol}
<small><a href="#history-${protocol}">History</a> · <a href="${pairPath("status", protocol, chain)}">JSON</a></small></h2>
<p>${whereToGo(targets)}</p>
${renderAxis()}
${pair.render(`${protocol} on ${name}`, { protocol, chain })}
<ul class="cards wide">${cards}</ul></section>`;
}

/** Where the traffic of one protocol on a chain should go. */
function whereToGo(targets: readonly TargetReport[]): string {
  const preferred = targets.find((target) => target.preferred);
  if (preferred !== undefined) {
    return `Traffic should go to ${variantName(preferred)}.`;
  }
  const ok = targets.filter(({ status }) => status === "ok");
  if (ok.some(isProduction)) {
    return "No variant is preferred, because the data of each ok variant are in doubt.";
  }
  if (ok.length > 0) {
    return `Only ${formatList(ok.map(variantName))} ${ok.length === 1 ? "is" : "are"} ok.`;
  }
  return targets.every(({ status }) => status === "unknown")
    ? "The status of every variant is unknown."
    : "No variant is ok.";
}

/** A line of a list of facts; a value of null is left out. */
type Fact = readonly [name: HtmlValue, value: HtmlValue];

function renderFacts(facts: readonly Fact[]): Html {
  const known = facts.filter(([, value]) => value !== null);
  return html`<dl>${known.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** The facts that decide whether traffic can be sent to the target. */
function mainFacts(target: TargetReport, gap: GapReport | undefined, nowMs: number): readonly Fact[] {
  const { indexing_errors: isBroken, lag_blocks: blocks, lag_seconds: seconds } = target;
  const about = target.lag_extrapolated ? "about " : "";
  const lag = [
    seconds === null ? [] : `${about}${formatDuration(seconds * 1000)}`,
    blocks === null ? [] : formatCount(blocks, "block"),
  ].flat();
  return [
    ["Lag", lag.join(", ") || (target.ended === null ? "unknown" : `none: ${endedText(target.ended)}`)],
    [html`${renderTerm("Gap")} to ${gap?.against ?? ""}`, gap === undefined ? null : describeGap(gap)],
    ["Indexing errors", isBroken === true ? "reported by the indexer" : null],
    ...target.probes.map((query) => [`Query ${query.probe}`, describeQuery(query, nowMs)] as const),
  ];
}

function describeQuery(query: TargetReport["probes"][number], nowMs: number): HtmlValue {
  const { detail, last, latency_seconds: latency, result, since } = query;
  if (last === null || latency === null || since === null) {
    return "not asked yet";
  }
  const asked = html`${renderAgo(last, nowMs)}, in ${formatDuration(latency * 1000)}`;
  if (detail === null) {
    return html`answered ${asked}`;
  }
  const failing = result === "failing" ? html`failing since ${renderClock(since, nowMs)}` : "failed once";
  return html`${failing}; last reply ${asked}`;
}

function describeGap({ blocks, seconds, uncertainty_blocks: uncertainty }: GapReport): string {
  const time = seconds === null ? "" : `, ${formatDuration(Math.abs(seconds) * 1000)}`;
  const side = blocks < 0 ? "ahead" : "behind";
  return `${formatNumber(Math.abs(blocks))} ± ${formatCount(uncertainty, "block")}${time} ${side}`;
}

function otherFacts(target: TargetReport, nowMs: number): readonly Fact[] {
  const { block_number: block, block_timestamp: time, last_advance: advance, last_success: success } = target;
  const { deployment, deployment_changes: changes, regressions } = target;
  const { reorg, reindex } = regressions;
  const produced = time === null ? null : html`, at ${renderClock(time, nowMs)}`;
  const changed = changes === 0 ? "" : `, changed ${formatCount(changes, "time")}`;
  return [
    ["Height", block === null ? "unknown" : html`${formatNumber(block)}${produced}`],
    ["Last advance", advance === null ? "never" : renderClock(advance, nowMs)],
    ["Last success", success === null ? "never" : renderAgo(success, nowMs)],
    ["Steps back", reorg + reindex === 0 ? null : `${formatCount(reorg, "reorg")}, ${reindex} re-indexed`],
    ["Deployment", deployment === null ? null : `${deployment}${changed}`],
    ["Thresholds", target.thresholds && describeThresholds(target.thresholds)],
  ];
}

/** The request to an endpoint as a curl command, and its last replies; null before the first poll. */
function renderExchanges(record: EndpointRecord, nowMs: number): Html | null {
  if (record.curl === null) {
    return null;
  }
  const shared = record.targets.length > 1 ? ` It serves ${record.targets.length} targets.` : "";
  const name = record.kind === "status" ? "Index-node API" : "Endpoint";
  return html`<p class="hint">${name} <b>${record.key}</b>.${shared} The request as a command:</p>
${renderCommand(record.curl, `curl command for ${record.key}`)}
${renderExchangeList("Recent failures", record.failures, nowMs)}
${renderExchangeList("Recent usable replies", record.replies, nowMs)}`;
}

function renderExchangeList(title: string, exchanges: readonly Exchange[], nowMs: number): Html | null {
  const items = exchanges.map(({ sentAtMs, receivedAtMs, httpStatus, outcome, text }) => {
    // The text of a failure already names its HTTP status or its cause.
    const isNamed = httpStatus === null || text.startsWith(`HTTP ${httpStatus}`);
    const how = `${isNamed ? "" : `HTTP ${httpStatus}, `}after ${formatDuration(receivedAtMs - sentAtMs)}`;
    const refused = outcome === "refused" ? "refused: " : null;
    return html`<li><span class="meta">${renderAgo(isoTime(receivedAtMs), nowMs)}, ${how}</span> <q>${refused}${text}</q></li>
`;
  });
  return items.length === 0 ? null : html`<h4>${title}</h4><ol class="exchanges">${items}</ol>`;
}

/** The container in which a script draws the plots; only the plots of the worst protocol are open. */
function renderHistory(protocol: string, slug: string, isOpen: boolean): Html {
  const path = pairPath("history", protocol, slug);
  return html`<details class="part" id="part-${protocol}"${isOpen ? html` open` : null}><summary>History of ${protocol}</summary>
<div id="history-${protocol}"><div class="plots" id="plots-${protocol}" data-keep data-history="${path}" hidden></div>
<p class="hint"><a href="${path}">The same as JSON</a></p></div></details>
`;
}

/** How a source relates to the head: its colour and words. The table lists sources in this order. */
const RELATIONS: Readonly<Record<Standing["stands"], readonly [tone: Tone, words: string]>> = {
  agrees: ["ok", "agrees"],
  disputed: ["bad", "contradicts others"],
  excluded: ["bad", "excluded"],
  rejected: ["bad", "of another chain"],
  apart: ["warn", "behind"],
};

/** Without a reference, no source is behind. */
function relationOf({ stands }: Standing, { reference }: Pick<Measured, "reference">) {
  return stands === "apart" && reference === null ? (["idle", "not confirmed"] as const) : RELATIONS[stands];
}

/** How the head of a chain was decided and what would change it, with the bounds of its sources as a picture and a table. */
function renderDecision(chain: ChainSummary, targets: readonly TargetReport[]): Html {
  const { dispute, standings } = chain;
  const measured = { ...chain, targets };
  const order = Object.keys(RELATIONS);
  const sorted = standings.toSorted((a, b) => order.indexOf(a.stands) - order.indexOf(b.stands));
  const columns = {
    Source: (standing: Standing) => html`${sourceName(standing)} <small>${standing.host}</small>`,
    Head: (standing: Standing) => renderPill(...relationOf(standing, chain)),
    Block: ({ block_number: block }: Standing) => (block === null ? "–" : formatNumber(block)),
    "At most": ({ most_block: most }: Standing) => (most === null ? "–" : formatNumber(most)),
    Why: (standing: Standing) =>
      standing.detail ?? (standing.stands === "apart" ? distanceText(standing, measured) : ""),
  };
  const agreeing = standings.filter(({ stands }) => stands === "agrees");
  const providers = new Set(agreeing.map(({ host, source }) => host ?? source)).size;
  const decided =
    providers < 2
      ? "Fewer than two providers report this head. Another provider, or an RPC node (rpc in chains.yaml), would confirm or refute it."
      : `${providers} providers agree on this head. It would change if more providers agreed on another head.`;
  // The picture has no room for details, so the table is unfolded if there are any.
  const isPlain = standings.every(({ detail }) => detail === null);
  const picture = drawDecision(chain, drawnSources(sorted, measured));
  return renderSection(
    "decision",
    "How the head is decided",
    html`<p>${dispute === null ? decided : `No reference: ${dispute}.`}</p>
${
  picture === null
    ? null
    : html`<figure class="decision"><svg width="100%" height="${picture.height}" aria-hidden="true">${picture.shapes}</svg>
<figcaption>Each bar begins at the block of a source and ends at the highest head that is possible if the source is right. The head lies where the bars of most providers overlap.</figcaption></figure>`
}
<details id="decision-table"${isPlain ? null : html` open`}><summary>The same as a table</summary>
${renderTable("decision", "Sources", columns, sorted)}</details>`,
  );
}

/** The sources of the picture. Each has only its distance: SVG does not wrap text, and the table has the whole reason. */
export function drawnSources(standings: readonly Standing[], measured: Measured): readonly DrawnSource[] {
  return standings.map((standing) => {
    const [tone, words] = relationOf(standing, measured);
    const away = standing.stands === "agrees" ? "" : distanceText(standing, measured);
    const counts = standing.stands === "agrees" || standing.stands === "apart";
    return {
      ...standing,
      name: sourceName(standing),
      tone,
      words: away === "" ? words : `${words}, ${away}`,
      counts,
    };
  });
}

function sourceName({ source }: Standing): string {
  const { protocol, ...id } = idOfKey(source);
  return protocol === "rpc" ? "RPC node" : `${protocol} ${variantName(id)}`;
}

/** The data from which the distance of a source from the head is computed. */
type Measured = Pick<ChainReport, "reference" | "targets">;

/**
 * `450 blocks below`; empty at the reference, or without one. The distance of a target is its lag, because the reference has
 * advanced since the target replied.
 */
function distanceText({ block_number: block, source }: Standing, { reference, targets }: Measured): string {
  const lag = targets.find(({ key }) => key === source)?.lag_blocks ?? 0;
  const above = block === null || reference === null ? 0 : block - reference.block_number;
  const away = lag > 0 ? -lag : above;
  return away === 0 ? "" : `${formatCount(Math.abs(away), "block")} ${away < 0 ? "below" : "above"}`;
}

function renderChainFacts(chain: ChainSummary, nowMs: number): Html {
  const { block_interval_seconds: found, block_time_seconds: expected, thresholds } = chain;
  const measured = found === null ? "not measured yet" : `${found.toFixed(2)} s measured`;
  const facts = renderFacts([
    ["Chain ID", `${chain.chain_id}${chain.testnet ? " (testnet)" : ""}`],
    [renderTerm("Reference head"), describeReference(chain, nowMs)],
    [renderTerm("Block interval"), expected === null ? measured : `${measured}, ${expected} s expected`],
    ["Thresholds", describeThresholds(thresholds)],
  ]);
  return html`<details class="part" id="chain"><summary>Chain: id, reference head, thresholds</summary>
${facts}</details>
`;
}

/** The configured thresholds: `lagging 50 blocks (100 s), critical 30 min, stalled 10 min`. */
function describeThresholds(thresholds: ChainSummary["thresholds"]): string {
  const [lagging, critical] = [limitOf(thresholds, "lagging"), limitOf(thresholds, "critical")];
  const stalled = formatDuration(thresholds.stalled_seconds * 1000);
  return `lagging ${limitText(lagging)}, critical ${limitText(critical)}, stalled ${stalled}`;
}

function describeReference({ dispute, explorer, reference }: ChainSummary, nowMs: number): HtmlValue {
  if (reference === null) {
    return dispute === null
      ? "none, because too few sources reply and agree; the lag is measured against the clock or the last reference"
      : "none, because sources contradict each other; the lag is unknown";
  }
  const { block_number: block, sources, time } = reference;
  const number = formatNumber(block);
  const produced = time === null ? "" : `, produced ${formatAgo(Date.parse(time), nowMs)}`;
  return html`${renderLink(number, explorer && `${explorer}/block/${block}`) ?? number} from ${formatCount(sources, "source")}${produced}`;
}

/** The RPC nodes, which report the head independently; null if none is configured. */
function renderRpcNodes(endpoints: readonly EndpointRecord[], nowMs: number): Html | null {
  const nodes = endpoints.filter(({ kind }) => kind === "rpc");
  const items = nodes.map(
    (node) => html`<h3>RPC node ${node.key.split("/")[2] ?? ""}</h3>
${renderExchanges(node, nowMs)}`,
  );
  return nodes.length === 0
    ? null
    : html`<details class="part" id="rpc"><summary>${formatCount(nodes.length, "RPC node")}: requests and replies</summary>
${items}</details>
`;
}
