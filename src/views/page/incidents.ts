import type { Event } from "../../core/events/event.ts";
import { type Change, type Occurrence, occurrencesOf } from "../../core/events/occurrences.ts";
import { type PastIncident, pastIncidents, SPREAD_MS } from "../../core/events/timeline.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { type Incident, incidentKey, type Report } from "../../core/model/report.ts";
import { formatClock, formatCount, formatDuration, formatNumber, isoTime } from "../../core/model/text.ts";
import { worst } from "../../core/report/severity.ts";
import { type Hosts, matcherOf, selectEvents } from "../api/events.ts";
import { EVENT_FILTERS, type EventQuery } from "../api/queries.ts";
import { wordsOf } from "../api/selection.ts";
import { chainPath, pairAnchor, targetAnchor } from "../wording/chain-links.ts";
import { chainNames, eventWords } from "../wording/events.ts";
import { incidentTitle } from "../wording/incidents.ts";
import { findProblems, SEVERITY_TONES } from "../wording/targets.ts";
import { renderFailover, renderIncidentCard } from "./cards.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { eventsPath, INCIDENTS_PATH } from "./links.ts";
import {
  type PageOptions,
  renderClock,
  renderList,
  renderPage,
  renderSection,
  renderSummary,
  toneGlyph,
} from "./shell.ts";
import { RANGES, type Range, readRange, renderRanges } from "./strip.ts";

/** How many of each are unfolded: the page must be short on a telephone. */
const FIRST = { present: 5, rows: 30, lines: 6 };
/** A row lists at most this many of its changes. */
const MOST_LINES = 100;

/** The page of incidents: first the current ones, each with its timeline, then the past by days, a row for each occurrence. */
export function renderIncidentsPage(
  report: Report,
  asked: EventQuery,
  hosts: Hosts,
  options: PageOptions,
): string {
  const { view } = options;
  const range = readRange(view.range);
  const nowMs = Date.parse(report.generated_at);
  const { title, lengthMs } = RANGES[range];
  const isRange = asked.to === report.generated_at && nowMs - Date.parse(asked.from) === lengthMs;
  const [from, to] = [asked.from, asked.to].map((time) => formatClock(Date.parse(time), nowMs));
  const span = isRange ? `in the last ${title}` : `from ${from} to ${to}`;
  const shown = selectOccurrences(report, asked, hosts, options);
  const present = shown.filter(({ incidents: [one] }) => one?.until === null);
  const past = shown.filter((one) => !present.includes(one));
  const running = report.incidents.length;
  const tone = running > 0 ? SEVERITY_TONES[worst(report.incidents.map(({ severity }) => severity))] : "ok";
  const pastCount = past.reduce((sum, { incidents }) => sum + incidents.length, 0);
  const isWhole = isRange && view.q === "" && Object.keys(filtersOf(asked)).length === 0;
  const some = isWhole ? "" : ` (${formatNumber(present.length)} in this selection)`;
  const now = running === 0 ? "No incident now" : `${formatCount(running, "incident")} now${some}`;
  const sentence = `${now}, ${formatCount(pastCount, "past incident")} ${span}`;
  const cards = present.map((one) => renderPresent(one, report, options, nowMs));
  const rest = cards.slice(FIRST.present);
  const main = html`${renderSummary(report, tone, html`${toneGlyph(tone)} ${sentence}`)}
${renderRanges(isRange ? range : null, (one) => eventsPath({ ...asked, from: "", to: "", range: one }))}
${renderAsked(asked, isRange ? { range } : { range, from: asked.from, to: asked.to })}
${renderList("incidents", "Now", cards.slice(0, FIRST.present), "cards")}
${rest.length === 0 ? null : html`<details id="more-incidents"><summary>${formatCount(rest.length, "more incident")}</summary><ul class="cards">${rest}</ul></details>`}
${renderPast(past, { ...asked, range }, report)}`;
  const kept = {
    range: view.range,
    ...(isRange ? {} : { from: asked.from, to: asked.to }),
    ...filtersOf(asked),
  };
  return renderPage({
    ...options,
    title: "Incidents · Synclag",
    tone,
    main,
    kind: "live",
    filters: INCIDENTS_PATH,
    kept,
  });
}

