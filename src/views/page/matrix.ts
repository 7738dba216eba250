import { type IndexerId, indexerKey, variantName } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { type ChainSummary, type Report, statusRank, type TargetReport } from "../../core/model/report.ts";
import { formatNumber, shortDuration } from "../../core/model/text.ts";
import { notableLagMs, statusWords } from "../wording/targets.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { chainPath, type FleetView, fleetPath, targetAnchor } from "./links.ts";
import { renderSection, renderTerm, toneGlyph } from "./shell.ts";

interface Table {
  readonly view: FleetView;
  /** One for each variant and tier of each protocol, those of a protocol side by side. */
  readonly columns: readonly IndexerId[];
  /** Keys of the targets that an incident explains: they are less prominent. */
  readonly explained: ReadonlySet<string>;
}

interface Row {
  readonly chain: ChainSummary;
  readonly targets: readonly TargetReport[];
  readonly worst: number;
  readonly notOk: number;
}

/** With more columns the reference head is hidden on narrow screens. */
const MANY_COLUMNS = 7;

/** The whole fleet, a row for each chain, the worst first unless asked otherwise; testnets are folded. */
export function renderMatrix(report: Report, view: FleetView): Html {
  const rows = sortRows(report, view.sort);
  const explained = new Set(report.incidents.flatMap(({ targets }) => targets));
  const table = { view, columns: findColumns(rows), explained };
  const mainnets = rows.filter(({ chain }) => !chain.testnet);
  const testnets = rows.filter(({ chain }) => chain.testnet);
  const all = testnets.reduce((sum, { targets }) => sum + targets.length, 0);
  const ok = testnets.reduce((sum, { notOk }) => sum - notOk, all);
  const mark = report.targets.some(({ maintenance }) => maintenance) ? ", ⚒ in maintenance" : "";
  return renderSection(
    "fleet",
    "Fleet",
    html`<p class="hint">Time behind the reference head of the chain, or behind the clock where it has none.
· means not configured${mark}.</p>
${mainnets.length === 0 ? null : renderTable(table, mainnets, "Mainnets")}
${
  testnets.length === 0
    ? null
    : html`<details id="testnets" class="testnets"${mainnets.length === 0 ? html` open` : null}><summary>Testnets: ${ok} of ${all} targets ok</summary>
${renderTable(table, testnets, "Testnets")}</details>`
}`,
  );
}

function renderTable(table: Table, rows: readonly Row[], caption: string): Html {
  const protocols = groupBy(table.columns, ({ protocol }) => protocol);
  return html`<div class="box" id="box-${caption.toLowerCase()}" role="region" aria-label="${caption}" tabindex="0"><table class="matrix${table.columns.length > MANY_COLUMNS ? " many" : ""}">
<caption class="sr">${caption}, ${SORTED[table.view.sort] ?? "worst first"}</caption>
<thead><tr>${renderSortable(table, "chain", "Chain", html`rowspan="2"`)}${[...protocols].map(
    ([name, columns]) =>
      html`<th colspan="${columns.length}" scope="colgroup"><a href="${fleetPath({ ...table.view, q: name })}">${name}</a></th>`,
  )}<th rowspan="2" scope="col" class="head">${renderTerm("Reference head")} ${renderTerm("× sources")}</th></tr>
<tr>${table.columns.map((column) => {
    const small = column.tier === "production" ? null : html` <small>${column.tier}</small>`;
    return renderSortable(table, indexerKey(column), html`${column.variant}${small}`, null);
  })}</tr></thead>
<tbody>${rows.map((row) => renderRow(table, row))}</tbody></table></div>`;
}

const SORTED: Readonly<Record<string, string>> = { chain: "by name" };

/** The heading of a column: a link that sorts by the column, or returns to the default order. */
function renderSortable({ view }: Table, name: string, title: HtmlValue, span: Html | null): Html {
  const isSorted = view.sort === name;
  const order = name === "chain" ? "ascending" : "descending";
  const path = `${fleetPath({ ...view, sort: isSorted ? "" : name })}#fleet`;
  return html`<th scope="col" ${span}${isSorted ? html` aria-sort="${order}"` : null}>
<a href="${path}" title="${isSorted ? "Worst chain first" : "Sort by this column"}">${title}</a></th>`;
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

function renderCell(target: TargetReport | undefined, { explained }: Table): Html {
  if (target === undefined) {
    return html`<td class="none">·</td>`;
  }
  const { tone, short } = statusWords(target.status);
  const style = target.maintenance || explained.has(target.key) ? `${tone} muted` : tone;
  const lagMs = notableLagMs(target);
  const text = [
    tone === "ok" && lagMs !== null ? [] : short,
    lagMs === null ? [] : shortDuration(lagMs),
    target.maintenance ? "⚒" : [],
  ].flat();
  // Cells that are ok need no explanation, and they are most of the page.
  const name = `${target.protocol} ${variantName(target)} on ${target.chain}`;
  const title = tone === "ok" ? null : html` title="${name}: ${target.detail}"`;
  const path = `${chainPath(target.chain)}#${targetAnchor(target)}`;
  return html`<td><a class="${style}" href="${path}"${title}>${toneGlyph(tone)}\u00A0${text.join(" ")}</a></td>`;
}

/** The columns, in the order of the chain that has most of them. */
function findColumns(rows: readonly Row[]): readonly IndexerId[] {
  const fullest = rows.toSorted((a, b) => b.targets.length - a.targets.length);
  const targets = fullest.flatMap((row) => row.targets);
  const columns = [...groupBy(targets, indexerKey).values()].flatMap(([first]) => first ?? []);
  return [...groupBy(columns, ({ protocol }) => protocol).values()].flat();
}

/** By the column that the page is sorted by; rows that are equal there, and without one, the worst chain first. */
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
    .sort((a, b) =>
      sort === "chain"
        ? a.chain.name.localeCompare(b.chain.name, "en")
        : badnessIn(b, sort) - badnessIn(a, sort),
    );
}

/** The rank of a column's target, by status and then lag; the lowest if there is no target. */
function badnessIn({ targets }: Row, column: string): number {
  const target = targets.find((one) => indexerKey(one) === column);
  const lag = target?.lag_seconds ?? 0;
  return target === undefined ? -1 : statusRank(target.status) + lag / (lag + 1);
}
