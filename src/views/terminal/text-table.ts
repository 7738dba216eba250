/** A column of a text table. */
export interface Column {
  readonly title: string;
  /** Numbers end at one line, words begin at one. */
  readonly align: "left" | "right";
}

/** Lines of text whose cells stand below each other, two blanks apart, with no blank at a line's end. */
export function renderTextTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const lines = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, i) => Math.max(...lines.map((cells) => cells[i]?.length ?? 0)));
  return lines.map((cells) =>
    columns
      .map(({ align }, i) => {
        const cell = cells[i] ?? "";
        const width = widths[i] ?? 0;
        return align === "left" ? cell.padEnd(width) : cell.padStart(width);
      })
      .join("  ")
      .trimEnd(),
  );
}
