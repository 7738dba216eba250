/** The columns of a text table: their titles, in order, and how each is aligned. */
export type Columns = Readonly<Record<string, "left" | "right">>;

/** The lines of a table with aligned columns, two spaces apart, without trailing spaces. */
export function renderTextTable(columns: Columns, rows: readonly (readonly string[])[]): readonly string[] {
  const lines = [Object.keys(columns), ...rows];
  const aligned = Object.values(columns).map((align, i) => {
    const width = Math.max(...lines.map((cells) => cells[i]?.length ?? 0));
    return (cell: string) => (align === "left" ? cell.padEnd(width) : cell.padStart(width));
  });
  return lines.map((cells) =>
    aligned
      .map((align, i) => align(cells[i] ?? ""))
      .join("  ")
      .trimEnd(),
  );
}
