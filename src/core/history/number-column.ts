/** What a column holds: safe integers, or null where nothing is known. */
export type Column = readonly (number | null)[];

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES: ReadonlyMap<string, number> = new Map([...DIGITS].map((digit, value) => [digit, value]));
/** A digit carries five bits; from here on another one follows. */
const MORE = 32;
const NOTHING = ".";

/** Every text that a column can be written as. */
export const COLUMN_TEXT: RegExp = /^[A-Za-z0-9+/.]*$/;

/**
 * Writes a column as text: each number as its difference to the one before, in as many digits of base 64 as it needs,
 * the lowest first. What moves evenly takes one to three characters a number.
 */
export function writeColumn(column: Column): string {
  let former = 0;
  return column
    .map((value) => {
      const text = value === null ? NOTHING : writeNumber(value - former);
      former = value ?? former;
      return text;
    })
    .join("");
}

/** Reads what `writeColumn` has written. */
export function readColumn(text: string): Column {
  const column: (number | null)[] = [];
  let former = 0;
  let folded = 0;
  let weight = 1;
  for (const digit of text) {
    const value = VALUES.get(digit);
    if (value === undefined) {
      column.push(null);
      continue;
    }
    folded += (value % MORE) * weight;
    weight *= MORE;
    if (value < MORE) {
      former += unfold(folded);
      column.push(former);
      folded = 0;
      weight = 1;
    }
  }
  return column;
}

function writeNumber(value: number): string {
  let rest = value < 0 ? -2 * value - 1 : 2 * value;
  let text = "";
  while (rest >= MORE) {
    text += DIGITS.charAt(MORE + (rest % MORE));
    rest = Math.floor(rest / MORE);
  }
  return text + DIGITS.charAt(rest);
}

/** Small numbers of either sign are small without one: 0, -1, 1, -2, … */
function unfold(folded: number): number {
  return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
}
