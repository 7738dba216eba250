import type { CommandWorld } from "./command-world.ts";

/** Whether a stream is coloured: terminals are, unless `NO_COLOR` is set and not empty (https://no-color.org). */
export function colorsFor(stream: "out" | "err", world: CommandWorld): "ansi" | "none" {
  const isTerminal = stream === "out" ? world.outIsTerminal : world.errIsTerminal;
  return isTerminal && (world.env["NO_COLOR"] ?? "") === "" ? "ansi" : "none";
}

const LINE_UP = "\u001B[1A";
const CLEAR_LINE = "\u001B[2K";

/**
 * One line on stderr that is updated in place if it is a terminal; otherwise nothing is printed. `clear` removes it before
 * the result is printed. `err` ends every line with a line feed, so the cursor goes up one line before the text is replaced.
 */
export function createProgressLine({ err, errIsTerminal }: CommandWorld) {
  let isShown = false;
  return {
    show(text: string): void {
      if (errIsTerminal) {
        err(isShown ? `${LINE_UP}${CLEAR_LINE}${text}` : text);
        isShown = true;
      }
    },
    clear(): void {
      if (isShown) {
        err(`${LINE_UP}${CLEAR_LINE}${LINE_UP}`);
      }
    },
  };
}
