/** The word of `known` that is closest to `typed`; null: no word is close. */
export function nearMiss(typed: string, known: readonly string[]): string | null {
  const wanted = typed.toLowerCase();
  let closest: { readonly word: string; readonly edits: number } | null = null;
  for (const word of known) {
    const allowed = Math.min(Math.max(1, Math.floor(word.length / 3)), (closest?.edits ?? Infinity) - 1);
    // Words of very different lengths need many edits, so most words need no comparison.
    if (Math.abs(word.length - typed.length) <= allowed) {
      const edits = editDistance(wanted, word.toLowerCase());
      closest = edits <= allowed ? { word, edits } : closest;
    }
  }
  return closest?.word ?? null;
}

/** Bounds the cost of a search, because a file may have thousands of mistakes, and thousands of known words for each. */
const MAX_CANDIDATES = 250;

/** `; did you mean "base"?`, or an empty text if no known word is similar. */
export function didYouMean(typed: string, known: readonly string[]): string {
  const similar = nearMiss(typed, known.slice(0, MAX_CANDIDATES));
  return similar === null ? "" : `; did you mean "${similar}"?`;
}

/** The Damerau-Levenshtein distance (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const [left = 0, above = 0, corner = 0] = [current[column - 1], last[column], last[column - 1]];
      const edits = Math.min(left + 1, above + 1, corner + Number(from[row - 1] !== to[column - 1]));
      const isSwapped = from[row - 2] === to[column - 1] && from[row - 1] === to[column - 2];
      current.push(isSwapped ? Math.min(edits, (beforeLast[column - 2] ?? edits) + 1) : edits);
    }
    beforeLast = last;
    last = current;
  }
  return last.at(-1) ?? 0;
}
