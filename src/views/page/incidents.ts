import { EVENT_KINDS, type Event } from "../../core/events/event.ts";
import type { EventLog } from "../../core/events/event-log.ts";
import { incidentsOf, type PastIncident } from "../../core/events/timeline.ts";
import { type Report, STATUSES } from "../../core/model/report.ts";
import { formatCount, formatNumber, isoTime } from "../../core/model/text.ts";
import { type Hosts, selectEvents } from "../api/events.ts";
import type { EventQuery } from "../api/queries.ts";
import { chainNames, eventWords } from "../wording/events.ts";
import { renderIncidentCard } from "./cards.ts";
import { type Html, html } from "./html.ts";
import { chainPath, eventsPath, INCIDENTS_PATH, targetAnchor } from "./links.ts";
import {
  type PageOptions,
  renderClock,
  renderPage,
  renderSection,
  renderSummary,
  toneGlyph,
} from "./shell.ts";
import { RANGES, type Range, renderRanges } from "./strip.ts";

/** What the page of incidents shows in addition to the report. */
export interface IncidentsPageOptions extends PageOptions {
  readonly events: EventLog;
  readonly hosts: Hosts;
  readonly asked: EventQuery;
  readonly range: Range;
}

/** What happened: the incidents of a time, then all events, which a form narrows. */
export function renderIncidentsPage(report: Report, options: IncidentsPageOptions): string {
  const { asked, events: log, range } = options;
  const nowMs = Date.parse(report.generated_at);
  const incidents = incidentsOf(log.ofKind("incident"), asked);
  const running = incidents.filter(({ until }) => until === null).length;
  const tone = running > 0 ? "bad" : "ok";
  const count = `${formatCount(incidents.length - running, "past incident")} in ${RANGES[range].title}`;
  const sentence = `${running === 0 ? "No incident" : formatCount(running, "incident")} now, ${count}`;
  const cards = incidents
    .slice(0, asked.limit)
    .map((one) => renderIncidentCard(one, renderChains(one, report), { links: options.links, nowMs }));
  const main = html`${renderSummary(report, tone, html`${toneGlyph(tone)} ${sentence}`, "", html`. <a href="/">All chains</a>`)}
${renderRanges(range, (one) => eventsPath({ ...asked, range: one }))}
${incidents.length === 0 ? null : renderSection("incidents", "Incidents", html`<ul class="cards">${cards}</ul>`)}
${renderEvents(report, options, nowMs)}`;
  return renderPage({ ...options, title: "Incidents · Synclag", tone, main });
}

const MOST_CHAINS = 6;

/** What the plots of an incident show. */
const MARGIN_MS = 600_000;

/** Links to its chains at that time, and to all events of it. */
function renderChains({ since, targets, until }: PastIncident, report: Report): Html {
  const nameOf = chainNames(report);
  const slugs = [...new Set(targets.map((key) => key.split("/")[3] ?? ""))];
  const span = { from: since, to: until ?? report.generated_at };
  const from = isoTime(Date.parse(span.from) - MARGIN_MS);
  const to = isoTime(Date.parse(span.to) + MARGIN_MS);
  const links = slugs
    .slice(0, MOST_CHAINS)
    .map((slug) => html`<a href="${chainPath(slug)}?from=${from}&amp;to=${to}">${nameOf(slug)}</a> `);
  const rest = slugs.length - links.length;
  return html`${links}${rest > 0 ? `and ${formatCount(rest, "more chain")} ` : null}· <a href="${eventsPath(span)}">events</a>`;
}

function renderEvents(
  report: Report,
  { asked, events: log, hosts, range }: IncidentsPageOptions,
  nowMs: number,
): Html {
  const found = selectEvents(log, asked, hosts);
  const nameOf = chainNames(report);
  const shown = found.slice(0, asked.limit);
  const older = found[asked.limit];
  const lines = shown.map((event) => {
    const { change, detail, what } = eventWords(event, nameOf);
    return html`<li>${renderClock(event.time, nowMs)}<b>${renderWhat(event, what)}</b><span>${change}</span><span>${detail}</span></li>
`;
  });
  return renderSection(
    "events",
    "Events",
    html`${renderForm(report, asked, hosts, range)}
<p class="hint">${found.length === 0 ? "Nothing happened then" : formatCount(found.length, "event")}${shown.length < found.length ? `, the latest ${formatNumber(shown.length)} of them` : null}.
${older === undefined ? null : html`<a href="${eventsPath({ ...asked, range, to: older.time })}">Older events</a>`}</p>
${lines.length === 0 ? null : html`<ol class="events">${lines}</ol>`}`,
  );
}

function renderWhat({ kind, subject }: Event, what: string): Html | string {
  const [protocol = "", variant = "", tier = "", chain = ""] = subject.split("/");
  switch (kind) {
    case "pair":
      return html`<a href="${chainPath(variant)}">${what}</a>`;
    case "status":
    case "deployment":
      return html`<a href="${chainPath(chain)}#${targetAnchor({ protocol, variant, tier })}">${what}</a>`;
    default:
      return what;
  }
}

/** A form that works without script; its URL can be shared. */
function renderForm(report: Report, asked: EventQuery, hosts: Hosts, range: Range): Html {
  const known = (part: "protocol" | "chain" | "variant" | "tier") => [
    ...new Set(report.targets.map((target) => target[part])),
  ];
  const fields = {
    kind: EVENT_KINDS,
    protocol: known("protocol"),
    chain: known("chain"),
    variant: known("variant"),
    tier: known("tier"),
    host: [...hosts.keys()],
    status: STATUSES,
  } as const;
  const selects = Object.entries(fields).map(([name, words]) => {
    const chosen = asked[name as keyof typeof fields];
    const options = ["", ...words].map((word) => {
      const selected = word === (chosen ?? "") ? html` selected` : null;
      return html`<option value="${word}"${selected}>${word || "any"}</option>`;
    });
    return html`<label>${name} <select name="${name}">${options}</select></label>`;
  });
  return html`<form class="filters" action="${INCIDENTS_PATH}#events"><input type="hidden" name="range" value="${range}">
${selects}<button>Show</button> <a href="${INCIDENTS_PATH}?range=${range}#events">Clear</a></form>`;
}
