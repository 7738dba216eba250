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
