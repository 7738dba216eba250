import { EVENT_KINDS, type Event } from "../../core/events/event.ts";
import { incidentsOf, type PastIncident } from "../../core/events/timeline.ts";
import { type Incident, incidentKey, type Report } from "../../core/model/report.ts";
import { STATUSES } from "../../core/model/statuses.ts";
import { formatClock, formatCount, formatNumber, isoTime } from "../../core/model/text.ts";
import { worst } from "../../core/report/severity.ts";
import { type Hosts, selectEvents } from "../api/events.ts";
import type { EventQuery } from "../api/queries.ts";
import { chainNames, eventWords } from "../wording/events.ts";
import { SEVERITY_TONES } from "../wording/targets.ts";
import { renderIncidentCard } from "./cards.ts";
import { type Html, html } from "./html.ts";
import { chainPath, eventsPath, INCIDENTS_PATH, targetAnchor } from "./links.ts";
import {
  type PageOptions,
  renderClock,
  renderHidden,
  renderList,
  renderPage,
  renderSection,
  renderSummary,
  toneGlyph,
} from "./shell.ts";
import { RANGES, type Range, readRange, renderRanges } from "./strip.ts";

/** What happened: the incidents of a time, then all events, which a form narrows. */
export function renderIncidentsPage(
  report: Report,
  asked: EventQuery,
  hosts: Hosts,
  options: PageOptions,
): string {
  const { events: log, view } = options;
  const range = readRange(view.range);
  const nowMs = Date.parse(report.generated_at);
  const { title, lengthMs } = RANGES[range];
  const isRange = asked.to === report.generated_at && nowMs - Date.parse(asked.from) === lengthMs;
  const incidents = incidentsOf(log, asked, report);
  const running = report.incidents.length;
  const tone = running > 0 ? SEVERITY_TONES[worst(report.incidents.map(({ severity }) => severity))] : "ok";
  const [from, to] = [asked.from, asked.to].map((time) => formatClock(Date.parse(time), nowMs));
  const past = formatCount(incidents.filter(({ until }) => until !== null).length, "past incident");
  const count = `${past} ${isRange ? `in ${title}` : `from ${from} to ${to}`}`;
  const sentence = `${running === 0 ? "No incident" : formatCount(running, "incident")} now, ${count}`;
  const cards = incidents
    .slice(0, asked.limit)
    .map((one) =>
      renderIncidentCard(
        { ...one, ...severityNow(one, report) },
        html`<p>${renderChains(one, report, range)}</p>`,
        options,
        nowMs,
      ),
    );
  const found = selectEvents(log, asked, hosts);
  const main = html`${renderSummary(report, tone, html`${toneGlyph(tone)} ${sentence}`)}
${renderRanges(isRange ? range : null, (one) => eventsPath({ ...asked, from: "", to: "", range: one }))}
${renderList("incidents", "Incidents", cards, "cards")}
${renderSection(
  "events",
  "Events",
  html`${renderForm(report, asked, hosts, isRange ? { range } : { range, from: asked.from, to: asked.to })}
${renderEvents(found, { ...asked, range }, chainNames(report), nowMs)}`,
)}`;
  return renderPage({ ...options, title: "Incidents · Synclag", tone, main, kind: "form" });
}

/** How bad an incident is that goes on. */
function severityNow(incident: PastIncident, report: Report): Partial<Pick<Incident, "severity">> {
  const now = report.incidents.find((one) => incidentKey(one) === incidentKey(incident));
  return incident.until === null && now !== undefined ? { severity: now.severity } : {};
}

const MOST_CHAINS = 6;
/** What the plots of an incident show before and after it. */
const MARGIN_MS = 600_000;

/** Links to its chains at that time, which the strips there show, and the plots if it is recent, and to all events of it. */
function renderChains(
  { since, target_count, targets, until }: PastIncident,
  report: Report,
  range: Range,
): Html {
  const nameOf = chainNames(report);
  const slugs = [...new Set(targets.map((key) => key.split("/")[3] ?? ""))];
  const to = until ?? report.generated_at;
  const shown = `range=${range}&from=${isoTime(Date.parse(since) - MARGIN_MS)}&to=${isoTime(Date.parse(to) + MARGIN_MS)}`;
  const links = slugs
    .slice(0, MOST_CHAINS)
    .map((slug) => html`<a href="${chainPath(slug)}?${shown}">${nameOf(slug)}</a> `);
  const rest = slugs.length - links.length;
  // Only some targets are kept of many.
  const more = target_count > targets.length ? "more" : formatCount(rest, "more chain");
  return html`${links}${rest > 0 ? `and ${more} ` : null}· <a href="${eventsPath({ from: since, to })}">events</a>`;
}

type Asked = EventQuery & { readonly range: string };

function renderEvents(
  found: readonly Event[],
  asked: Asked,
  nameOf: (slug: string) => string,
  nowMs: number,
): Html {
  // An instant is shown as a whole: by its time, older events could not be told from those of a part.
  const last = found[asked.limit - 1]?.time;
  const shown = found.filter(({ time }, index) => index < asked.limit || time === last);
  const older = found[shown.length];
  const lines = shown.map((event) => {
    const { change, detail, what } = eventWords(event, nameOf);
    return html`<li>${renderClock(event.time, nowMs)}<b>${renderWhat(event, what)}</b><span>${change}</span><span>${detail}</span></li>
`;
  });
  const count = found.length === 0 ? "Nothing happened then" : formatCount(found.length, "event");
  const latest = older === undefined ? "" : `, the latest ${formatNumber(shown.length)} of them`;
  return html`<p class="hint">${count}${latest}.
${older === undefined ? null : html`<a href="${eventsPath({ ...asked, to: older.time })}">Older events</a>`}</p>
${lines.length === 0 ? null : html`<ol class="events">${lines}</ol>`}`;
}

/** What it happened to, as a link to its chain, or to its card there. */
function renderWhat({ kind, subject }: Event, what: string): Html | string {
  const [protocol = "", variant = "", tier = "", chain = ""] = subject.split("/");
  if (kind === "pair") {
    return html`<a href="${chainPath(variant)}">${what}</a>`;
  }
  return kind === "status" || kind === "deployment"
    ? html`<a href="${chainPath(chain)}#${targetAnchor({ protocol, variant, tier })}">${what}</a>`
    : what;
}

/** A form that works without script; its URL can be shared. `span`: the time that is shown, which stays. */
function renderForm(
  { targets }: Report,
  asked: EventQuery,
  hosts: Hosts,
  span: Readonly<Record<string, string>>,
): Html {
  const known = (part: "protocol" | "chain" | "variant" | "tier") => targets.map((target) => target[part]);
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
    const chosen = asked[name as keyof typeof fields] ?? "";
    const options = [...new Set(["", ...words])].map((word) => {
      const selected = word === chosen ? html` selected` : null;
      return html`<option value="${word}"${selected}>${word || "any"}</option>`;
    });
    return html`<label>${name} <select name="${name}">${options}</select></label>`;
  });
  return html`<form class="filters" id="filters" data-keep action="${INCIDENTS_PATH}#events">${renderHidden(span)}
${selects}<button>Show</button> <a href="${eventsPath(span)}">Clear</a></form>`;
}
