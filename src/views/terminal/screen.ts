/** The escape sequences of colours, which take no room. */
const COLOR = /\p{Cc}\[[\d;]*m/gu;
const HOME = "\u001B[H";
const CLEAR_LINE = "\u001B[K";
const CLEAR_BELOW = "\u001B[J";

/** The size of a terminal; null: unknown. */
export interface ScreenSize {
  readonly columns: number | null;
  readonly rows: number | null;
}

/**
 * The escape sequences that draw a text over the previous one, from the top. Lines that do not fit are left out, so that the
 * first lines stay in view.
 */
export function screenOf(text: string, { columns, rows }: ScreenSize): string {
  const lines: string[] = [];
  // The cursor needs the last row.
  let free = (rows ?? Number.POSITIVE_INFINITY) - 1;
  for (const line of text.split("\n")) {
    const length = line.replace(COLOR, "").length;
    free -= Math.max(1, Math.ceil(length / (columns ?? Number.POSITIVE_INFINITY)));
    if (free < 0) {
      break;
    }
    lines.push(`${line}${CLEAR_LINE}`);
  }
  return `${HOME}${lines.join("\n")}${CLEAR_BELOW}`;
}
