import type { EventLog } from "../../core/events/event-log.ts";
import {
  type Availability,
  availabilityOf,
  type Interval,
  type Period,
  slotsOf,
} from "../../core/events/timeline.ts";
import type { Report } from "../../core/model/report.ts";
import { formatClock, formatCount, formatDuration, formatPercent } from "../../core/model/text.ts";
import { pairsOf } from "../../core/report/pairs.ts";
import { periodReader } from "../api/events.ts";
import { statusWords, type Tone } from "../wording/targets.ts";
import { type Html, html } from "./html.ts";
import { chainPath, eventsPath, type FleetView, fleetPath } from "./links.ts";
import { renderSection } from "./shell.ts";

const DAY_MS = 86_400_000;

/** The times that a strip can show. A slot is half an hour, three hours or half a day. */
export const RANGES = {
  "24h": { title: "24 hours", lengthMs: DAY_MS, slots: 48 },
  "7d": { title: "7 days", lengthMs: 7 * DAY_MS, slots: 56 },
  "30d": { title: "30 days", lengthMs: 30 * DAY_MS, slots: 60 },
  /** Of pairs alone, for the public page. */
  "90d": { title: "90 days", lengthMs: 90 * DAY_MS, slots: 90 },
} as const;
const OFFERED = ["24h", "7d", "30d"] as const;

export type Range = keyof typeof RANGES;

/** What strips are made from. */
export interface StripOptions {
  readonly events: EventLog;
  readonly range: Range;
}

/** The range that a URL names, or the shortest. */
export function readRange(found: unknown): Range {
  return typeof found === "string" && Object.hasOwn(RANGES, found) ? (found as Range) : "24h";
}

export function intervalOf(range: Range, nowMs: number): Interval {
  return { fromMs: nowMs - RANGES[range].lengthMs, toMs: nowMs };
}

/** Links to the same page with another range. */
export function renderRanges(range: Range, hrefOf: (range: Range) => string): Html {
  return html`<nav class="ranges" aria-label="Time">${OFFERED.map((one) => {
    const current = one === range ? html` aria-current="true"` : null;
    return html`<a href="${hrefOf(one)}"${current}>${RANGES[one].title}</a>`;
  })}</nav>`;
}

const PAIR_TONES: Readonly<Record<string, Tone>> = { degraded: "warn", down: "bad" };

/** Coloured slots, each by its worst state, and the availability as text. */
export function renderStrip(
  periods: readonly Period[],
  name: string,
  range: Range,
  nowMs: number,
  href: string | null,
): Html {
  const { slots: count, title } = RANGES[range];
  const slots = slotsOf(periods, intervalOf(range, nowMs), count);
  // Each period is drawn to the end, and covered by the next.
  const rects = slots.map((period, index) => {
    const before = slots[index - 1];
    const isSame = before?.state === period.state && before.sinceMs === period.sinceMs;
    return isSame
      ? null
      : html`<rect class="${toneOf(period.state)}" x="${index}" width="${count - index}" height="1"><title>${periodText(period, nowMs)}</title></rect>`;
  });
  const words = availabilityText(availabilityOf(periods));
  const body = html`<svg viewBox="0 0 ${count} 1" preserveAspectRatio="none" aria-hidden="true">${rects}</svg><small>${words}</small>`;
  return href === null
    ? html`<span class="strip">${body}</span>`
    : html`<a class="strip" href="${href}" aria-label="${name}, last ${title}: ${words}">${body}</a>`;
}

function toneOf(state: string | null): string {
  return state === null ? "none" : (PAIR_TONES[state] ?? statusWords(state).tone);
}

/** `stalled since 03:10:00 UTC: no block for 15 min`. */
function periodText({ detail, fromMs, sinceMs, state }: Period, nowMs: number): string {
  const since = formatClock(Math.min(sinceMs, fromMs), nowMs);
  return `${state ?? "not watched"} since ${since}${detail === null ? "" : `: ${detail}`}`;
}

/** `99.8% usable, 98.1% ok, longest outage 12 min`. */
function availabilityText({ ok_share, usable_share, longest_outage_seconds: outage }: Availability): string {
  if (ok_share === null || usable_share === null) {
    return "not watched";
  }
  const usable = usable_share === ok_share ? "" : `${formatShare(usable_share)} usable, `;
  const longest = outage === 0 ? "" : `, longest outage ${formatDuration(outage * 1_000)}`;
  return `${usable}${formatShare(ok_share)} ok${longest}`;
}

/** Rounded down: 100% means always. */
function formatShare(share: number): string {
  return share < 1 && share > 0.999 ? "99.9%" : formatPercent(share);
}

/** Pages with more lines are slow to read and to draw. */
const MOST_LINES = 100;

/** The pairs of the fleet, the least available first; pairs that were always ok are folded. */
export function renderFleetHistory(report: Report, { events, range }: StripOptions, view: FleetView): Html {
  const nowMs = Date.parse(report.generated_at);
  const read = periodReader(events, intervalOf(range, nowMs));
  const lines = pairsOf(report, report.targets)
    .map(({ protocol, chain }) => {
      const periods = read("pair", `${protocol}/${chain.slug}`);
      return {
        name: `${protocol} on ${chain.name}`,
        protocol,
        chain: chain.slug,
        periods,
        ...availabilityOf(periods),
      };
    })
    .sort((a, b) => (a.usable_share ?? 2) - (b.usable_share ?? 2) || (a.ok_share ?? 2) - (b.ok_share ?? 2));
  const listOf = (some: typeof lines) => {
    const items = some.slice(0, MOST_LINES).map(({ name, protocol, chain, periods }) => {
      const strip = renderStrip(periods, name, range, nowMs, eventsPath({ protocol, chain, range }));
      return html`<li><a href="${chainPath(chain)}">${name}</a>${strip}</li>`;
    });
    const rest = some.length - items.length;
    return html`<ul class="strips">${items}</ul>
${rest > 0 ? html`<p class="hint">and ${formatCount(rest, "more pair")}: narrow them with the filter</p>` : null}`;
  };
  const isTroubled = ({ ok_share: share }: (typeof lines)[number]) => share !== null && share < 1;
  const others = lines.filter((line) => !isTroubled(line));
  return renderSection(
    "history",
    `Last ${RANGES[range].title}`,
    html`${renderRanges(range, (one) => `${fleetPath({ ...view, range: one })}#history`)}
${listOf(lines.filter(isTroubled))}
${
  others.length === 0
    ? null
    : html`<details id="history-ok"><summary>${formatCount(others.length, "pair")} ok all the time</summary>
${listOf(others)}</details>`
}`,
  );
}
