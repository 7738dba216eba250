import type { PastIncident } from "../../core/events/timeline.ts";
import { targetName, variantName } from "../../core/model/fleet.ts";
import {
  type ChainSummary,
  type Incident,
  incidentKey,
  type Report,
  type Severity,
  sharedCauses,
  type TargetReport,
} from "../../core/model/report.ts";
import { formatCount, formatDuration, formatList, formatNumber } from "../../core/model/text.ts";
import type { PairState } from "../../core/report/pairs.ts";
import { chainPath, targetAnchor } from "../wording/chain-links.ts";
import { disputedChains, sentenceCase } from "../wording/headline.ts";
import { describeFailover, incidentTitle } from "../wording/incidents.ts";
import {
  describeAlternatives,
  describeMaintenance,
  notableLagMs,
  SEVERITY_TONES,
  statusWords,
  type TargetProblem,
} from "../wording/targets.ts";
import { renderIncidentAct, renderTargetAct } from "./act.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { statusPath } from "./links.ts";
import {
  type PageOptions,
  renderClock,
  renderLink,
  renderPill,
  renderSection,
  renderTerm,
  toneGlyph,
} from "./shell.ts";

/** More cards of targets than this would push the fleet off the screen. */
const MAX_PROBLEMS = 24;

interface TargetCard {
  readonly id: string;
  /** The state of the target's pair. */
  readonly pair: PairState;
  readonly severity: Severity;
  readonly title: HtmlValue;
  readonly body: HtmlValue;
}

/** A card about a target: its title and status, what is wrong and since when, then `body`, and how to act. */
function renderTargetCard(
  target: TargetReport,
  { id, pair, severity, title, body }: TargetCard,
  options: PageOptions,
  nowMs: number,
): Html {
  const tone = SEVERITY_TONES[severity];
  return html`<li class="card ${tone}" id="${id}"><h3 class="what"><span>${title}</span>
<a class="pill ${tone}" href="${statusPath(target.status)}">${toneGlyph(tone)} ${target.status}</a></h3>
${renderTargetBody(target, { id, pair, body }, options, nowMs)}</li>
`;
}

/**
 * A target in one line, which unfolds to the content of its card. It starts unfolded unless the target is ok or unknown, and a
 * link to `id` unfolds it.
 */
export function renderTargetLine(
  target: TargetReport,
  { id, pair, severity, title, body }: TargetCard,
  options: PageOptions,
  nowMs: number,
): Html {
  const { preferred, status } = target;
  const tone = SEVERITY_TONES[severity];
  const lagMs = notableLagMs(target);
  const lag = lagMs === null ? null : html`<small>${formatDuration(lagMs)} behind</small>`;
  const open = status === "ok" || status === "unknown" ? null : html` open`;
  return html`<li class="card ${tone}"><details class="line" id="line-${id}"${open}><summary><h3>${title}</h3>${preferred ? html`<small>preferred</small>` : null}${lag}${renderPill(tone, statusWords(target, severity))}</summary>
<div id="${id}">${renderTargetBody(target, { id, pair, body }, options, nowMs)}
<p class="meta"><a href="${statusPath(status)}">What ${status} means</a></p></div></details></li>
`;
}

function renderTargetBody(
  target: TargetReport,
  { id, pair, body }: Pick<TargetCard, "id" | "pair" | "body">,
  options: PageOptions,
  nowMs: number,
): Html {
  const { detail, since, preferred } = target;
  const more = [
    since === null ? [] : renderSince(since, null, nowMs),
    preferred ? renderTerm("preferred") : [],
    describeMaintenance(target, nowMs) ?? [],
  ].flat();
  return html`<p>${detail}</p>
<p class="meta">${more.map((one, index) => html`${index === 0 ? null : " · "}${one}`)}</p>
${body}
${renderTargetAct(target, { id, pair }, options, nowMs)}`;
}

/** `since 03:10:00 UTC, 40 min`; if `until` is known, `03:10:00 UTC to 03:50:00 UTC, 40 min`. */
function renderSince(since: string, until: string | null, nowMs: number): Html {
  const length = formatDuration((until === null ? nowMs : Date.parse(until)) - Date.parse(since));
  return until === null
    ? html`since ${renderClock(since, nowMs)}, ${length}`
    : html`${renderClock(since, nowMs)} to ${renderClock(until, nowMs)}, ${length}`;
}

/**
 * The problems: the shared causes, chains whose sources contradict each other, then targets that are not ok and that no cause
 * explains, worst first; null without problems. Unknown targets are only in the matrix. `report`: the filtered part of
 * `whole`.
 */
