import { type IndexerId, indexerKey, variantName } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { type ChainSummary, type Report, statusRank, type TargetReport } from "../../core/model/report.ts";
import { formatCount, formatNumber, shortDuration } from "../../core/model/text.ts";
import { differingKeys, findDifferences } from "../wording/parity.ts";
import { describeState, notableLagMs, statusWords } from "../wording/targets.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { chainPath, type FleetView, fleetPath, targetAnchor } from "./links.ts";
import { glyphOf, renderSection, renderTerm } from "./shell.ts";

interface Table {
  readonly view: FleetView;
  /** One for each variant and tier of each protocol, those of a protocol side by side. */
  readonly columns: readonly IndexerId[];
  /** Keys of the targets that an incident explains: they are less prominent. */
  readonly explained: ReadonlySet<string>;
  /** Keys of the targets whose data differ from another variant's. */
  readonly differing: ReadonlySet<string>;
}

interface Row {
  readonly chain: ChainSummary;
  readonly targets: readonly TargetReport[];
  readonly worst: number;
  readonly notOk: number;
}

/** Of more rows, those that are all ok are folded: browsers are slow with long tables. */
const MAX_OK_ROWS = 100;
/** With more columns the reference head is hidden on narrow screens. */
const MANY_COLUMNS = 7;

/** The whole fleet, a row for each chain, the worst first unless asked otherwise; testnets are folded. */
export function renderMatrix(report: Report, view: FleetView): Html {
  const rows = sortRows(report, view.sort);
  const table = {
    view,
    columns: findColumns(rows),
    explained: new Set(report.incidents.flatMap(({ targets }) => targets)),
    differing: new Set(findDifferences(report).flatMap(differingKeys)),
  };
  const mainnets = rows.filter(({ chain }) => !chain.testnet);
  const testnets = rows.filter(({ chain }) => chain.testnet);
  const isFolded = ({ notOk }: Row, index: number) => index >= MAX_OK_ROWS && notOk === 0;
  const shown = mainnets.filter((row, index) => !isFolded(row, index));
  const folded = mainnets.filter(isFolded);
  const marks = [
    report.targets.some(({ maintenance }) => maintenance) ? ", ⚒ in maintenance" : "",
    table.differing.size > 0 ? ", ≠ data that differ" : "",
  ];
  return renderSection(
    "fleet",
    "Fleet",
    html`<p class="hint">Time behind the reference head of the chain, or behind the clock where it has none.
· means not configured${marks}.</p>
${shown.length === 0 ? null : renderTable(table, shown, "Mainnets")}
${folded.length === 0 ? null : renderFolded(table, folded)}
${testnets.length === 0 ? null : renderTestnets(table, testnets, mainnets.length === 0 ? "open" : "folded")}`,
  );
}

function renderFolded(table: Table, rows: readonly Row[]): Html {
  return html`<details id="more-chains"><summary>${formatCount(rows.length, "more chain")}, all ok</summary>
${renderTable(table, rows, "More mainnets")}</details>`;
}

/** Open if there are no mainnets, under an id of its own, since the page keeps what a person has opened or closed. */
function renderTestnets(table: Table, rows: readonly Row[], fold: "open" | "folded"): Html {
  const all = rows.reduce((sum, { targets }) => sum + targets.length, 0);
  const ok = rows.reduce((sum, { notOk }) => sum - notOk, all);
  const attributes = fold === "open" ? html`id="testnets-alone" open` : html`id="testnets"`;
  return html`<details class="testnets" ${attributes}><summary>Testnets: ${ok} of ${all} targets ok</summary>
${renderTable(table, rows, "Testnets")}</details>`;
}

function renderTable(table: Table, rows: readonly Row[], caption: string): Html {
  const id = `box-${caption.toLowerCase().replace(" ", "-")}`;
  const protocols = groupBy(table.columns, ({ protocol }) => protocol);
  return html`<div class="box" id="${id}" role="region" aria-label="${caption}" tabindex="0"><table class="matrix${table.columns.length > MANY_COLUMNS ? " many" : ""}">
<caption class="sr">${caption}, ${describeOrder(table)}</caption>
<thead><tr>${renderSortable(table, "chain", "Chain", html`rowspan="2"`)}${[...protocols].map(
    ([name, columns]) =>
      html`<th colspan="${columns.length}" scope="colgroup"><a href="${fleetPath({ ...table.view, q: name })}">${name}</a></th>`,
  )}<th rowspan="2" scope="col" class="head">${renderTerm("Reference head")} ${renderTerm("× sources")}</th></tr>
<tr>${table.columns.map((column) => {
    const tier = column.tier === "production" ? null : html` <small>${column.tier}</small>`;
    return renderSortable(table, indexerKey(column), html`${column.variant}${tier}`, null);
  })}</tr></thead>
<tbody>${rows.map((row) => renderRow(table, row))}</tbody></table></div>`;
}

