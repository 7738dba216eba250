import { markdownTable, percentile } from "../../test/worlds/figures.ts";
import { type Figure, SIZES } from "./subject.ts";

export interface Measured {
  readonly title: string;
  readonly about: string;
  /** One list a run. */
  readonly runs: readonly (readonly Figure[])[];
}

export const MISSED = "**missed**";

interface Cell {
  readonly table: string;
  readonly row: string;
  readonly column: string;
  readonly values: readonly number[];
  readonly atMost: number | undefined;
}

/** Rows of a table of Markdown: a text for each column. */
export type Rows = readonly Readonly<Record<string, string>>[];

/** What docs/PERFORMANCE.md says of a subject: medians, with the least and the most of the runs. */
export interface Summary {
  /** Its section, with all its tables. */
  readonly section: string;
  /** Its rows of the tables that all subjects share: sizes of containers, and goals with verdicts. */
  readonly sizes: Rows;
  readonly goals: Rows;
}

export function summarize({ title, about, runs }: Measured): Summary {
  const cells = collect(runs.flat());
  const own = cells.filter(({ table }) => table !== SIZES);
  const tables = [...new Set(own.map(({ table }) => table))].map((table) =>
    [`### ${table}`, markdownTable(rowsOf(own.filter((cell) => cell.table === table)))].join("\n\n"),
  );
  return {
    section: [`## ${title}`, about.trim(), ...tables].join("\n\n"),
    sizes: rowsOf(
      cells.filter(({ table }) => table === SIZES),
      "fleet",
    ),
    goals: goalsOf(own),
  };
}

function collect(figures: readonly Figure[]): readonly Cell[] {
  const groups = new Map<string, Figure[]>();
  for (const figure of figures) {
    const key = JSON.stringify([figure.table, figure.row, figure.column]);
    groups.set(key, [...(groups.get(key) ?? []), figure]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined
      ? []
      : [{ ...first, values: group.map(({ value }) => value), atMost: first.atMost }];
  });
}

function rowsOf(cells: readonly Cell[], heading = ""): Rows {
  const columns = [...new Set(cells.map(({ column }) => column))];
  const rows = [...new Set(cells.map(({ row }) => row))];
  return rows.map((row) =>
    Object.fromEntries([
      [heading, row],
      ...columns.map((column) => {
        const cell = cells.find((one) => one.row === row && one.column === column);
        return [column, cell === undefined ? "" : spread(cell.values)] as const;
      }),
    ]),
  );
}

function goalsOf(cells: readonly Cell[]): Rows {
  return cells.flatMap(({ table, row, column, values, atMost }) =>
    atMost === undefined
      ? []
      : [
          {
            goal: `${table}: ${row}, ${column}`,
            "at most": amount(atMost),
            measured: spread(values),
            verdict: percentile(values, 0.5) <= atMost ? "met" : MISSED,
          },
        ],
  );
}

/** The median, with the least and the most where these differ from it. */
function spread(values: readonly number[]): string {
  const [least, median, most] = [0, 0.5, 1].map((share) => amount(percentile(values, share)));
  return least === most ? `${median}` : `${median} (${least}–${most})`;
}

/** Three significant digits, which is more than such figures are worth. */
function amount(value: number): string {
  return Math.abs(value) >= 1_000
    ? Math.round(value).toLocaleString("en-US")
    : String(Number(value.toPrecision(3)));
}
