import type { EndpointRecord } from "../../core/model/exchange.ts";
import type { LatestValue, ParityReport } from "../../core/model/report.ts";
import { formatAgo, formatClock, formatDuration, formatNumber } from "../../core/model/text.ts";
import type { StatusJson } from "../api/api-schema.ts";
import { isoTime } from "../api/status.ts";
import { describeDifference, findDifferences, parityTitle } from "../wording/parity.ts";
import type { Tone } from "../wording/status-words.ts";
import { variantName } from "../wording/target.ts";
import { type Html, html } from "./html.ts";
import { chainPath, parityAnchor } from "./links.ts";

/** The variants whose data differ, a line for each two; null where none do. */
export function renderDifferences(json: StatusJson, nowMs: number): Html | null {
  const differences = findDifferences(json);
  return differences.length === 0
    ? null
    : html`<section aria-labelledby="parity-title"><h2 id="parity-title">Data that differ</h2>
<ul class="list">${differences.map(
        (one) =>
          html`<li><b><a href="${chainPath(one.chain)}#${parityAnchor(one.protocol)}">≠ ${parityTitle(one, json)}</a></b>: ${describeDifference(one, nowMs)}</li>
`,
      )}</ul></section>`;
}

const RESULTS: Readonly<Record<ParityReport["result"], { readonly tone: Tone; readonly glyph: string }>> = {
  equal: { tone: "ok", glyph: "=" },
  different: { tone: "warn", glyph: "≠" },
  unknown: { tone: "idle", glyph: "?" },
};

interface ChainParityOptions {
  readonly endpoints: readonly EndpointRecord[];
  readonly nowMs: number;
}

/** What is compared of one protocol on a chain, values side by side; null where nothing is. */
export function renderChainParity(
  parity: readonly ParityReport[],
  protocol: string,
  { endpoints, nowMs }: ChainParityOptions,
): Html | null {
  const own = parity.filter(({ target }) => target.protocol === protocol);
  if (own.length === 0) {
    return null;
  }
  const anchor = parityAnchor(protocol);
  return html`<h3 id="${anchor}">Is the data the same?</h3>
<div class="box" id="box-${anchor}" role="region" aria-label="Parity of ${protocol}" tabindex="0"><table class="plain">
<thead><tr><th scope="col">Probe</th><th scope="col">Result</th><th scope="col">Variant</th><th scope="col">Against</th><th scope="col">Since</th><th scope="col">Explanation</th></tr></thead>
<tbody>${own.map((one) => renderPair(one, nowMs))}</tbody></table></div>
${renderQueries(own, endpoints, anchor)}`;
}

function renderPair(report: ParityReport, nowMs: number): Html {
  const { probe, target, against, result, compared, sinceMs, latest, detail } = report;
  const { tone, glyph } = RESULTS[result];
  const difference =
    compared?.difference == null || compared.difference === 0 ? "" : ` by ${compared.difference}`;
  const theirs = compared && { block: compared.block, value: compared.againstValue };
  const since =
    sinceMs === null
      ? "–"
      : html`<time datetime="${isoTime(sinceMs)}">${formatClock(sinceMs, nowMs)}</time>, ${formatDuration(Math.max(0, nowMs - sinceMs))}`;
  return html`<tr><th scope="row">${probe}</th><td><span class="pill ${tone}"><i aria-hidden="true">${glyph}</i> ${result}</span>${difference}</td>
<td>${renderValue({ name: variantName(target), compared, latest: latest.target }, nowMs)}</td>
<td>${renderValue({ name: variantName(against), compared: theirs, latest: latest.against }, nowMs)}</td>
<td>${since}</td><td>${detail}</td></tr>
`;
}

/** The value that was compared, and the newest one with its height. */
function renderValue(shown: ShownValue, nowMs: number): Html {
  const { name, compared, latest } = shown;
  const then = compared === null ? null : html`<br>${compared.value} at ${formatNumber(compared.block)}`;
  const last =
    latest === null
      ? html`<br><small>not read yet</small>`
      : html`<br><small>last: ${latest.value} at ${formatNumber(latest.block)}, ${formatAgo(latest.readMs, nowMs)}</small>`;
  return html`<b>${name}</b>${then}${last}`;
}

interface ShownValue {
  readonly name: string;
  readonly compared: { readonly block: number; readonly value: string } | null;
  readonly latest: LatestValue | null;
}

/** The query of each variant as a command, to repeat it by hand. */
function renderQueries(
  parity: readonly ParityReport[],
  endpoints: readonly EndpointRecord[],
  anchor: string,
): Html | null {
  const keys = new Set(parity.flatMap(({ target, against }) => [target.key, against.key]));
  const probes = new Set(parity.map(({ probe }) => probe));
  const queries = endpoints
    .flatMap((endpoint) => endpoint.parity)
    .filter(({ probe, target }) => probes.has(probe) && keys.has(target));
  return queries.length === 0
    ? null
    : html`<details id="queries-${anchor}"><summary>The queries as commands</summary>
${queries.map(
  ({ probe, target, curl }) => html`<p class="hint">${probe} of <b>${target}</b></p>
<pre class="curl" tabindex="0" role="region" aria-label="curl command for ${probe} of ${target}">${curl}</pre>
`,
)}</details>`;
}
