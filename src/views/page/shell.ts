import { PLOT_SCRIPT } from "../assets/plot-script.ts";
import { PAGE_SCRIPT } from "../assets/script.ts";
import { PAGE_STYLES } from "../assets/styles.ts";
import type { Tone } from "../wording/status-words.ts";
import { type Html, html, ownMarkup, renderHtml } from "./html.ts";
import { PLAN_PATH, STATUSES_PATH } from "./links.ts";

/** What every page needs from the server. */
export interface PageOptions {
  /** Allows the page's own styles and scripts under a strict Content-Security-Policy. */
  readonly nonce: string;
  readonly version: string;
  /** The content of the filter box. */
  readonly query?: string | undefined;
}

interface Page extends PageOptions {
  readonly title: string;
  /** The colour of the tab's icon. */
  readonly tone: Tone;
  readonly main: Html;
  /** Absent on pages without plots. */
  readonly plots?: PlotAssets;
  /** Whether the page refreshes itself. */
  readonly refresh?: "live" | "never";
}

/** The paths of uPlot's files. */
export interface PlotAssets {
  readonly script: string;
  readonly styles: string;
}

const ICON_COLOURS: Readonly<Record<Tone, string>> = {
  ok: "2a9d5f",
  busy: "4f8be0",
  idle: "888888",
  warn: "d99000",
  bad: "c8322b",
};

/** A complete document around the main part of a page: it loads nothing external and works without JavaScript. */
export function renderPage({
  title,
  tone,
  main,
  nonce,
  version,
  plots,
  refresh = "live",
  query = "",
}: Page): string {
  return renderHtml(html`${ownMarkup("<!doctype html>")}
<html lang="en"><head><meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="${icon(tone)}">
${refresh === "live" ? html`<noscript><meta http-equiv="refresh" content="15"></noscript>` : null}
${plots === undefined ? null : html`<link rel="stylesheet" nonce="${nonce}" href="${plots.styles}">`}
<style nonce="${nonce}">${ownMarkup(PAGE_STYLES)}</style></head>
<body><header class="top"><a class="brand" href="/">Synclag</a>
<form action="/" role="search"><input id="q" name="q" type="search" value="${query}" placeholder="Filter: lockup base stalled" aria-label="Filter targets" autocomplete="off"><noscript><button>Filter</button></noscript></form>
<span id="live"></span><p id="announcement" class="sr" role="status"></p></header>
<main>${main}</main>
<footer><nav aria-label="More"><a href="${PLAN_PATH}">Budgets and plan</a> · <a href="${STATUSES_PATH}">Status meanings</a> · <a href="/metrics">Metrics</a> · <a href="/api/v1/status">Status as JSON</a> · <a href="/openapi.json">API</a></nav>
<p>Synclag ${version}</p></footer>
${refresh === "live" ? html`<script nonce="${nonce}">${ownMarkup(PAGE_SCRIPT)}</script>` : null}${plots === undefined ? null : renderPlotScripts(nonce, plots)}</body></html>
`);
}

function renderPlotScripts(nonce: string, { script }: PlotAssets): Html {
  return html`
<script nonce="${nonce}" src="${script}"></script><script nonce="${nonce}">${ownMarkup(PLOT_SCRIPT)}</script>`;
}

function icon(tone: Tone): string {
  const circle = `<circle cx='8' cy='8' r='7' fill='%23${ICON_COLOURS[tone]}'/>`;
  return `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>${circle}</svg>`;
}
