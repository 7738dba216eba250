import { formatCount, formatDuration } from "../../core/model/text.ts";
import type { IncidentJson } from "../api/api-schema.ts";
import { targetKey } from "../api/filter-status.ts";
import { formatAgo } from "../wording/duration.ts";
import { STATUS_WORDS } from "../wording/status.ts";
import { describeFresh, describeVariant, notableLagMs } from "../wording/target.ts";
import type { Trouble } from "../wording/triage.ts";
import { type Html, html, webLink } from "./html.ts";
import { chainPath, statusPath, targetAnchor } from "./links.ts";

/** More cards than this would bury the matrix. */
const SHOWN = 24;

/** What is wrong and not told by an incident, worst first; null while there is nothing. The matrix has the unknown ones. */
export function renderTroubles(
  troubles: readonly Trouble[],
  incidents: readonly IncidentJson[],
  nowMs: number,
): Html | null {
  const explained = new Set(incidents.flatMap(({ targets }) => targets));
  const own = troubles.filter(
    ({ target }) => target.status !== "unknown" && !explained.has(targetKey(target)),
  );
  if (own.length === 0) {
    return null;
  }
  const rest = own.length - SHOWN;
  return html`<section aria-labelledby="wrong-title"><h2 id="wrong-title">Not ok, worst first</h2>
<ol class="cards">${own.slice(0, SHOWN).map((trouble) => renderTrouble(trouble, nowMs))}</ol>
${rest > 0 ? html`<p class="hint">and ${formatCount(rest, "target")} more, in the fleet below</p>` : null}</section>`;
}

function renderTrouble(trouble: Trouble, nowMs: number): Html {
  const { target, chain } = trouble;
  const { tone, glyph } = STATUS_WORDS[target.status];
  const name = `${target.protocol} on ${chain.name}`;
  return html`<li class="card ${tone}"><h3><i aria-hidden="true">${glyph}</i> <a href="${chainPath(chain.slug)}#${targetAnchor(target)}">${name}</a> <span class="variant">${describeVariant(target)}</span>${chain.testnet ? html` <small>testnet</small>` : null}</h3>
<p class="state"><a href="${statusPath(target.status)}">${target.status}</a>${stateSuffix(trouble)}${target.maintenance ? html` <small>in maintenance</small>` : null}</p>
<p>${target.detail}</p>
<p class="meta">${describeFresh(trouble)}${advanced(target.last_advance, nowMs)}${explorerLink(target.explorer)}</p></li>
`;
}

/** What the status word alone does not say. */
function stateSuffix({ target }: Trouble): string {
  const { reason, status } = target;
  const lagMs = notableLagMs(target);
  const lag = lagMs === null ? "" : `, ${formatDuration(lagMs)} behind`;
  return `${reason === null || reason === status ? "" : ` (${reason})`}${lag}`;
}

function advanced(lastAdvance: string | null, nowMs: number): Html {
  return lastAdvance === null
    ? html` · never seen to advance`
    : html` · last advanced <time datetime="${lastAdvance}">${formatAgo(Date.parse(lastAdvance), nowMs)}</time>`;
}

function explorerLink(explorer: string | null): Html | null {
  const link = webLink(explorer);
  return link === null ? null : html` · <a href="${link}" rel="noopener noreferrer">explorer</a>`;
}
