import { variantName } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import type { ParityReport, Report } from "../../core/model/report.ts";
import { formatAgo, formatDuration, formatNumber } from "../../core/model/text.ts";
import { chainPath } from "../wording/chain-links.ts";
import { describeDifference, findDifferences, parityTitle } from "../wording/parity.ts";
import { idOfKey, type Tone } from "../wording/targets.ts";
import { type Html, html } from "./html.ts";
import { parityAnchor } from "./links.ts";
import { renderClock, renderList, renderPill, renderTable } from "./shell.ts";

/** The variants whose data differ, a line for each comparison; null if there are none. */
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

/** The compared values of one protocol on a chain, side by side. */
export function renderChainParity(protocol: string, own: readonly ParityReport[], nowMs: number): Html {
  const id = parityAnchor(protocol);
  /** A variant with its compared value, and its newest value with the height. */
  function renderValue(
    key: string,
    block: number | null,
    value: string | null,
    latest: ParityReport["latest"],
  ) {
    const then = block === null || value === null ? null : html`<br>${value} at ${formatNumber(block)}`;
    const last =
      latest === null
        ? "not read yet"
        : `last: ${latest.value} at ${formatNumber(latest.block_number)}, ${formatAgo(Date.parse(latest.read), nowMs)}`;
    return html`<b>${variantName(idOfKey(key))}</b>${then}<br><small>${last}</small>`;
  }
  const columns = {
    Probe: ({ probe }: ParityReport) => probe,
    Result: ({ difference, result }: ParityReport) =>
      html`${renderPill(TONES[result], result)}${difference === null || difference === 0 ? "" : ` by ${difference}`}`,
    Variant: (one: ParityReport) => renderValue(one.key, one.block, one.value, one.latest),
    Against: (one: ParityReport) =>
      renderValue(one.against_key, one.block, one.against_value, one.against_latest),
    Since: ({ since }: ParityReport) =>
      since === null
        ? "–"
        : html`${renderClock(since, nowMs)}, ${formatDuration(Math.max(0, nowMs - Date.parse(since)))}`,
    Explanation: ({ detail }: ParityReport) => detail,
  };
  const counts = [...groupBy(own, ({ result }) => result)].map(
    ([result, { length }]) => `${length} ${result}`,
  );
  const isOpen = own.some(({ result }) => result === "different");
  return html`<details class="part" id="part-${id}"${isOpen ? html` open` : null}><summary>Data of ${protocol} in each variant: ${counts.join(", ")}</summary>
<div id="${id}">${renderTable(id, `Parity of ${protocol}`, columns, own)}</div></details>
`;
}
