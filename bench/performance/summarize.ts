import { markdownTable, percentile } from "../accuracy/figures.ts";
import type { Figure } from "./subject.ts";

export interface Measured {
  readonly title: string;
  readonly about: string;
  /** One list a run. */
  readonly runs: readonly (readonly Figure[])[];
}

interface Cell {
  readonly table: string;
  readonly row: string;
  readonly column: string;
  readonly values: readonly number[];
  readonly atMost: number | undefined;
}

/** One section of docs/PERFORMANCE.md: medians, with the least and the most of the runs. */
export function summarize({ title, about, runs }: Measured): string {
  const cells = collect(runs.flat());
  const tables = [...new Set(cells.map(({ table }) => table))].map((table) =>
    [`### ${table}`, markdownTable(rowsOf(cells.filter((cell) => cell.table === table)))].join("\n\n"),
  );
  return [`## ${title}`, about.trim(), ...tables, ...goalsOf(cells)].join("\n\n");
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

function rowsOf(cells: readonly Cell[]): readonly Readonly<Record<string, string>>[] {
  const columns = [...new Set(cells.map(({ column }) => column))];
  const rows = [...new Set(cells.map(({ row }) => row))];
  return rows.map((row) =>
    Object.fromEntries([
      ["", row],
      ...columns.map((column) => {
        const cell = cells.find((one) => one.row === row && one.column === column);
        return [column, cell === undefined ? "" : spread(cell.values)] as const;
      }),
    ]),
  );
}

function goalsOf(cells: readonly Cell[]): readonly string[] {
  const goals = cells.flatMap(({ table, row, column, values, atMost }) =>
    atMost === undefined
      ? []
      : [
          {
            goal: `${table}: ${row}, ${column}`,
            "at most": amount(atMost),
            median: amount(percentile(values, 0.5)),
            verdict: percentile(values, 0.5) <= atMost ? "met" : "**missed**",
          },
        ],
  );
  return goals.length === 0 ? [] : ["### Goals", markdownTable(goals)];
}

function spread(values: readonly number[]): string {
  const median = amount(percentile(values, 0.5));
  return values.length < 2
    ? median
    : `${median} (${amount(Math.min(...values))}–${amount(Math.max(...values))})`;
}

/** Three significant digits, which is more than such figures are worth. */
function amount(value: number): string {
  return Math.abs(value) >= 1_000
    ? Math.round(value).toLocaleString("en-US")
    : String(Number(value.toPrecision(3)));
}
