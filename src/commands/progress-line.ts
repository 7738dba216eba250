import type { CommandWorld } from "./command-world.ts";

/** One line on a terminal's stderr that is written over and over; nothing where it is no terminal. */
export interface ProgressLine {
  readonly show: (text: string) => void;
  /** Takes the line away, so that the result stands alone. */
  readonly clear: () => void;
}

const LINE_UP = "\u001B[1A";
const CLEAR_LINE = "\u001B[2K";

/** What is written ends in a line feed: to replace the line, the cursor goes up one first. */
export function createProgressLine({ err, errIsTerminal }: CommandWorld): ProgressLine {
  if (!errIsTerminal) {
    return { show: () => undefined, clear: () => undefined };
  }
  let isShown = false;
  return {
    show(text) {
      err(isShown ? `${LINE_UP}${CLEAR_LINE}${text}` : text);
      isShown = true;
    },
    clear() {
      if (isShown) {
        err(`${LINE_UP}${CLEAR_LINE}${LINE_UP}`);
      }
    },
  };
}
