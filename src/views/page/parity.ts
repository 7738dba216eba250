import type { EndpointRecord } from "../../core/model/exchange.ts";
import { variantName } from "../../core/model/fleet.ts";
import type { ParityReport, Report } from "../../core/model/report.ts";
import { formatAgo, formatDuration, formatNumber } from "../../core/model/text.ts";
import { describeDifference, findDifferences, parityTitle } from "../wording/parity.ts";
import { idOfKey, type Tone } from "../wording/targets.ts";
import { type Html, html } from "./html.ts";
import { chainPath, parityAnchor } from "./links.ts";
import { glyphOf, renderClock, renderCommand, renderSection, renderTable } from "./shell.ts";

/** The variants whose data differ, a line for each pair; null if no data differ. */
export function renderDifferences(report: Report, nowMs: number): Html | null {
  const lines = findDifferences(report).map(
    (one) =>
      html`<li><b><a href="${chainPath(one.chain)}#${parityAnchor(one.protocol)}">≠ ${parityTitle(one, report)}</a></b>:
${describeDifference(one, nowMs)}</li>
`,
  );
  return lines.length === 0
    ? null
    : renderSection("parity", "Data that differ", html`<ul class="list">${lines}</ul>`);
}

const RESULTS: Readonly<Record<ParityReport["result"], { readonly tone: Tone; readonly glyph: string }>> = {
  equal: { tone: "ok", glyph: "=" },
  different: { tone: "warn", glyph: "≠" },
  unknown: { tone: "idle", glyph: "?" },
};
const HEAD = ["Probe", "Result", "Variant", "Against", "Since", "Explanation"];

/** The compared values of one protocol on a chain, side by side; null if nothing is compared. */
export function renderChainParity(
  own: readonly ParityReport[],
  endpoints: readonly EndpointRecord[],
  nowMs: number,
): Html | null {
  const [first] = own;
  if (first === undefined) {
    return null;
  }
  const id = parityAnchor(first.protocol);
  const rows = own.map((one) => pairCells(one, nowMs));
  return renderSection(
    id,
    `Data of ${first.protocol}: the same in each variant?`,
    html`${renderTable(id, `Parity of ${first.protocol}`, HEAD, rows)}
${renderQueries(own, endpoints, id)}`,
  );
}

function pairCells(pair: ParityReport, nowMs: number) {
  const { block, detail, difference, result, since } = pair;
  const { tone, glyph } = RESULTS[result];
  const sinceMs = since === null ? nowMs : Date.parse(since);
  return [
    pair.probe,
    html`<span class="pill ${tone}">${glyphOf(glyph)} ${result}</span>${difference === null || difference === 0 ? "" : ` by ${difference}`}`,
    html`<b>${variantName(pair)}</b>${renderValue(block, pair.value, pair.latest, nowMs)}`,
    html`<b>${variantName(idOfKey(pair.against_key))}</b>${renderValue(block, pair.against_value, pair.against_latest, nowMs)}`,
    since === null
      ? "–"
      : html`${renderClock(since, nowMs)}, ${formatDuration(Math.max(0, nowMs - sinceMs))}`,
    detail,
  ];
}

/** The value that was compared, and the newest one with its height. */
function renderValue(
  block: number | null,
  value: string | null,
  latest: ParityReport["latest"],
  nowMs: number,
): Html {
  const then = block === null || value === null ? null : html`<br>${value} at ${formatNumber(block)}`;
  const last =
    latest === null
      ? "not read yet"
      : `last: ${latest.value} at ${formatNumber(latest.block_number)}, ${formatAgo(Date.parse(latest.read), nowMs)}`;
  return html`${then}<br><small>${last}</small>`;
}

/** The query of each variant as a curl command. */
function renderQueries(
  pairs: readonly ParityReport[],
  endpoints: readonly EndpointRecord[],
  anchor: string,
): Html | null {
  const keys = new Set(pairs.flatMap((pair) => [pair.key, pair.against_key]));
  const probes = new Set(pairs.map(({ probe }) => probe));
  const queries = endpoints
    .flatMap(({ parity }) => parity)
    .filter(({ probe, target }) => probes.has(probe) && keys.has(target));
  return queries.length === 0
    ? null
    : html`<details id="queries-${anchor}"><summary>The queries as commands</summary>
${queries.map(
  ({ probe, target, curl }) => html`<p class="hint">${probe} of <b>${target}</b></p>
${renderCommand(curl, `curl command for ${probe} of ${target}`)}
`,
)}</details>`;
}
