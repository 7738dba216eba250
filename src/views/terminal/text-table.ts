/**
 * The lines of a table, in which each column has a title and is aligned, two spaces apart, without trailing spaces. `right`: the
 * columns that are aligned to the right.
 */
export function renderTextTable<Row>(
  columns: Readonly<Record<string, (row: Row) => string>>,
  rows: readonly Row[],
  right: readonly string[],
): readonly string[] {
  const aligned = Object.entries(columns).map(([title, cellOf]) => {
    const cells = [title.toUpperCase(), ...rows.map(cellOf)];
    const width = Math.max(...cells.map((cell) => cell.length));
    return cells.map((cell) => (right.includes(title) ? cell.padStart(width) : cell.padEnd(width)));
  });
  return ["", ...rows].map((_, line) =>
    aligned
      .map((cells) => cells[line])
      .join("  ")
      .trimEnd(),
  );
}
