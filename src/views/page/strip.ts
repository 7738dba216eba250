import type { EventLog } from "../../core/events/event-log.ts";
import {
  type Availability,
  availabilityOf,
  firstTime,
  type Period,
  periodReader,
  slotsOf,
  slotTimes,
} from "../../core/events/timeline.ts";
import { DAY_MS } from "../../core/model/durations.ts";
import { servingTargets } from "../../core/model/fleet.ts";
import type { Report, TargetReport } from "../../core/model/report.ts";
import { formatClock, formatCount, formatDuration, formatPercent, isoTime } from "../../core/model/text.ts";
import { pairsOf } from "../../core/report/pairs.ts";
import { chainPath } from "../wording/chain-links.ts";
import { PAIR_WORDS } from "../wording/targets.ts";
import { type Html, html } from "./html.ts";
import { eventsPath, fleetPath } from "./links.ts";
import { type PageOptions, renderSection } from "./shell.ts";

/** The ranges of a strip. A slot is at most half an hour, three hours, half a day or, on the public page, a day. */
export const RANGES = {
  "24h": { title: "24 hours", lengthMs: DAY_MS, slots: 48 },
  "7d": { title: "7 days", lengthMs: 7 * DAY_MS, slots: 56 },
  "30d": { title: "30 days", lengthMs: 30 * DAY_MS, slots: 60 },
  "90d": { title: "90 days", lengthMs: 90 * DAY_MS, slots: 90 },
} as const;

export type Range = keyof typeof RANGES;

/** The range that a URL names, or the shortest. */
export function readRange(found: unknown): Range {
  return typeof found === "string" && Object.hasOwn(RANGES, found) ? (found as Range) : "24h";
}

/** Links to the same page with another range. `range`: the shown range; null if the page shows none of them. */
export function renderRanges(range: Range | null, hrefOf: (range: Range) => string): Html {
  const offered = (["24h", "7d", "30d"] as const).map((one) => {
    const current = one === range ? html` aria-current="true"` : null;
    return html`<a href="${hrefOf(one)}"${current}>${RANGES[one].title}</a>`;
  });
  return html`<nav class="ranges" aria-label="Time">${offered}</nav>`;
}

/** The readers of a strip. The page for users explains no statuses and has no events, so its strips show neither. */
type Audience = "operators" | "users";

