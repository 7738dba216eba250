import { variantName } from "../../core/model/fleet.ts";
import type { ParityReport, Report } from "../../core/model/report.ts";
import { formatAgo, formatDuration, formatNumber } from "../../core/model/text.ts";
import { describeDifference, findDifferences, parityTitle } from "../wording/parity.ts";
import { idOfKey, type Tone } from "../wording/targets.ts";
import { type Html, html } from "./html.ts";
import { chainPath, parityAnchor } from "./links.ts";
import { renderClock, renderList, renderPill, renderSection, renderTable } from "./shell.ts";

/** The variants whose data differ, a line for each pair; null if no data differ. */
export function renderDifferences(report: Report, nowMs: number): Html | null {
  const items = findDifferences(report).map(
    (one) =>
      html`<li><b><a href="${chainPath(one.chain)}#${parityAnchor(one.protocol)}">≠ ${parityTitle(one, report)}</a></b>:
${describeDifference(one, nowMs)}</li>
`,
  );
  return renderList("parity", "Data that differ", items);
}

const TONES: Readonly<Record<ParityReport["result"], Tone>> = {
  equal: "ok",
  different: "warn",
  unknown: "idle",
};
const HEAD = ["Probe", "Result", "Variant", "Against", "Since", "Explanation"];

/** The compared values of one protocol on a chain, side by side; null if nothing is compared. */
export function renderChainParity(own: readonly ParityReport[], nowMs: number): Html | null {
  const [first] = own;
  if (first === undefined) {
    return null;
  }
  const id = parityAnchor(first.protocol);
  const rows = own.map((one) => pairCells(one, nowMs));
  return renderSection(
    id,
    `Data of ${first.protocol}: the same in each variant?`,
    renderTable(id, `Parity of ${first.protocol}`, HEAD, rows),
  );
}

function pairCells(pair: ParityReport, nowMs: number) {
  const { block, detail, difference, result, since } = pair;
  return [
    pair.probe,
    html`${renderPill(TONES[result], result)}${difference === null || difference === 0 ? "" : ` by ${difference}`}`,
    html`<b>${variantName(pair)}</b>${renderValue(block, pair.value, pair.latest, nowMs)}`,
    html`<b>${variantName(idOfKey(pair.against_key))}</b>${renderValue(block, pair.against_value, pair.against_latest, nowMs)}`,
    since === null
      ? "–"
      : html`${renderClock(since, nowMs)}, ${formatDuration(Math.max(0, nowMs - Date.parse(since)))}`,
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
