import type { Links } from "../../core/model/links.ts";
import type { Report } from "../../core/model/report.ts";
import { formatAgo, formatClock, formatCount, formatDuration } from "../../core/model/text.ts";
import { sentenceCase } from "../wording/headline.ts";
import { GLYPHS, indexerName, type Tone } from "../wording/targets.ts";
import { type Html, type HtmlValue, html, ownMarkup, renderHtml, webLink } from "./html.ts";
import { API_PATH, DOCS_PATH, INCIDENTS_PATH, PLAN_PATH, STATUSES_PATH } from "./links.ts";

/** The paths of the files that pages load. */
export interface PageAssets {
  readonly styles: string;
  /** Loaded before the page is drawn. */
  readonly headerScript: string;
  readonly script: string;
  readonly plotStyles: string;
  /** uPlot: a classic script, not a module. */
  readonly plotLibrary: string;
  readonly plotScript: string;
}

/** What every page needs from the server. */
export interface PageOptions {
  readonly assets: PageAssets;
  readonly version: string;
  /** Default: none. */
  readonly links?: Links;
  /** The content of the filter box. */
  readonly query?: string | undefined;
  /** The column that the fleet is sorted by, which a new filter keeps. Default: the worst chain first. */
  readonly sort?: string | undefined;
}

interface Page extends PageOptions {
  readonly title: string;
  /** The colour of the tab's icon. */
  readonly tone: Tone;
  readonly main: Html;
  /** The page that the filter leads to. Default: the status page. */
  readonly filters?: string;
  readonly plots?: "drawn" | "none";
  /** Whether the page refreshes itself. */
  readonly refresh?: "live" | "never";
}

const ICON_COLOURS: Readonly<Record<Tone, string>> = {
  ok: "2a9d5f",
  busy: "4f8be0",
  idle: "888888",
  warn: "d99000",
  bad: "c8322b",
};

/** A complete document around the main part of a page: it loads nothing external and works without JavaScript. */
export function renderPage({ plots = "none", refresh = "live", ...page }: Page): string {
  const { title, tone, main, assets, version, query = "", sort = "", filters = "/" } = page;
  const styles = [...(plots === "drawn" ? [assets.plotStyles] : []), assets.styles];
  const scripts = [
    ...(refresh === "live" ? [assets.script] : []),
    ...(plots === "drawn" ? [assets.plotScript] : []),
  ];
  return renderHtml(html`${ownMarkup("<!doctype html>")}
<html lang="en"><head><meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="${icon(tone)}">
${refresh === "live" ? html`<noscript><meta http-equiv="refresh" content="15"></noscript>` : null}
<script src="${assets.headerScript}"></script>
${styles.map((path) => html`<link rel="stylesheet" href="${path}">`)}</head>
<body><header class="top"><a class="brand" href="/">Synclag</a>
<form action="${filters}" role="search">
<input id="q" name="q" type="search" value="${query}" placeholder="Filter: lockup base stalled"
 aria-label="Filter targets" aria-keyshortcuts="/" title="Press / to filter" autocomplete="off">
${sort === "" ? null : html`<input type="hidden" name="sort" value="${sort}">`}<noscript><button>Filter</button></noscript></form>
<span id="live"></span><p id="announcement" class="sr" role="status"></p></header>
<main>${main}</main>
<footer><nav aria-label="More"><a href="${INCIDENTS_PATH}">Incidents and events</a> · <a href="${PLAN_PATH}">Budgets and plan</a> ·
<a href="${STATUSES_PATH}">Status meanings</a> · <a href="${DOCS_PATH}">Runbooks</a> · <a href="/metrics">Metrics</a> ·
<a href="/api/v1/status">Status as JSON</a> · <a href="${API_PATH}">API</a></nav>
<p>Synclag ${version}</p></footer>
${plots === "drawn" ? html`<script src="${assets.plotLibrary}"></script>` : null}
${scripts.map((path) => html`<script type="module" src="${path}"></script>`)}</body></html>
`);
}

export function icon(tone: Tone): string {
  const circle = `<circle cx='8' cy='8' r='7' fill='%23${ICON_COLOURS[tone]}'/>`;
  return `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>${circle}</svg>`;
}

