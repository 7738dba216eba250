import type { Writable } from "node:stream";

/** While more bytes than this wait for a stalled reader, such as a log collector, new lines are lost. */
const MAX_WAITING_BYTES = 1_048_576;

/**
 * Writes lines to a stream. While its reader stalls, lines beyond a limit are lost. Their number is written before the
 * next line that is not lost.
 */
export function lineWriter(stream: Writable): (line: string) => void {
  let lost = 0;
  return (line) => {
    if (stream.writableLength > MAX_WAITING_BYTES) {
      lost += 1;
      return;
    }
    if (lost > 0) {
      stream.write(`synclag: ${lost} lines lost: the reader of this output stalled\n`);
      lost = 0;
    }
    stream.write(`${line}\n`);
  };
}
