import { appendFileSync, closeSync, openSync, readSync, renameSync, statSync } from "node:fs";
import type { Logger } from "pino";

export interface RecordingFileOptions {
  readonly logger: Pick<Logger, "error">;
  /** A file that would become larger is renamed to `FILE.1`, which replaces an older one. Default: 256 MB. */
  readonly maxBytes?: number;
}

/** Appends lines to a file. */
export interface RecordingFile {
  readonly append: (lines: readonly string[]) => void;
}

const MAX_BYTES = 256_000_000;
/** How each line begins. */
const START = /^\{"(?:source|restart)":/;
const START_BYTES = 16;

/**
 * Opens a recording for appending; null: the file is no recording. If a write fails, the lines are lost, and the failure is
 * logged once.
 *
 * @throws If the file cannot be opened.
 */
export function openRecordingFile(
  path: string,
  { logger, maxBytes = MAX_BYTES }: RecordingFileOptions,
): RecordingFile | null {
  const write = (text: string) => appendFileSync(path, text, { mode: 0o600 });
  write("");
  let { size } = statSync(path);
  if (size > 0 && !START.test(startOf(path))) {
    return null;
  }
  // A crash or a full disk may have left the last line incomplete: the next one must not continue it.
  let isWhole = size === 0;
  let isFailing = false;

  return {
    append(lines) {
      const text = `${isWhole ? "" : "\n"}${lines.map((line) => `${line}\n`).join("")}`;
      isWhole = false;
      try {
        if (size > 0 && size + text.length > maxBytes) {
          renameSync(path, `${path}.1`);
          size = 0;
        }
        write(text);
        size += text.length;
        isWhole = true;
        isFailing = false;
      } catch (error) {
        if (!isFailing) {
          isFailing = true;
          const fields = { file: path, detail: String(error) };
          logger.error(fields, "Cannot write the recording; observations are lost");
        }
      }
    },
  };
}

function startOf(path: string): string {
  const start = Buffer.alloc(START_BYTES);
  const file = openSync(path, "r");
  readSync(file, start);
  closeSync(file);
  return start.toString("latin1");
}
