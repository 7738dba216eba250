/** Breaks a line between words so that none is longer than `widthColumns`, but for a word that is; null leaves it whole. */
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
