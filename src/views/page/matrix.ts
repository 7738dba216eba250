import { groupBy } from "../../core/model/group-by.ts";
import type { ChainSummary, Report, TargetReport } from "../../core/model/report.ts";
import { formatCount, formatNumber, shortDuration } from "../../core/model/text.ts";
import { differingKeys } from "../wording/parity.ts";
import { describeState, notableLagMs, statusWords, variantName } from "../wording/targets.ts";
import { type Html, html } from "./html.ts";
import { chainPath, targetAnchor } from "./links.ts";

/** A column of the matrix: one variant and tier of one protocol. */
interface Column {
  readonly protocol: string;
  readonly variant: string;
  readonly tier: string;
}

/** The whole fleet, a row for each chain, the worst first; testnets are folded. */
export function renderMatrix(json: Report): Html {
  const rows = sortRows(json);
  const table = {
    columns: findColumns(rows),
    explained: new Set(json.incidents.flatMap(({ targets }) => targets)),
    differing: differingKeys(json),
  };
  const mainnets = rows.filter(({ chain }) => !chain.testnet);
  const testnets = rows.filter(({ chain }) => chain.testnet);
  return html`<section id="fleet" aria-labelledby="fleet-title"><h2 id="fleet-title">Fleet</h2>
<p class="hint">Time behind the reference head of the chain, or behind the clock where it has none. · means not configured${json.targets.some(({ maintenance }) => maintenance) ? ", ⚒ in maintenance" : null}${table.differing.size > 0 ? ", ≠ data that differ" : null}.</p>
${renderMainnets(table, mainnets)}
${testnets.length === 0 ? null : renderTestnets(table, testnets, mainnets.length === 0 ? "open" : "folded")}</section>`;
}

interface Table {
  readonly columns: readonly Column[];
  /** Keys of the targets that an incident explains: they are less prominent. */
  readonly explained: ReadonlySet<string>;
  /** Keys of the targets whose data differ from another variant's. */
  readonly differing: ReadonlySet<string>;
}

interface Row {
  readonly chain: ChainSummary;
  readonly targets: readonly TargetReport[];
}

/** Of more rows, those that are all ok are folded: browsers are slow with long tables. */
const MAX_OK_ROWS = 100;

function renderMainnets(table: Table, rows: readonly Row[]): readonly Html[] {
  const isShown = (row: Row, index: number) => index < MAX_OK_ROWS || !isAllOk(row);
  const shown = rows.filter(isShown);
  const folded = rows.filter((row, index) => !isShown(row, index));
  return [
    ...(shown.length === 0 ? [] : [renderTable(table, shown, "Mainnets")]),
    ...(folded.length === 0
      ? []
      : [
          html`<details id="more-chains"><summary>${formatCount(folded.length, "more chain")}, all ok</summary>
${renderTable(table, folded, "More mainnets")}</details>`,
        ]),
  ];
}

function isAllOk(row: Row): boolean {
  return countNotOk(row) === 0;
}

/** Open if there are no mainnets, under an id of its own, since the page keeps what a person has opened or closed. */
function renderTestnets(table: Table, rows: readonly Row[], fold: "open" | "folded"): Html {
  const targets = rows.flatMap((row) => row.targets);
  const ok = targets.filter(({ status }) => status === "ok").length;
  return html`<details class="testnets" ${fold === "open" ? html`id="testnets-alone" open` : html`id="testnets"`}><summary>Testnets: ${ok} of ${targets.length} targets ok</summary>
${renderTable(table, rows, "Testnets")}</details>`;
}

function renderTable(table: Table, rows: readonly Row[], caption: string): Html {
  return html`<div class="box" id="box-${caption.toLowerCase().replace(" ", "-")}" role="region" aria-label="${caption}" tabindex="0"><table class="matrix">
<caption class="sr">${caption}, worst first</caption>
<thead><tr><th rowspan="2" scope="col">Chain</th>${groupByProtocol(table.columns).map(renderGroup)}<th rowspan="2" scope="col" class="head">Reference head × sources</th></tr>
<tr>${table.columns.map(renderColumn)}</tr></thead>
<tbody>${rows.map((row) => renderRow(table, row))}</tbody></table></div>`;
}

