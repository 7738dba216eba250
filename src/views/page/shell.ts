import type { EventLog } from "../../core/events/event-log.ts";
import type { Links } from "../../core/model/links.ts";
import type { Report } from "../../core/model/report.ts";
import { formatAgo, formatClock, formatCount, formatNumber } from "../../core/model/text.ts";
import { indexerName, TONES, type Tone } from "../wording/targets.ts";
import { type Html, type HtmlValue, html, ownMarkup, renderHtml, webLink } from "./html.ts";
import { API_PATH, DOCS_PATH, INCIDENTS_PATH, PLAN_PATH, STATUSES_PATH, type View } from "./links.ts";

/**
 * The paths of the files that pages load. The header's script is loaded before the page is drawn. The plot library, uPlot, is a
 * classic script, not a module.
 */
export type PageAssets = Readonly<
  Record<"styles" | "headerScript" | "script" | "plotStyles" | "plotLibrary" | "plotScript", string>
>;

/** The options of every page. */
export interface PageOptions {
  readonly assets: PageAssets;
  readonly version: string;
  readonly links: Links;
  readonly events: EventLog;
  readonly view: View;
}

interface Page extends PageOptions {
  readonly title: string;
  /** The colour of the tab's icon. */
  readonly tone: Tone;
  readonly main: Html;
  /** The page that the filter leads to. Default: the status page. */
  readonly filters?: string;
  /** The parameters of the URL that the filter keeps. Default: the order and the range. */
  readonly kept?: Readonly<Record<string, string>>;
  /** `live`: the page refreshes itself. `plots`: it also has plots. Default: neither. */
  readonly kind?: "live" | "plots";
}

/** A complete document around the main part of a page: it loads nothing external and works without JavaScript. */
export function renderPage({ title, tone, main, assets, version, view, kind, ...filter }: Page): string {
  const { filters = "/", kept = { sort: view.sort, range: view.range } } = filter;
  const hasPlots = kind === "plots";
  const styles = [hasPlots ? assets.plotStyles : [], assets.styles].flat();
  const scripts = [kind === undefined ? [] : assets.script, hasPlots ? assets.plotScript : []].flat();
  return renderHtml(html`${ownMarkup("<!doctype html>")}
<html lang="en"><head><meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="${icon(tone)}">
${kind === undefined ? null : html`<noscript><meta http-equiv="refresh" content="15"></noscript>`}
<script src="${assets.headerScript}"></script>
${styles.map((path) => html`<link rel="stylesheet" href="${path}">`)}</head>
<body><header class="top"><a class="brand" href="/">Synclag</a>
<form action="${filters}" role="search">
<input id="q" name="q" type="search" value="${view.q}" placeholder="Filter: base stalled"
 aria-label="Filter targets" aria-keyshortcuts="/" title="Press / to filter" autocomplete="off">
${renderHidden(kept)}<noscript><button>Filter</button></noscript></form>
<span id="live"></span><p id="announcement" class="sr" role="status"></p></header>
<main>${main}</main>
<footer><nav aria-label="More"><a href="${INCIDENTS_PATH}">Incidents and events</a> · <a href="${PLAN_PATH}">Budgets and plan</a> ·
<a href="${STATUSES_PATH}">Status meanings</a> · <a href="${DOCS_PATH}">Runbooks</a> · <a href="/metrics">Metrics</a> ·
<a href="/api/v1/status">Status as JSON</a> · <a href="${API_PATH}">API</a></nav>
<p>Synclag ${version}</p></footer>
${hasPlots ? html`<script src="${assets.plotLibrary}"></script>` : null}
${scripts.map((path) => html`<script type="module" src="${path}"></script>`)}</body></html>
`);
}

export function icon(tone: Tone): string {
  const circle = `<circle cx='8' cy='8' r='7' fill='${encodeURIComponent(TONES[tone].colour)}'/>`;
  return `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>${circle}</svg>`;
}

/** The page of an error, such as a path that does not exist. */
export function renderErrorPage(title: string, detail: string, options: PageOptions): string {
  const main = html`<div class="summary warn"><h1>${title}</h1><p>${detail} · <a href="/">All chains</a></p></div>`;
  return renderPage({ ...options, title: `${title} · Synclag`, tone: "warn", main });
}