/** The page of an error, such as a path that does not exist. */
export function renderErrorPage(title: string, detail: string, options: PageOptions): string {
  const main = html`<div class="summary warn"><h1>${title}</h1><p>${detail} · <a href="/">All chains</a></p></div>`;
  return renderPage({ ...options, title: `${title} · Synclag`, tone: "warn", main, refresh: "never" });
}

/** The top of a page: the headline, a sentence of detail, and the time of the report. */
export function renderSummary(
  { generated_at: time }: Report,
  tone: Tone,
  sentence: HtmlValue,
  detail: string,
  more: HtmlValue,
): Html {
  const clock = formatClock(Date.parse(time), Date.parse(time));
  return html`<div class="summary ${tone}"><h1>${sentence}</h1>
${detail === "" ? null : html`<p class="detail">${sentenceCase(detail)}.</p>`}
<p>As of <time id="asof" datetime="${time}">${clock}</time>${more}</p></div>`;
}

/** The glyph of a tone, for the words after it; screen readers leave it out. */
export function toneGlyph(tone: Tone): Html {
  return html`<i aria-hidden="true">${GLYPHS[tone]}</i>`;
}

/** Explanations of terms: hovering, a tap or the keyboard shows them. */
const MEANINGS = {
  "Reference head": "The newest block on which the sources of the chain agree; lag is measured from it",
  "× sources": "How many sources agree on it",
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

/** A table in a box of its own, which scrolls. The first cell of a row is its heading. */
export function renderTable(
  id: string,
  label: string,
  head: readonly string[],
  rows: readonly (readonly HtmlValue[])[],
  height = "",
): Html {
  return html`<div class="box${height && ` ${height}`}" id="box-${id}" role="region" aria-label="${label}" tabindex="0">
<table class="plain"><thead><tr>${head.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([first = "", ...cells]) =>
      html`<tr><th scope="row">${first}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`,
  )}</tbody></table></div>`;
}

/** How long ago something was; hovering tells when. */
export function renderAgo(time: string, nowMs: number): Html {
  const timeMs = Date.parse(time);
  return html`<time datetime="${time}" title="${formatClock(timeMs, nowMs)}">${formatAgo(timeMs, nowMs)}</time>`;
}

/** How long something has lasted; hovering tells since when. */
export function renderFor(time: string, nowMs: number): Html {
  const sinceMs = Date.parse(time);
  const clock = formatClock(sinceMs, nowMs);
  return html`for <time datetime="${time}" title="since ${clock}">${formatDuration(nowMs - sinceMs)}</time>`;
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

/** A command, or lines of a file, that a click selects as a whole. */
export function renderCommand(text: string, label: string): Html {
  return html`<pre class="curl" tabindex="0" role="region" aria-label="${label}">${text}</pre>`;
}

/** How many targets the filter of a page shows, and the way back to all; null if it shows all. */
export function renderFilterNote(report: Report, shown: Report, path: string): Html | null {
  const all = formatCount(report.targets.length, "target");
  return shown === report
    ? null
    : html`<p class="hint" id="shown">Showing ${shown.targets.length} of ${all}. <a href="${path}">Show all</a></p>`;
}

/** Chains that endpoints serve and chains.yaml does not list; null if there are none. */
export function renderUnlisted({ chains, unlisted }: Pick<Report, "chains" | "unlisted">): Html | null {
  const names = new Map(chains.map(({ chain_id: id, slug }) => [id, `${id} (${slug})`]));
  const items = unlisted
    .filter(({ chain_ids: ids }) => ids.length > 0)
    .map(({ chain_ids: ids, endpoint }) => {
      const listed = ids.map((id) => names.get(id) ?? id).join(", ");
      return html`<li><b>${endpoint}</b>: ${formatCount(ids.length, "chain")}: ${listed}</li>`;
    });
  return renderList("unlisted", "Served, but not in chains.yaml", items);
}

/** The optional indexers that are not polled, and why; null if all are. */
export function renderSkipped(skipped: Report["skipped"]): Html | null {
  const items = skipped.map((one) => html`<li><b>${indexerName(one)}</b>: ${one.why}</li>`);
  return renderList("skipped", "Not polled", items);
}

/** A section with a list; null without items. */
export function renderList(id: string, title: string, items: readonly Html[]): Html | null {
  return items.length === 0 ? null : renderSection(id, title, html`<ul class="list">${items}</ul>`);
}
