import type { Writable } from "node:stream";

/** At most this number of bytes waits for a stalled reader, such as a full pipe to a log collector. */
const MAX_WAITING_BYTES = 1_048_576;

/**
 * Writes lines to a stream. While its reader stalls, lines beyond a limit are lost; their number is written once it reads
 * again.
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