/** Reads the past of targets and pairs: the availability, and a strip of slots, each coloured by its worst state. */
export function stripReader(
  log: EventLog,
  range: Range,
  { generated_at: to, targets }: Report,
  audience: Audience = "operators",
) {
  const { lengthMs, slots: count, title } = RANGES[range];
  const nowMs = Date.parse(to);
  const first = firstTime(log) ?? "";
  const longest = isoTime(nowMs - lengthMs);
  // A strip does not begin before the first event.
  const interval = { from: first > longest && first < to ? first : longest, to };
  const times = slotTimes(interval, count);
  const readPeriods = periodReader(log, interval);
  /** The periods of the pair that a target serves; none if another tier serves it. */
  function periodsOfPair({ chain, key, protocol }: TargetReport): readonly Period[] {
    const own = targets.filter((one) => one.chain === chain && one.protocol === protocol);
    const serves = servingTargets(own).some((one) => one.key === key);
    return serves ? readPeriods("pair", `${protocol}/${chain}`) : [];
  }
  function read(kind: "status" | "pair", subject: string) {
    const periods = readPeriods(kind, subject);
    const availability = availabilityOf(periods);
    const { words, more } = AVAILABILITY[audience](availability);
    /** `query` selects the events of the subject. The words, and slots that are known and not ok, link to these events. */
    function render(name: string, query: object): Html {
      const slots = slotsOf(periods, times);
      const target = targets.find(({ key }) => key === subject);
      const pair = target === undefined ? [] : slotsOf(periodsOfPair(target), times);
      const tones = slots.map(({ state }, index) => {
        const isDown = pair[index]?.state === "down";
        return toneOf(state, { isDown, isNew: state === "syncing" && target?.served === false });
      });
      // Each run of equal slots is drawn to the end of the strip; the next one covers the rest.
      const rects = slots.map((slot, index) => {
        const isSame = isSameState(slot, slots[index - 1]);
        if (isSame && tones[index] === tones[index - 1]) {
          return null;
        }
        const period = runAt(slots, slot, index);
        const rect = html`<rect class="${tones[index] ?? null}" x="${index}" width="${count - index}" height="1"><title>${periodText(period, audience, nowMs)}</title></rect>`;
        return audience === "users" || period.state === null || period.state === "ok"
          ? rect
          : html`<a href="${eventsPath({ ...query, from: period.from, to: period.to })}" tabindex="-1">${rect}</a>`;
      });
      const text = html`${words}${more === "" ? null : html`<span class="more">${more}</span>`}`;
      const label =
        audience === "users"
          ? text
          : html`<a href="${eventsPath({ ...query, range })}" aria-label="${name}, last ${title}: ${words}${more}">${text}</a>`;
      return html`<span class="strip"><svg viewBox="0 0 ${count} 1" preserveAspectRatio="none" aria-hidden="true">${rects}</svg><small>${label}</small></span>`;
    }
    return { ...availability, render };
  }
  /** The times above the strips. */
  function renderAxis(): Html {
    const fromMs = Date.parse(interval.from);
    const labelled = [fromMs, (fromMs + nowMs) / 2].map((timeMs) => isoTime(timeMs));
    // Soon after the start both times may have the same label, which is then shown once.
    const ticks = new Map(labelled.toReversed().map((time) => [tickOf(time, nowMs), time]));
    const named = [...ticks].reverse().map(([tick, time]) => html`<time datetime="${time}">${tick}</time>`);
    return html`<p class="strips axis" aria-hidden="true"><span>${named}<span>now</span></span></p>`;
  }
  return { read, renderAxis };
}

/** A label of the axis: the time of day, with the date unless it is today. */
function tickOf(time: string, nowMs: number): string {
  const [date = "", clock = ""] = time.split("T");
  return isoTime(nowMs).startsWith(date) ? `${clock.slice(0, 5)} UTC` : `${date} ${clock.slice(0, 5)}`;
}

const NO_DATA = "no data";

/** What the colours of strips mean. */
export function renderStripLegend(audience: Audience): Html {
  const isForUsers = audience === "users";
  const states = (["ok", "degraded", "down"] as const).map((state) => {
    const [word, tone] = PAIR_WORDS[state];
    return [isForUsers ? word : state, tone] as const;
  });
  const entries = [...states, [isForUsers ? NO_DATA : "unknown", "none"] as const];
  return html`<ul class="legend">${entries.map(([word, tone]) => html`<li><b class="slot ${tone}"></b> ${word}</li>`)}</ul>`;
}

/** The colour of a state. `isDown`: the pair was down at that time. `isNew`: the target was never at the head. */
function toneOf(state: string | null, { isDown, isNew }: Record<"isDown" | "isNew", boolean>): string {
  const known: Readonly<Record<string, readonly [word: string, tone: string]>> = PAIR_WORDS;
  if (state === null || isNew) {
    return isNew ? "busy" : "none";
  }
  return known[state]?.[1] ?? (isDown ? "bad" : "warn");
}

function isSameState(slot: Period, other: Period | undefined): boolean {
  return other?.state === slot.state && other.since === slot.since;
}

/**
 * The period that the slots around `index` show together. A restart too short for a slot does not end it; after a slot without
 * a state, it begins again.
 */
function runAt(slots: readonly Period[], slot: Period, index: number): Period {
  const end = slots.findIndex((one, at) => at > index && !isSameState(slot, one));
  const before = slots.slice(0, index).findLast((one) => !isSameState(slot, one));
  const from = before !== undefined && before.to > slot.since ? before.to : slot.since;
  return { ...slot, from, to: slots.at(end < 0 ? -1 : end - 1)?.to ?? slot.to };
}