/** The occurrences that match the query and the words of the filter. */
function selectOccurrences(
  report: Report,
  asked: EventQuery,
  hosts: Hosts,
  { events: log, view }: PageOptions,
): readonly Occurrence[] {
  // An event just outside of the interval may belong to an incident inside it.
  const [from, to] = [Date.parse(asked.from) - SPREAD_MS, Date.parse(asked.to) + SPREAD_MS].map(isoTime) as [
    string,
    string,
  ];
  const matches = matcherOf(asked, hosts);
  const nameOf = chainNames(report);
  const all = occurrencesOf(
    log,
    pastIncidents(log, { from, to }, report),
    selectEvents(log, asked, hosts),
    hosts,
  );
  const words = wordsOf(view.q);
  return all.filter(({ changes, incidents }) => {
    const isInside = incidents.some(
      ({ since, until }) => since <= asked.to && (until ?? asked.to) >= asked.from,
    );
    const isAsked =
      incidents.length === 0 ||
      (isInside &&
        incidents.some(({ targets }) => matches.targets(targets)) &&
        changes.flat().some(matches.change));
    return isAsked && (words.length === 0 || hasWords({ changes, incidents }, words, nameOf));
  });
}

function hasWords(
  { changes, incidents }: Pick<Occurrence, "changes" | "incidents">,
  words: readonly string[],
  nameOf: (slug: string) => string,
): boolean {
  const ofEvents = changes.flat().flatMap((event) => {
    const { change, detail, what } = eventWords(event);
    return [event.kind, event.subject, what, change, detail];
  });
  const chains = incidents.flatMap(({ targets }) => targets.map((key) => nameOf(key.split("/")[3] ?? "")));
  const text = [...incidents.flatMap((one) => [incidentTitle(one), ...one.targets]), ...chains, ...ofEvents]
    .join(" ")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

function filtersOf(asked: EventQuery): Readonly<Record<string, string>> {
  const named = Object.entries(asked).filter(
    ([name, value]) => EVENT_FILTERS.includes(name) && value !== undefined,
  );
  return Object.fromEntries(named.map(([name, value]) => [name, String(value)]));
}

/** The filters of the URL, and a link to the page without them; null without filters. */
function renderAsked(asked: EventQuery, span: object): Html | null {
  const filters = Object.entries(filtersOf(asked)).map(([name, value]) => `${name} ${value}`);
  return filters.length === 0
    ? null
    : html`<p class="hint" id="shown">Showing ${filters.join(", ")}. <a href="${eventsPath(span)}">Show all</a></p>`;
}

/** The card of a present incident: where its users can go, its chains, and its events. */
function renderPresent(
  { changes, incidents: [incident] }: Occurrence,
  report: Report,
  options: PageOptions,
  nowMs: number,
): Html {
  if (incident === undefined) {
    return html``;
  }
  const now = report.incidents.find((one) => incidentKey(one) === incidentKey(incident));
  const severity: Partial<Pick<Incident, "severity">> = now === undefined ? {} : { severity: now.severity };
  const lines = linesOf(changes, nowMs);
  const body = html`${now === undefined ? null : renderFailover(now, findProblems(report))}
${renderChains(incident, { report, range: readRange(options.view.range) })}
<ol class="timeline">${lines.slice(0, FIRST.lines)}</ol>
${renderMore(`timeline-${incidentKey(incident)}`, lines.slice(FIRST.lines))}`;
  return renderIncidentCard({ ...incident, ...severity }, body, options, nowMs);
}

/** Further lines of a timeline, folded. */
function renderMore(id: string, lines: readonly Html[]): Html | null {
  return lines.length === 0
    ? null
    : html`<details id="${id}"><summary>${formatCount(lines.length, "earlier change")}</summary><ol class="timeline">${lines.slice(0, MOST_LINES)}</ol></details>`;
}

const MOST_CHAINS = 6;
/** The plots of an incident also show this time before and after it. */
const MARGIN_MS = 600_000;

/** Links to the plots and strips of an incident's chains at its time. */
function renderChains({ since, target_count, targets, until }: PastIncident, { range, report }: Shown): Html {
  const nameOf = chainNames(report);
  const slugs = [...new Set(targets.map((key) => key.split("/")[3] ?? ""))];
  const to = until ?? report.generated_at;
  const shown = `range=${range}&from=${isoTime(Date.parse(since) - MARGIN_MS)}&to=${isoTime(Date.parse(to) + MARGIN_MS)}`;
  const links = slugs
    .slice(0, MOST_CHAINS)
    .map((slug) => html`<a href="${chainPath(slug)}?${shown}">${nameOf(slug)}</a> `);
  const rest = slugs.length - links.length;
  // A past incident keeps only some of many targets, so the number of its other chains is unknown.
  const more = target_count > targets.length ? "more" : formatCount(rest, "more chain");
  return html`<p class="meta">Plots: ${links}${rest > 0 ? `and ${more}` : null}</p>`;
}

/** What a link to a chain is made from. */
interface Shown {
  readonly report: Report;
  readonly range: Range;
}

type Asked = EventQuery & Pick<Shown, "range">;

/** The past by days, a row for each occurrence; after the first rows, the rest of a day is folded. */
function renderPast(past: readonly Occurrence[], asked: Asked, report: Report): Html {
  // The link to older occurrences has a time, so occurrences with the same time must be on one page.
  const last = past[asked.limit - 1]?.time;
  const shown = past.filter(({ time }, index) => index < asked.limit || time === last);
  const older = past[shown.length];
  const today = report.generated_at.slice(0, 10);
  let count = 0;
  const days = [...groupBy(shown, ({ time }) => time.slice(0, 10))].map(([day, own]) => {
    const isFolded = count >= FIRST.rows;
    const open = own.slice(0, Math.max(0, FIRST.rows - count));
    count += own.length;
    const rows = (some: readonly Occurrence[]) =>
      html`<ul class="rows">${some.map((one) => renderRow(one, { report, range: asked.range }, Date.parse(one.time)))}</ul>`;
    const rest = own.slice(open.length);
    const name = day === today ? `Today, ${day}` : day;
    const total = formatCount(own.length, "row");
    return html`<h3 class="day">${name}</h3>
${open.length === 0 ? null : rows(open)}
${rest.length === 0 ? null : html`<details id="day-${day}"><summary>${isFolded ? total : `${formatNumber(rest.length)} more`}</summary>${rows(rest)}</details>`}`;
  });
  const note =
    older === undefined
      ? null
      : html`<p class="hint">The latest ${formatNumber(shown.length)}. <a href="${eventsPath({ ...asked, to: older.time })}">Older</a></p>`;
  const nothing = past.length === 0 ? html`<p class="hint">Nothing happened then.</p>` : null;
  return renderSection("events", "Before", html`${nothing}${days}${note}`);
}

/** An occurrence in one line, with its events folded. A time on the same day as `dayMs` has no date. */
function renderRow({ changes, incidents, time }: Occurrence, shown: Shown, dayMs: number): Html {
  const [latest] = incidents;
  const [first] = changes;
  if (latest === undefined) {
    return first === undefined ? html`` : renderChangeRow(first, dayMs);
  }
  const lengthMs = incidents.reduce((sum, { duration_seconds: seconds }) => sum + seconds * 1_000, 0);
  const often = incidents.length === 1 ? "" : `, ${formatCount(incidents.length, "time")}`;
  const lines = linesOf(changes, dayMs);
  const rest = lines.length - MOST_LINES;
  return html`<li><details id="past-${incidentKey(latest)}-${time}"><summary><span class="when">${renderClock(latest.since, dayMs)}, ${formatDuration(lengthMs)}${often}</span>
<b>${incidentTitle(latest)}</b></summary>
${renderChains(latest, shown)}
<ol class="timeline">${lines.slice(0, MOST_LINES)}</ol>${rest > 0 ? html`<p class="hint">and ${formatCount(rest, "more change")}</p>` : null}</details></li>
`;
}

/** A line for a change that no incident explains. It names its subject, or says how many subjects changed together. */
function renderChangeRow(events: Change, dayMs: number): Html {
  const [{ time }] = events;
  const words = changeWords(events);
  if (events.length === 1) {
    return html`<li><span class="when">${renderClock(time, dayMs)}</span> <b>${words.what}</b> ${words.change} <small>${words.detail}</small></li>
`;
  }
  const { kind, subject } = events[0];
  return html`<li><details id="past-${kind}-${subject}-${time}"><summary><span class="when">${renderClock(time, dayMs)}</span> <b>${words.what}</b> ${words.change}</summary>
<ol class="timeline">${events.slice(0, MOST_LINES).map((event) => renderChange([event], dayMs))}</ol></details></li>
`;
}

/** The lines of the timeline of an incident, the latest first. The card above describes the incident itself. */
function linesOf(changes: readonly Change[], nowMs: number): readonly Html[] {
  return changes
    .filter(([{ kind }]) => kind !== "incident")
    .toReversed()
    .map((change) => renderChange(change, nowMs));
}

/** A line of a timeline. The names of several subjects are folded. */
function renderChange(events: Change, nowMs: number): Html {
  const [first] = events;
  const { change, detail, what } = changeWords(events);
  const subjects = subjectsOf(events);
  const names = subjects.slice(0, MOST_LINES).map((event) => html`<li>${changeWords([event]).what}</li>`);
  const all =
    subjects.length === 1
      ? null
      : html`<details id="of-${first.kind}-${first.subject}-${first.to}-${first.time}"><summary>names</summary><ul class="keys" tabindex="0">${names}</ul></details>`;
  return html`<li>${renderClock(first.time, nowMs)} <span><b>${what}</b> ${change}${detail === "" ? null : html` <small>${detail}</small>`}${all}</span></li>
`;
}

/** What changed, with a link; how it changed; and a detail, which may be empty. Several subjects are counted instead. */
function changeWords(events: Change): {
  readonly what: HtmlValue;
  readonly change: string;
  readonly detail: string;
} {
  const [first] = events;
  const words = eventWords(first);
  if (events.length === 1) {
    return { ...words, what: renderWhat(first, words.what) };
  }
  const isSame = events.every((event) => eventWords(event).detail === words.detail);
  const detail = isSame ? words.detail : "";
  const { length } = subjectsOf(events);
  if (length === 1) {
    const change = `${words.change}, ${formatCount(events.length, "time")}`;
    return { what: renderWhat(first, words.what), change, detail };
  }
  return {
    what: formatCount(length, first.kind === "pair" ? "pair" : "target"),
    change: words.change,
    detail,
  };
}

/** The last event of each subject. */
function subjectsOf(events: Change): readonly Event[] {
  return [...new Map(events.map((event) => [event.subject, event])).values()];
}

/** The subject of an event, as a link to its place on the page of its chain. */
function renderWhat({ kind, subject }: Event, what: string): Html | string {
  const [protocol = "", variant = "", tier = "", chain = ""] = subject.split("/");
  if (kind === "pair") {
    return html`<a href="${chainPath(variant)}#${pairAnchor(protocol)}">${what}</a>`;
  }
  return kind === "status" || kind === "deployment"
    ? html`<a href="${chainPath(chain)}#${targetAnchor({ protocol, variant, tier })}">${what}</a>`
    : what;
}
