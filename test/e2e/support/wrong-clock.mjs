import { readFileSync } from "node:fs";

/*
 * Preloaded into a program (`node --import`): its wall clock is wrong by as many milliseconds as the file that
 * `WRONG_CLOCK_FILE` names says, while its monotonic clock and its timers go on as ever. So it is when somebody sets
 * the clock of a machine.
 */

const file = process.env["WRONG_CLOCK_FILE"] ?? "";
const TrueDate = Date;
/** The file is read at most so often. */
const FRESH_MS = 20;

let byMs = 0;
let readAtMs = Number.NEGATIVE_INFINITY;

function wrongNowMs() {
  if (performance.now() - readAtMs > FRESH_MS) {
    readAtMs = performance.now();
    byMs = Number(readFileSync(file, "utf8"));
  }
  return TrueDate.now() + byMs;
}

globalThis.Date = class extends TrueDate {
  /** @param {number[]} given As for Date. */
  constructor(...given) {
    super(...(given.length === 0 ? [wrongNowMs()] : given));
  }

  static now() {
    return wrongNowMs();
  }
};