/** The top of a page: the headline, a sentence of detail, the time of the report, and more. */
export function renderSummary(
  { generated_at: time }: Report,
  tone: Tone,
  sentence: HtmlValue,
  details: readonly string[] = [],
  more: HtmlValue = html`. <a href="/">All chains</a>`,
): Html {
  const detail = details.filter((one) => one !== "").join(". ");
  return html`<div class="summary ${tone}"><h1>${sentence}</h1>
${detail === "" ? null : html`<p class="detail">${detail}</p>`}
<p>As of <time id="asof" datetime="${time}">${formatClock(Date.parse(time), Date.parse(time))}</time>${more}</p></div>`;
}

/** The glyph of a tone. Screen readers leave it out, because the words after it say the same. */
export function toneGlyph(tone: Tone): Html {
  return html`<i aria-hidden="true">${TONES[tone].glyph}</i>`;
}

/** Explanations of terms. Hovering, a tap or the keyboard shows them. */
const MEANINGS = {
  "Reference head": "The newest block on which the sources of the chain agree; lag is measured against it",
  "× sources": "How many sources agree on the reference head",
  preferred: "The freshest healthy variant that serves users: where traffic should go",
  Gap: "The distance between two variants at one instant, give or take its uncertainty",
  "Block interval": "The time between two blocks, as measured",
} as const;

/** One of these terms, with its explanation. */
export function renderTerm(term: keyof typeof MEANINGS): Html {
  return html`<abbr title="${MEANINGS[term]}" tabindex="0">${term}</abbr>`;
}

/** A word on the colour of its tone. */
export function renderPill(tone: Tone, word: string): Html {
  return html`<span class="pill ${tone}">${toneGlyph(tone)} ${word}</span>`;
}

/** A part of a page, with its heading. */
export function renderSection(id: string, title: HtmlValue, body: HtmlValue): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${body}</section>`;
}

/** A section with a list; null without items. */
export function renderList(id: string, title: string, items: readonly Html[], style = "list"): Html | null {
  return items.length === 0 ? null : renderSection(id, title, html`<ul class="${style}">${items}</ul>`);
}

/** A table in a box that scrolls, with a column for each title. The first column has the headings of the rows. */
export function renderTable<Row>(
  id: string,
  label: string,
  columns: Readonly<Record<string, (row: Row) => HtmlValue>>,
  rows: readonly Row[],
  height = "",
): Html {
  const [first, ...others] = Object.values(columns);
  return html`<div class="box${height && ` ${height}`}" id="box-${id}" role="region" aria-label="${label}" tabindex="0">
<table class="plain"><thead><tr>${Object.keys(columns).map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map((row) => {
    const cells = others.map((cell) => html`<td>${cell(row)}</td>`);
    return html`<tr><th scope="row">${first?.(row) ?? null}</th>${cells}</tr>\n`;
  })}</tbody></table></div>`;
}

/** How long ago something was; hovering shows when. */
export function renderAgo(time: string, nowMs: number): Html {
  const timeMs = Date.parse(time);
  return html`<time datetime="${time}" title="${formatClock(timeMs, nowMs)}">${formatAgo(timeMs, nowMs)}</time>`;
}

/** A time of day, as `formatClock` writes it. */
export function renderClock(time: string, nowMs: number): Html {
  return html`<time datetime="${time}">${formatClock(Date.parse(time), nowMs)}</time>`;
}

/** An external link; null if the URL is not safe to link to. */
export function renderLink(text: string, url: string | null): Html | null {
  const safe = webLink(url);
  return safe === null ? null : html`<a href="${safe}" rel="noopener noreferrer">${text}</a> `;
}

/** A command, or lines of a file; a click selects all of it. */
export function renderCommand(text: string, label: string): Html {
  return html`<pre class="curl" tabindex="0" role="region" aria-label="${label}">${text}</pre>`;
}

/** The parameters of the URL that a form keeps; empty ones are left out. */
function renderHidden(kept: Readonly<Record<string, string>>): Html {
  const named = Object.entries(kept).filter(([, value]) => value !== "");
  return html`${named.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

/** How many targets the filter of a page shows, and a link to all; null if it shows all. */
export function renderFilterNote(report: Report, shown: Report, path: string): Html | null {
  const all = formatCount(report.targets.length, "target");
  return shown === report
    ? null
    : html`<p class="hint" id="shown">Showing ${formatNumber(shown.targets.length)} of ${all}. <a href="${path}">Show all</a></p>`;
}

/** The optional indexers that are not polled, and why; null if all are polled. */
export function renderSkipped(skipped: Report["skipped"]): Html | null {
  const items = skipped.map((one) => html`<li><b>${indexerName(one)}</b>: ${one.why}</li>`);
  return renderList("skipped", "Not polled", items);
}
