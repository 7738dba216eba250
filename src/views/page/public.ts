import type { EventLog } from "../../core/events/event-log.ts";
import { servingTargets } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import type { PublicView } from "../../core/model/links.ts";
import type { Report } from "../../core/model/report.ts";
import type { PairState } from "../../core/report/pairs.ts";
import { type JudgedPair, judgeReport } from "../../core/report/severity.ts";
import { PAIR_WORDS, TONES, type Tone } from "../wording/targets.ts";
import { html, ownMarkup, renderHtml } from "./html.ts";
import { icon, renderClock, renderPill, toneGlyph } from "./shell.ts";
import { renderStripLegend, stripReader } from "./strip.ts";

/** A page for users: each pair and its last 90 days. It names no host, no indexer and no reason. */
export function renderPublicPage(report: Report, view: PublicView, log: EventLog, styles: string): string {
  const { read, renderAxis } = stripReader(log, "90d", report, "users");
  const pairs = publicPairs(report, view);
  const nowMs = Date.parse(report.generated_at);
  const worst = (["down", "degraded", "unknown", "in maintenance", "ok", "ended"] as const).find((state) =>
    pairs.some((pair) => stateOf(pair) === state),
  );
  const [word, tone] = wordsOf(worst ?? "unknown");
  const count = pairs.every((pair) => stateOf(pair) === worst) ? "All" : "Some";
  const sentence =
    worst === undefined ? "No system is listed" : (ALL[worst] ?? `${count} systems are ${word}`);
  const sections = [...groupBy(pairs, ({ protocol }) => protocol)].map(([protocol, own]) => {
    const items = own.map((pair) => {
      const { name, slug } = pair.chain;
      const [now, colour] = wordsOf(stateOf(pair));
      const end = plannedEnd(pair) ?? null;
      const strip = read("pair", `${protocol}/${slug}`).render(name, {});
      const until = end && html` <small>until ${renderClock(end, nowMs)}</small>`;
      return html`<li><span>${name}${until}</span>${renderPill(colour, now)}${strip}</li>\n`;
    });
    return html`<section><h2>${protocol}</h2>${renderAxis()}<ul class="strips states">${items}</ul></section>`;
  });
  return renderHtml(html`${ownMarkup("<!doctype html>")}
<html lang="en"><head><meta charset="utf-8"><title>${view.title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${icon(tone)}"><link rel="stylesheet" href="${styles}"></head>
<body><main><div class="summary ${tone}"><h1>${toneGlyph(tone)} ${view.title}: ${sentence}</h1>
<p>As of ${renderClock(report.generated_at, Date.parse(report.generated_at))}</p></div>
${view.notice && html`<p class="notice">${view.notice}</p>`}
${renderStripLegend("users")}
${sections}</main></body></html>
`);
}

/** The headline for these states, if no pair has a worse one. */
const ALL: Readonly<Record<string, string>> = {
  ok: "All systems operational",
  ended: "All systems have ended",
};

type PublicState = PairState | "in maintenance" | "ended";

/** The state of a pair for users. `in maintenance`: each target is ok or in maintenance. `ended`: all targets have ended. */
function stateOf(pair: JudgedPair): PublicState {
  if (servingTargets(pair.targets).every(({ ended, maintenance }) => ended !== null && maintenance)) {
    return "ended";
  }
  return plannedEnd(pair) === undefined ? pair.state : "in maintenance";
}

/** When the last maintenance window ends (null: unknown); undefined if the pair is ok, or a target fails outside of maintenance. */
function plannedEnd({ state, targets }: JudgedPair): string | null | undefined {
  const missed = servingTargets(targets).filter(({ status }) => status !== "ok");
  const isPlanned = state !== "ok" && missed.length > 0 && missed.every(({ maintenance }) => maintenance);
  const ends = missed.flatMap(({ maintenance_until: until }) => until ?? []);
  return isPlanned ? (ends.toSorted().at(-1) ?? null) : undefined;
}

function wordsOf(state: PublicState): readonly [word: string, tone: Tone] {
  return state === "in maintenance" || state === "ended" ? [state, "busy"] : PAIR_WORDS[state];
}

/** The pairs of the public view: no testnets. */
function publicPairs(report: Report, { protocols }: PublicView) {
  return judgeReport(report).pairs.filter(
    ({ chain, protocol }) => !chain.testnet && protocols?.includes(protocol) !== false,
  );
}

/** The average width of a letter, and the space beside a text, in pixels. */
const [LETTER, PADDING] = [6.6, 7];

/** The badge of a pair as SVG; null if the pair is not public. */
export function renderBadge(report: Report, view: PublicView, protocol: string, slug: string): string | null {
  const pair = publicPairs(report, view).find((one) => one.protocol === protocol && one.chain.slug === slug);
  if (pair === undefined) {
    return null;
  }
  const [word, tone] = wordsOf(stateOf(pair));
  const name = `${protocol} on ${pair.chain.name}`;
  const widthOf = (text: string) => Math.ceil(text.length * LETTER) + 2 * PADDING;
  const [left, right] = [widthOf(name), widthOf(word)];
  return renderHtml(html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${name}: ${word}">
<title>${name}: ${word}</title><rect width="${left}" height="20" fill="#444"/><rect x="${left}" width="${right}" height="20" fill="${TONES[tone].colour}"/>
<g fill="#fff" font-family="Verdana,Geneva,sans-serif" font-size="11" text-anchor="middle"><text x="${left / 2}" y="14">${name}</text><text x="${left + right / 2}" y="14">${word}</text></g></svg>
`);
}