/** `stalled since 03:10:00 UTC: no block for 15 min`; of a past period: `stalled for 20 min from 03:10:00 UTC: …`. */
function periodText({ detail, from, state, to }: Period, audience: Audience, nowMs: number): string {
  const [startMs, endMs] = [Date.parse(from), Date.parse(to)];
  const when = endMs < nowMs ? `for ${formatDuration(endMs - startMs)} from` : "since";
  if (audience === "users") {
    const known: Readonly<Record<string, readonly [word: string, tone: string]>> = {
      ...PAIR_WORDS,
      unknown: [NO_DATA, "none"],
    };
    return `${known[state ?? "unknown"]?.[0] ?? NO_DATA} ${when} ${formatClock(startMs, nowMs)}`;
  }
  return `${state ?? "not watched"} ${when} ${formatClock(startMs, nowMs)}${detail === null ? "" : `: ${detail}`}`;
}

/** The availability in words, and more about it. 100% means always: no smaller share is rounded up to it. */
const AVAILABILITY: Readonly<Record<Audience, (one: Availability) => Record<"words" | "more", string>>> = {
  /** `98.1% ok`, and `, 99.8% usable, longest outage 12 min`. */
  operators({ ok_share: ok, usable_share: usable, longest_outage_seconds: outage }) {
    return ok === null || usable === null
      ? { words: "not watched", more: "" }
      : {
          words: `${shareOf(ok)} ok`,
          more: `${usable === ok ? "" : `, ${shareOf(usable)} usable`}${longestText(outage)}`,
        };
  },
  /** Users are served while one of several variants is usable. */
  users({ usable_share: usable, longest_outage_seconds: outage }) {
    return usable === null
      ? { words: NO_DATA, more: "" }
      : { words: `${shareOf(usable)} up`, more: longestText(outage) };
  },
};

function shareOf(share: number): string {
  return share < 1 && share > 0.999 ? "99.9%" : formatPercent(share);
}

function longestText(outageSeconds: number): string {
  return outageSeconds === 0 ? "" : `, longest outage ${formatDuration(outageSeconds * 1_000)}`;
}

/** How many lines are shown unfolded, and how many folded. A page with more is slow to read and to draw. */
const [FIRST_LINES, MOST_LINES] = [10, 100];

/** The strips of all pairs, the least available first. Pairs that were always ok, and those after the first lines, are folded. */
export function renderFleetHistory(report: Report, { events, view }: PageOptions): Html {
  const range = readRange(view.range);
  const { read, renderAxis } = stripReader(events, range, report);
  const lines = pairsOf(report, report.targets)
    .map(({ protocol, chain }) => ({ protocol, chain, ...read("pair", `${protocol}/${chain.slug}`) }))
    .sort((a, b) => (a.usable_share ?? 2) - (b.usable_share ?? 2) || (a.ok_share ?? 2) - (b.ok_share ?? 2));
  const listOf = (some: typeof lines) => {
    const items = some.map(({ protocol, chain: { name: chain, slug }, render }) => {
      const name = `${protocol} on ${chain}`;
      return html`<li><a href="${chainPath(slug)}">${name}</a>${render(name, { protocol, chain: slug })}</li>`;
    });
    return items.length === 0
      ? null
      : html`${renderStripLegend("operators")}${renderAxis()}<ul class="strips">${items}</ul>`;
  };
  const first = lines.filter(({ ok_share: share }) => share !== 1).slice(0, FIRST_LINES);
  const others = lines.filter((line) => !first.includes(line));
  const isOk = others.every(({ ok_share: share }) => share === 1);
  const count = formatCount(others.length, isOk || first.length === 0 ? "pair" : "more pair");
  const rest = others.length - MOST_LINES;
  return renderSection(
    "history",
    `Last ${RANGES[range].title}, for users`,
    html`${renderRanges(range, (one) => `${fleetPath({ ...view, range: one })}#history`)}
${listOf(first)}
${
  others.length === 0
    ? null
    : html`<details id="history-ok"><summary>${count}${isOk ? " ok all the time" : null}</summary>
${listOf(others.slice(0, MOST_LINES))}
${rest > 0 ? html`<p class="hint">and ${formatCount(rest, "more pair")}: narrow them with the filter</p>` : null}</details>`
}`,
  );
}
