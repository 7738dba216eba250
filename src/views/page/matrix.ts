import { type IndexerId, indexerKey, targetName } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import {
  type ChainSummary,
  type Report,
  type Severity,
  sharedCauses,
  type TargetReport,
} from "../../core/model/report.ts";
import { statusRank } from "../../core/model/statuses.ts";
import { formatList, formatNumber, shortDuration } from "../../core/model/text.ts";
import { type Judgement, needsAction } from "../../core/report/severity.ts";
import { chainPath, targetAnchor } from "../wording/chain-links.ts";
import { isLate, notableLagMs, SEVERITY_TONES, statusWords, type Tone } from "../wording/targets.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { fleetPath, type View } from "./links.ts";
import { renderSection, renderTerm, toneGlyph } from "./shell.ts";

interface Fleet {
  readonly view: View;
  readonly judgement: Judgement;
  /** Keys of the targets that an incident explains: they are outlined. */
  readonly explained: ReadonlySet<string>;
}

interface Table extends Fleet {
  /** One column for each variant and tier of each protocol, the columns of a protocol side by side. */
  readonly columns: readonly IndexerId[];
}

interface Row {
  readonly chain: ChainSummary;
  readonly targets: readonly TargetReport[];
}

/** A cell with one of these statuses shows the lag instead of the word, which is in the hover text. */
const SHOWN_BY_LAG: ReadonlySet<string> = new Set(["ok", "lagging", "stalled"]);

/** The whole fleet, a row for each chain, the worst first unless asked otherwise; testnets are folded. */
export function renderMatrix(report: Report, judgement: Judgement, view: View): Html {
  const rows = sortRows(report, view.sort);
  const explained = new Set(sharedCauses(report.incidents).flatMap(({ targets }) => targets));
  const fleet = { view, judgement, explained };
  const mainnets = rows.filter(({ chain }) => !chain.testnet);
  const testnets = rows.filter(({ chain }) => chain.testnet);
  const all = testnets.flatMap(({ targets }) => targets);
  const count = `${all.length - notOk(all)} of ${all.length}`;
  const folded = html`<details id="testnets" class="testnets"${mainnets.length === 0 ? html` open` : null}><summary>Testnets: ${count} targets ok</summary>
${renderTables(fleet, testnets, "Testnets")}</details>`;
  return renderSection(
    "fleet",
    "Fleet",
    html`<p class="hint">A time says how far a target is behind the reference head of its chain, or behind the clock if the chain has none.</p>
${renderLegend(report.targets, fleet)}
${renderTables(fleet, mainnets, "Mainnets")}
${testnets.length === 0 ? null : folded}`,
  );
}

/** The meanings of the colours, outlines and marks that the cells have. */
const MEANINGS: Readonly<Record<string, string>> = {
  ok: "at the head",
  "ok late": "behind, within the threshold",
  warn: "not ok",
  "warn doubt": "in doubt: sources contradict each other, or data differ",
  bad: "not ok, and no variant serves its users",
  busy: "catching up, in maintenance, or ended and gone",
  idle: "unknown",
};

function renderLegend(targets: readonly TargetReport[], fleet: Fleet): Html {
  const looks = new Set(targets.map((target) => lookOf(target, fleet)));
  const entries = Object.entries(MEANINGS).flatMap(([plain, meaning]) => {
    const look = [plain, `${plain} muted`].find((one) => looks.has(one));
    const [tone = "ok"] = plain.split(" ");
    // The first word of a look is a tone.
    return look === undefined
      ? []
      : html`<li><b class="${look}">${toneGlyph(tone as Tone)}</b> ${meaning}</li>`;
  });
  const outlined = [...looks].find((look) => look.endsWith(" muted"));
  return html`<ul class="legend">${entries}
${outlined === undefined ? null : html`<li><b class="${outlined}">\u00A0</b> outlined: an incident above explains it</li>`}
${targets.some((one) => one.maintenance && one.ended === null) ? html`<li><b>⚒</b> in maintenance</li>` : null}</ul>`;
}