function renderGroup({ protocol, count }: { readonly protocol: string; readonly count: number }): Html {
  return html`<th colspan="${count}" scope="colgroup"><a href="/?q=${encodeURIComponent(protocol)}">${protocol}</a></th>`;
}

function renderColumn({ variant, tier }: Column): Html {
  const small = tier === "production" ? null : html` <small>${tier}</small>`;
  return html`<th scope="col">${variant}${small}</th>`;
}

function renderRow(table: Table, { chain, targets }: Row): Html {
  const cells = table.columns.map((column) =>
    renderCell(
      targets.find((target) => isIn(column, target)),
      table,
    ),
  );
  return html`<tr><th scope="row"><a href="${chainPath(chain.slug)}">${chain.name}</a></th>${cells}${renderHead(chain)}</tr>
`;
}

function renderCell(
  target: TargetReport | undefined,
  { explained, differing }: Pick<Table, "explained" | "differing">,
): Html {
  if (target === undefined) {
    return html`<td class="none">·</td>`;
  }
  const { tone, glyph } = statusWords(target.status);
  const isMuted = target.maintenance || explained.has(target.key);
  const mark = differing.has(target.key) ? " ≠" : "";
  // Cells that are ok need no explanation, and they are most of the page.
  const isPlain = tone === "ok" && !target.maintenance && mark === "";
  const differs = mark === "" ? "" : ", its data differ from another variant's";
  const title = isPlain ? null : html` title="${describeTarget(target)}${differs}"`;
  return html`<td><a class="${tone}${isMuted ? " muted" : ""}" href="${chainPath(target.chain)}#${targetAnchor(target)}"${title}><i aria-hidden="true">${glyph}</i> ${cellText(target)}${mark}</a></td>`;
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

function renderHead({ reference }: ChainSummary): Html {
  if (reference === null) {
    return html`<td class="head">none</td>`;
  }
  const { block_number, sources } = reference;
  return html`<td class="head">${formatNumber(block_number)} <small>×${sources}</small></td>`;
}

/** The columns, those of a protocol side by side, in the order of the chain that has most of them. */
function findColumns(rows: readonly Row[]): readonly Column[] {
  const columns: Column[] = [];
  const fullest = rows.toSorted((a, b) => b.targets.length - a.targets.length);
  for (const target of fullest.flatMap((row) => row.targets)) {
    if (!columns.some((column) => isIn(column, target))) {
      columns.push({ protocol: target.protocol, variant: target.variant, tier: target.tier });
    }
  }
  const protocols = [...new Set(columns.map(({ protocol }) => protocol))];
  return protocols.flatMap((protocol) => columns.filter((column) => column.protocol === protocol));
}

function groupByProtocol(columns: readonly Column[]) {
  const protocols = [...new Set(columns.map(({ protocol }) => protocol))];
  return protocols.map((protocol) => ({
    protocol,
    count: columns.filter((column) => column.protocol === protocol).length,
  }));
}

function sortRows({ chains, targets }: Report): readonly Row[] {
  const byChain = groupBy(targets, ({ chain }) => chain);
  return chains
    .map((chain) => ({ chain, targets: byChain.get(chain.slug) ?? [] }))
    .filter((row) => row.targets.length > 0)
    .sort((a, b) => worstSeverity(a) - worstSeverity(b) || countNotOk(b) - countNotOk(a));
}

function worstSeverity({ targets }: Row): number {
  return Math.min(...targets.map(({ status }) => statusWords(status).severity));
}

function countNotOk({ targets }: Row): number {
  return targets.filter(({ status }) => status !== "ok").length;
}

function isIn({ protocol, variant, tier }: Column, target: TargetReport): boolean {
  return target.protocol === protocol && target.variant === variant && target.tier === tier;
}