export function renderTroubles(
  report: Report,
  whole: Report,
  problems: readonly TargetProblem[],
  options: PageOptions,
): Html | null {
  const nowMs = Date.parse(whole.generated_at);
  const incidents = sharedCauses(report.incidents);
  const explained = new Set(incidents.flatMap(({ targets }) => targets));
  const listed = problems.filter(({ target }) => target.status !== "unknown" && !explained.has(target.key));
  const rest = listed.length - MAX_PROBLEMS;
  const cards = listed.slice(0, MAX_PROBLEMS).map((problem) => {
    const { target, chain, pair, severity } = problem;
    const { key: id } = target;
    const name = targetName(target);
    const title = html`<a href="${chainPath(chain.slug)}#${targetAnchor(target)}">${breakable(name)}</a>${chain.testnet ? " (testnet)" : null}`;
    const body = html`<p>For users: ${describeAlternatives(problem)}. ${renderLink("Explorer", target.explorer)}</p>`;
    return renderTargetCard(target, { id, pair, severity, title, body }, options, nowMs);
  });
  const disputes = disputedChains(report).map((chain) => renderDispute(chain, report, options, nowMs));
  const all = [...incidentCards(incidents, whole, problems, options), ...disputes, ...cards];
  const more = rest > 0 ? html`<p class="hint">and ${formatNumber(rest)} more, in the fleet below</p>` : null;
  return all.length === 0
    ? null
    : renderSection("problems", "Not ok, worst first", html`<ol class="cards">${all}</ol>\n${more}`);
}

/** A card about a chain that has no reference because its sources contradict each other. The linked page has the details. */
function renderDispute(
  { name, slug }: ChainSummary,
  { targets }: Report,
  { events }: PageOptions,
  nowMs: number,
): Html {
  const own = targets.filter(({ chain }) => chain === slug);
  const pairs = [...new Set(own.map(({ protocol }) => `${protocol}/${slug}`))];
  const states = pairs.flatMap((pair) => events.of("pair", pair).at(-1) ?? []);
  // Times in ISO 8601 sort as texts.
  const [since] = states
    .filter(({ to }) => to !== "ok")
    .map(({ time }) => time)
    .sort();
  const variants = formatList([...new Set(own.map(variantName))]);
  return html`<li class="card warn"><h3>${toneGlyph("warn")} <a href="${chainPath(slug)}#decision">${name}: its sources do not agree on a head</a></h3>
<p class="meta">${since === undefined ? null : renderSince(since, null, nowMs)}</p>
<p>For users: the lag of ${variants} is unknown, and no variant is preferred.</p></li>
`;
}

const OWN_NETWORK = "For users: the effect is unknown; the indexers may still serve them.";

/** A card for each incident, with the failover. It counts the targets of the incident in the `whole` report. */
export function incidentCards(
  incidents: readonly Incident[],
  whole: Report,
  problems: readonly TargetProblem[],
  options: PageOptions,
): readonly Html[] {
  const all = new Map(whole.incidents.map((one) => [incidentKey(one), one.targets.length]));
  return incidents.map((incident) => {
    const extent = { ...incident, target_count: all.get(incidentKey(incident)) ?? incident.targets.length };
    const body = renderFailover(incident, problems);
    return renderIncidentCard(extent, body, options, Date.parse(whole.generated_at));
  });
}

/** How late the data of the affected users are, and where they can be sent; null if there is nothing to say. */
export function renderFailover(incident: Incident, problems: readonly TargetProblem[]): Html | null {
  if (incident.scope === "network") {
    return html`<p>${OWN_NETWORK}</p>`;
  }
  const failover = describeFailover(incident, problems);
  const words = incident.scope === "chain" ? sentenceCase(failover) : `For users: ${failover}`;
  return failover === "" ? null : html`<p>${words}.</p>`;
}

type Extent = Pick<PastIncident, "until" | "target_count">;

/** An incident; `until` is null while it lasts, and `target_count` includes targets that are not listed. */
export function renderIncidentCard(
  incident: Omit<Incident, "detail" | "severity"> &
    Partial<Pick<Incident, "severity">> &
    Pick<PastIncident, "detail"> &
    Partial<Extent>,
  body: HtmlValue,
  options: PageOptions,
  nowMs: number,
): Html {
  const { scope, severity = "warning", since, subject, targets, until = null } = incident;
  const { target_count: count = targets.length } = incident;
  const isRunning = until === null;
  const id = `${scope}-${subject}${isRunning ? "" : `-${since}`}`;
  const rest = count - targets.length;
  const tone = isRunning ? SEVERITY_TONES[severity] : "idle";
  const keys = html`<details id="incident-${id}"><summary>${formatCount(count, "target")}</summary>
<ul class="keys" id="keys-${id}" tabindex="0">${targets.map((key) => html`<li>${targetName({ key })}</li>`)}${rest > 0 ? html`<li>and ${formatNumber(rest)} more</li>` : null}</ul></details>
`;
  return html`<li class="card ${tone}"><h3>${isRunning ? toneGlyph(tone) : null} ${incidentTitle(incident)}</h3>
<p class="meta">${renderSince(since, until, nowMs)}</p>
${body}
${scope === "target" ? null : keys}${isRunning ? renderIncidentAct(incident, options, nowMs) : null}</li>
`;
}

/** A name in which a line may break after each part. */
function breakable(name: string): Html {
  return html`${name.split("/").flatMap((part, index) => (index === 0 ? part : [html`/<wbr>`, part]))}`;
}
