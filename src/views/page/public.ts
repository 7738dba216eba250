import type { EventLog } from "../../core/events/event-log.ts";
import { groupBy } from "../../core/model/group-by.ts";
import type { PublicView } from "../../core/model/links.ts";
import type { Report } from "../../core/model/report.ts";
import { type Pair, type PairState, pairState, pairsOf } from "../../core/report/pairs.ts";
import { periodReader } from "../api/events.ts";
import type { Tone } from "../wording/targets.ts";
import { type Html, html, ownMarkup, renderHtml } from "./html.ts";
import { icon, renderClock, toneGlyph } from "./shell.ts";
import { intervalOf, renderStrip } from "./strip.ts";

const WORDS: Readonly<Record<PairState, readonly [word: string, tone: Tone]>> = {
  ok: ["operational", "ok"],
  degraded: ["degraded", "warn"],
  down: ["down", "bad"],
  unknown: ["unknown", "idle"],
};

/** A page for users: each protocol on each chain, and its last 90 days. It names no host, no indexer and no reason. */
export function renderPublicPage(report: Report, view: PublicView, log: EventLog, styles: string): string {
  const nowMs = Date.parse(report.generated_at);
  const read = periodReader(log, intervalOf("90d", nowMs));
  const pairs = publicPairs(report, view);
  const worst = (["down", "degraded", "unknown"] as const).find((state) =>
    pairs.some((pair) => pairState(pair) === state),
  );
  const [word, tone] = WORDS[worst ?? "ok"];
  const sentence = worst === undefined ? "All systems operational" : `Some systems are ${word}`;
  const sections = [...groupBy(pairs, ({ protocol }) => protocol)].map(
    ([protocol, own]) =>
      html`<section><h2>${protocol}</h2><ul class="strips">${own.map((pair) => {
        const periods = read("pair", `${protocol}/${pair.chain.slug}`);
        return html`<li>${renderState(pair)}${renderStrip(periods, pair.chain.name, "90d", nowMs, null)}</li>
`;
      })}</ul></section>`,
  );
  return renderHtml(html`${ownMarkup("<!doctype html>")}
<html lang="en"><head><meta charset="utf-8"><title>${view.title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${icon(tone)}"><link rel="stylesheet" href="${styles}"></head>
<body><main><div class="summary ${tone}"><h1>${toneGlyph(tone)} ${view.title}: ${sentence}</h1>
<p>As of ${renderClock(report.generated_at, nowMs)}, and the last 90 days</p></div>
${sections}</main></body></html>
`);
}

function renderState(pair: Pair): Html {
  const [word, tone] = WORDS[pairState(pair)];
  return html`<span>${pair.chain.name} <b class="pill ${tone}">${toneGlyph(tone)} ${word}</b></span>`;
}

/** The pairs of the public view: no testnets. */
function publicPairs(report: Report, { protocols }: PublicView): readonly Pair[] {
  return pairsOf(report, report.targets).filter(
    ({ chain, protocol }) => !chain.testnet && protocols?.includes(protocol) !== false,
  );
}

const BADGE_COLOURS: Readonly<Record<PairState, string>> = {
  ok: "#14713f",
  degraded: "#8a5a00",
  down: "#b4231d",
  unknown: "#5d615b",
};
/** The average width of a letter. */
const LETTER = 6.6;
const PADDING = 7;

/** The badge of a pair as SVG; null if the pair is not public. */
export function renderBadge(report: Report, view: PublicView, protocol: string, slug: string): string | null {
  const pair = publicPairs(report, view).find((one) => one.protocol === protocol && one.chain.slug === slug);
  if (pair === undefined) {
    return null;
  }
  const state = pairState(pair);
  const [name, word] = [`${protocol} on ${pair.chain.name}`, WORDS[state][0]];
  const [left, right] = [name, word].map((text) => Math.ceil(text.length * LETTER) + 2 * PADDING) as [
    number,
    number,
  ];
  return renderHtml(html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${name}: ${word}">
<title>${name}: ${word}</title><rect width="${left}" height="20" fill="#444"/><rect x="${left}" width="${right}" height="20" fill="${BADGE_COLOURS[state]}"/>
<g fill="#fff" font-family="Verdana,Geneva,sans-serif" font-size="11" text-anchor="middle"><text x="${left / 2}" y="14">${name}</text><text x="${left + right / 2}" y="14">${word}</text></g></svg>
`);
}