/** The heading of a column: a link that sorts by the column, or returns to the default order. */
function renderSortable({ view }: Table, name: string, title: HtmlValue, span: Html | null): Html {
  const isSorted = view.sort === name;
  const order = name === "chain" ? "ascending" : "descending";
  const path = `${fleetPath({ ...view, sort: isSorted ? "" : name })}#fleet`;
  return html`<th scope="col" ${span}${isSorted ? html` aria-sort="${order}"` : null}>
<a href="${path}" title="${isSorted ? "Worst chain first" : "Sort by this column"}">${title}</a></th>`;
}

function describeOrder({ columns, view: { sort } }: Table): string {
  if (sort === "chain") {
    return "by name";
  }
  const column = columns.find((one) => indexerKey(one) === sort);
  return column === undefined ? "worst first" : `worst ${column.protocol} ${variantName(column)} first`;
}

function renderRow(table: Table, { chain, targets }: Row): Html {
  const byIndexer = new Map(targets.map((target) => [indexerKey(target), target]));
  const cells = table.columns.map((column) => renderCell(byIndexer.get(indexerKey(column)), table));
  const { reference } = chain;
  const head =
    reference === null
      ? "none"
      : html`${formatNumber(reference.block_number)} <small>×${reference.sources}</small>`;
  return html`<tr><th scope="row"><a href="${chainPath(chain.slug)}">${chain.name}</a></th>
${cells}<td class="head">${head}</td></tr>
`;
}

function renderCell(target: TargetReport | undefined, { explained, differing }: Table): Html {
  if (target === undefined) {
    return html`<td class="none">·</td>`;
  }
  const { tone, glyph } = statusWords(target.status);
  const style = target.maintenance || explained.has(target.key) ? `${tone} muted` : tone;
  const isDifferent = differing.has(target.key);
  // Cells that are ok need no explanation, and they are most of the page.
  const isPlain = tone === "ok" && !target.maintenance && !isDifferent;
  const differs = isDifferent ? ", its data differ from another variant's" : "";
  const title = isPlain ? null : html` title="${describeTarget(target)}${differs}"`;
  const path = `${chainPath(target.chain)}#${targetAnchor(target)}`;
  const text = `${cellText(target)}${isDifferent ? " ≠" : ""}`;
  return html`<td><a class="${style}" href="${path}"${title}>${glyphOf(glyph)}\u00A0${text}</a></td>`;
}

/** `1.5s`, `stalled 41m`, `down ⚒`. */
function cellText(target: TargetReport): string {
  const { tone, short } = statusWords(target.status);
  const lagMs = notableLagMs(target);
  const lag = lagMs === null ? [] : [shortDuration(lagMs)];
  const state = tone === "ok" && lag.length > 0 ? lag : [short, ...lag];
  return [...state, ...(target.maintenance ? ["⚒"] : [])].join(" ");
}

function describeTarget(target: TargetReport): string {
  const planned = target.maintenance ? ", in maintenance" : "";
  return `${target.protocol} ${variantName(target)} on ${target.chain}: ${describeState(target)}${planned}`;
}

/** The columns, in the order of the chain that has most of them. */
function findColumns(rows: readonly Row[]): readonly IndexerId[] {
  const fullest = rows.toSorted((a, b) => b.targets.length - a.targets.length);
  const targets = fullest.flatMap((row) => row.targets);
  const columns = [...groupBy(targets, indexerKey).values()].flatMap(([first]) => first ?? []);
  return [...groupBy(columns, ({ protocol }) => protocol).values()].flat();
}

function sortRows({ chains, targets }: Report, sort: string): readonly Row[] {
  const byChain = groupBy(targets, ({ chain }) => chain);
  return chains
    .flatMap((chain): Row[] => {
      const own = byChain.get(chain.slug) ?? [];
      const worst = Math.max(...own.map(({ status }) => statusRank(status)));
      const notOk = own.filter(({ status }) => status !== "ok").length;
      return own.length === 0 ? [] : [{ chain, targets: own, worst, notOk }];
    })
    .sort((a, b) => b.worst - a.worst || b.notOk - a.notOk)
    .sort(sort === "chain" ? byName : (a, b) => badnessIn(b, sort) - badnessIn(a, sort));
}

function byName(a: Row, b: Row): number {
  return a.chain.name.localeCompare(b.chain.name, "en");
}

/** The rank of a column's target, by status and then lag; the lowest if there is no target. */
function badnessIn({ targets }: Row, column: string): number {
  const target = targets.find((one) => indexerKey(one) === column);
  const lag = target?.lag_seconds ?? 0;
  return target === undefined ? -1 : statusRank(target.status) + lag / (lag + 1);
}
