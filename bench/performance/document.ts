import { markdownTable } from "../../test/worlds/figures.ts";
import { MISSED, type Rows, type Summary } from "./summarize.ts";

/** The last column of the tables that all subjects share: what renews the row. */
const COMMAND = "measured by";

/** Everything about one subject, for a terminal. */
export function textOf({ section, sizes, goals }: Summary): string {
  return [section, tableOf(sizes), tableOf(goals)].filter((text) => text !== "").join("\n\n");
}

/**
 * The document with everything that is generated about one subject renewed: its section, and its rows of the two tables that
 * all subjects share. Whatever is generated stands between `<!-- name -->` and `<!-- end of name -->`.
 *
 * @throws If the document lacks these marks.
 */
export function renewDocument(
  text: string,
  name: string,
  { section, sizes, goals, provenance }: Summary & { readonly provenance: string },
): string {
  const renewed = renewBlock(text, name, () => `${section}\n\n${provenance}`);
  const withSizes = renewBlock(renewed, "sizes", (table) =>
    tableOf(mergeRows(table, name, sizes).toSorted(byRequests)),
  );
  return renewBlock(withSizes, "goals", (table) =>
    tableOf(mergeRows(table, name, goals).toSorted(missedFirst)),
  );
}

/** Nothing of no rows. */
function tableOf(rows: Rows): string {
  return rows.length === 0 ? "" : markdownTable(rows);
}

function renewBlock(text: string, name: string, renew: (before: string) => string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) {
    throw new Error(`Cannot renew the document: ${start} … ${end} was not found`);
  }
  const before = text.slice(from + start.length, to).trim();
  return `${text.slice(0, from)}${start}\n${renew(before)}\n${text.slice(to)}`;
}

type Row = Rows[number];

/** The rows of a table, with those of a subject replaced. */
function mergeRows(table: string, name: string, rows: Rows): Rows {
  const command = `\`npm run bench -- ${name}\``;
  const others = readTable(table).filter((row) => row[COMMAND] !== command);
  return [...others, ...rows.map((row) => ({ ...row, [COMMAND]: command }))];
}

/** The rows of a table that `markdownTable` has written. */
function readTable(table: string): Rows {
  const [columns = [], , ...rows] = table.split("\n").map((line) => line.split(" | ").map(trimBar));
  return rows.map((cells) =>
    Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ""])),
  );
}

function trimBar(cell: string): string {
  return cell.replace(/^\| ?| ?\|$/g, "");
}

function byRequests(one: Row, other: Row): number {
  return requestsOf(one) - requestsOf(other);
}

function requestsOf(row: Row): number {
  return Number.parseInt((row["requests a day"] ?? "").replaceAll(",", ""), 10);
}

function missedFirst(one: Row, other: Row): number {
  return Number(other["verdict"] === MISSED) - Number(one["verdict"] === MISSED);
}