/** One table for the protocols that serve mostly the same chains, and other tables for protocols with few chains. */
function renderTables(fleet: Fleet, rows: readonly Row[], caption: string): readonly Html[] {
  const chainsOf = new Map<string, Set<string>>();
  for (const { chain, protocol } of rows.flatMap(({ targets }) => targets)) {
    chainsOf.set(protocol, (chainsOf.get(protocol) ?? new Set()).add(chain));
  }
  const tables: { readonly chains: ReadonlySet<string>; readonly protocols: string[] }[] = [];
  for (const [protocol, chains] of [...chainsOf].sort(([, a], [, b]) => b.size - a.size)) {
    // A protocol joins a table if its column would be at least half full.
    const table = tables.find(
      (one) => 2 * [...one.chains].filter((chain) => chains.has(chain)).length >= one.chains.size,
    );
    if (table === undefined) {
      tables.push({ chains, protocols: [protocol] });
    } else {
      table.protocols.push(protocol);
    }
  }
  return tables.map(({ protocols }, index) => {
    const own = rows
      .map(({ chain, targets }) => ({
        chain,
        targets: targets.filter(({ protocol }) => protocols.includes(protocol)),
      }))
      .filter(({ targets }) => targets.length > 0);
    const name = index === 0 ? caption : `${caption} of ${formatList(protocols)}`;
    return renderTable({ ...fleet, columns: findColumns(own) }, own, name);
  });
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
  return html`<div class="box" id="box-${caption.toLowerCase().replaceAll(" ", "-")}" role="region" aria-label="${caption}" tabindex="0"><table class="matrix">
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

function renderCell(target: TargetReport | undefined, table: Table): Html {
  if (target === undefined) {
    return html`<td class="none">·</td>`;
  }
  const tone = toneOf(target, table);
  const look = lookOf(target, table);
  const { ended, maintenance, status } = target;
  const isPast = ended !== null && status === "ok";
  const lagMs = isPast ? null : notableLagMs(target);
  const words = statusWords(target, severityOf(target, table));
  const text = [
    isPast || (lagMs !== null && SHOWN_BY_LAG.has(words)) ? [] : words,
    ended === null ? [] : "ended",
    lagMs === null ? [] : shortDuration(lagMs),
    maintenance && ended === null ? "⚒" : [],
  ].flat();
  // Most cells are at the head, and need no hover text.
  const name = targetName(target);
  const title = look === "ok" && !isPast ? null : html` title="${name}, ${status}: ${target.detail}"`;
  const path = `${chainPath(target.chain)}#${targetAnchor(target)}`;
  return html`<td><a class="${look}" href="${path}"${title}>${toneGlyph(tone)}\u00A0${text.join(" ")}</a></td>`;
}

function severityOf({ key }: TargetReport, { judgement }: Fleet): Severity {
  return judgement.targets.get(key) ?? "unknown";
}

function toneOf(target: TargetReport, fleet: Fleet): Tone {
  return SEVERITY_TONES[severityOf(target, fleet)];
}

/** The classes of a cell: its tone, and whether it is outlined, in doubt or late. */
function lookOf(target: TargetReport, fleet: Fleet): string {
  const severity = severityOf(target, fleet);
  const tone = SEVERITY_TONES[severity];
  if (fleet.explained.has(target.key) && needsAction(severity)) {
    return `${tone} muted`;
  }
  if (statusWords(target, severity) !== target.status) {
    return `${tone} doubt`;
  }
  return isLate(target) ? `${tone} late` : tone;
}

/** All columns. The chain with the most targets decides their order. */
function findColumns(rows: readonly Row[]): readonly IndexerId[] {
  const fullest = rows.toSorted((a, b) => b.targets.length - a.targets.length);
  const columns = new Map(
    fullest.flatMap(({ targets }) => targets.map((target) => [indexerKey(target), target] as const)),
  );
  return [...groupBy([...columns.values()], ({ protocol }) => protocol).values()].flat();
}

/** Sorts by the chosen column, if there is one, then by the worst target of each row. */
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

/** How bad the target of a row in a column is, by its status and then its lag. A row without a target has the lowest number. */
function badnessIn({ targets }: Row, column: string): number {
  const target = targets.find((one) => indexerKey(one) === column);
  const lag = target?.lag_seconds ?? 0;
  return target === undefined ? -1 : statusRank(target.status) + lag / (lag + 1);
}
