/** A column of a text table. */
export interface Column {
  readonly title: string;
  readonly align: "left" | "right";
}

/** The lines of a table with aligned columns, two spaces apart, without trailing spaces. */
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

/** Breaks a line between words at `widthColumns`; a longer word is kept whole. Null leaves the line whole. */
export function wrapWords(line: string, widthColumns: number | null): readonly string[] {
  if (widthColumns === null || line.length <= widthColumns) {
    return [line];
  }
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    if (current !== "" && current.length + 1 + word.length > widthColumns) {
      lines.push(current);
      current = word;
    } else {
      current = current === "" ? word : `${current} ${word}`;
    }
  }
  return [...lines, current];
}
