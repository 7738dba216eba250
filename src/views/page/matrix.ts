import { type IndexerId, indexerKey } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { type ChainSummary, type Report, sharedCauses, type TargetReport } from "../../core/model/report.ts";
import { statusRank } from "../../core/model/statuses.ts";
import { formatNumber, shortDuration } from "../../core/model/text.ts";
import type { Judgement } from "../../core/report/severity.ts";
import { notableLagMs, SEVERITY_TONES, targetName } from "../wording/targets.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { chainPath, fleetPath, targetAnchor, type View } from "./links.ts";
import { renderSection, renderTerm, toneGlyph } from "./shell.ts";

interface Table {
  readonly view: View;
  readonly judgement: Judgement;
  /** One for each variant and tier of each protocol, those of a protocol side by side. */
  readonly columns: readonly IndexerId[];
  /** Keys of the targets that an incident explains: they are less prominent. */
  readonly explained: ReadonlySet<string>;
}

interface Row {
  readonly chain: ChainSummary;
  readonly targets: readonly TargetReport[];
}

/** With more columns the reference head is hidden on narrow screens. */
const MANY_COLUMNS = 7;

/** The whole fleet, a row for each chain, the worst first unless asked otherwise; testnets are folded. */
export function renderMatrix(report: Report, judgement: Judgement, view: View): Html {
  const rows = sortRows(report, view.sort);
  const explained = new Set(sharedCauses(report.incidents).flatMap(({ targets }) => targets));
  const table = { view, judgement, columns: findColumns(rows), explained };
  const mainnets = rows.filter(({ chain }) => !chain.testnet);
  const testnets = rows.filter(({ chain }) => chain.testnet);
  const all = testnets.flatMap(({ targets }) => targets);
  const count = `${all.length - notOk(all)} of ${all.length}`;
  const mark = report.targets.some(({ maintenance }) => maintenance) ? ", ⚒ in maintenance" : "";
  const folded = html`<details id="testnets" class="testnets"${mainnets.length === 0 ? html` open` : null}><summary>Testnets: ${count} targets ok</summary>
${renderTable(table, testnets, "Testnets")}</details>`;
  return renderSection(
    "fleet",
    "Fleet",
    html`<p class="hint">Time behind the reference head of the chain, or behind the clock where it has none.
· means not configured${mark}.</p>
${mainnets.length === 0 ? null : renderTable(table, mainnets, "Mainnets")}
${testnets.length === 0 ? null : folded}`,
  );
}

function renderTable(table: Table, rows: readonly Row[], caption: string): Html {
  const { columns, view } = table;
  const protocols = [...groupBy(columns, ({ protocol }) => protocol)].map(([name, { length }]) => {
    const path = fleetPath({ ...view, q: name });
    return html`<th colspan="${length}" scope="colgroup"><a href="${path}">${name}</a></th>`;
  });
  const variants = columns.map((column) => {
    const tier = column.tier === "production" ? null : html` <small>${column.tier}</small>`;
    return renderSortable(view, indexerKey(column), html`${column.variant}${tier}`, 1);
  });
  return html`<div class="box" id="box-${caption.toLowerCase()}" role="region" aria-label="${caption}" tabindex="0"><table class="matrix${columns.length > MANY_COLUMNS ? " many" : ""}">
<caption class="sr">${caption}, ${view.sort === "chain" ? "by name" : "worst first"}</caption>
<thead><tr>${renderSortable(view, "chain", "Chain", 2)}${protocols}<th rowspan="2" scope="col" class="head">${renderTerm("Reference head")} ${renderTerm("× sources")}</th></tr>
<tr>${variants}</tr></thead>
<tbody>${rows.map((row) => renderRow(table, row))}</tbody></table></div>`;
}

/** The heading of a column: a link that sorts by the column, or returns to the default order. */
function renderSortable(view: View, name: string, title: HtmlValue, rows: number): Html {
  const isSorted = view.sort === name;
  const sorted = html` aria-sort="${name === "chain" ? "ascending" : "descending"}"`;
  const path = `${fleetPath({ ...view, sort: isSorted ? "" : name })}#fleet`;
  return html`<th scope="col" rowspan="${rows}"${isSorted ? sorted : null}>
<a href="${path}" title="${isSorted ? "Worst chain first" : "Sort by this column"}">${title}</a></th>`;
}

function renderRow(table: Table, { chain, targets }: Row): Html {
  const { name, reference, slug } = chain;
  const byIndexer = new Map(targets.map((target) => [indexerKey(target), target]));
  const cells = table.columns.map((column) => renderCell(byIndexer.get(indexerKey(column)), table));
  const head =
    reference && html`${formatNumber(reference.block_number)} <small>×${reference.sources}</small>`;
  return html`<tr><th scope="row"><a href="${chainPath(slug)}">${name}</a></th>
${cells}<td class="head">${head ?? "none"}</td></tr>
`;
}

function renderCell(target: TargetReport | undefined, { explained, judgement }: Table): Html {
  if (target === undefined) {
    return html`<td class="none">·</td>`;
  }
  const tone = SEVERITY_TONES[judgement.targets.get(target.key) ?? "unknown"];
  const style = target.maintenance || explained.has(target.key) ? `${tone} muted` : tone;
  const lagMs = notableLagMs(target);
  const text = [
    target.status === "ok" && lagMs !== null ? [] : target.status,
    lagMs === null ? [] : shortDuration(lagMs),
    target.maintenance ? "⚒" : [],
  ].flat();
  // Cells that are ok need no explanation, and they are most of the page.
  const name = targetName(target);
  const title = tone === "ok" ? null : html` title="${name}: ${target.detail}"`;
  const path = `${chainPath(target.chain)}#${targetAnchor(target)}`;
  return html`<td><a class="${style}" href="${path}"${title}>${toneGlyph(tone)}\u00A0${text.join(" ")}</a></td>`;
}

/** The columns, in the order of the chain that has most of them. */
function findColumns(rows: readonly Row[]): readonly IndexerId[] {
  const fullest = rows.toSorted((a, b) => b.targets.length - a.targets.length);
  const columns = new Map(
    fullest.flatMap(({ targets }) => targets.map((target) => [indexerKey(target), target] as const)),
  );
  return [...groupBy([...columns.values()], ({ protocol }) => protocol).values()].flat();
}

/** By the column that the page is sorted by; rows that are equal there, and without one, the worst chain first. */
function sortRows({ chains, targets }: Report, sort: string): readonly Row[] {
  const byChain = groupBy(targets, ({ chain }) => chain);
  const worst = (row: Row) => Math.max(...row.targets.map(({ status }) => statusRank(status)));
  const rows = chains.map((chain): Row => ({ chain, targets: byChain.get(chain.slug) ?? [] }));
  return rows
    .filter((row) => row.targets.length > 0)
    .sort((a, b) => worst(b) - worst(a) || notOk(b.targets) - notOk(a.targets))
    .sort((a, b) =>
      sort === "chain"
        ? a.chain.name.localeCompare(b.chain.name, "en")
        : badnessIn(b, sort) - badnessIn(a, sort),
    );
}

function notOk(targets: readonly TargetReport[]): number {
  return targets.filter(({ status }) => status !== "ok").length;
}

/** The rank of a column's target, by status and then lag; the lowest if there is no target. */
function badnessIn({ targets }: Row, column: string): number {
  const target = targets.find((one) => indexerKey(one) === column);
  const lag = target?.lag_seconds ?? 0;
  return target === undefined ? -1 : statusRank(target.status) + lag / (lag + 1);
}
