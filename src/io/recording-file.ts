import { appendFile, open, rename, stat } from "node:fs/promises";
import type { Logger } from "pino";
import { realPathOf } from "./real-path.ts";
import { orNull } from "./system-error.ts";

export interface RecordingFileOptions {
  readonly logger: Pick<Logger, "error" | "info">;
  /** The path of the state file. The recording must not be this file, or another file of the state, such as its lock. */
  readonly stateFile: string;
  /** A file that would become larger than this is renamed to `FILE.1` first, replacing an older one. Default: 256 MB. */
  readonly maxBytes?: number;
}

/** Appends lines to a file in the background, so that a poll never waits for the disk. */
export interface RecordingFile {
  readonly append: (lines: readonly string[]) => void;
}

const MAX_BYTES = 256_000_000;
/** While more characters than this wait for a slow disk, new lines are lost. */
const MAX_WAITING = 16_000_000;
/** How each line begins. */
const START = /^\{"(?:source|restart)":/;
const START_BYTES = 16;

/**
 * Opens a recording for appending. Null: the path is a file of the state, or a file at the path or at `FILE.1` is not a
 * recording. If a write fails, its lines are lost, and its beginning and end are logged. Disposing writes the waiting lines.
 *
 * @throws If the file cannot be opened.
 */
export async function openRecordingFile(
  path: string,
  { logger, maxBytes = MAX_BYTES, stateFile }: RecordingFileOptions,
): Promise<(RecordingFile & AsyncDisposable) | null> {
  const [real, state] = await Promise.all([realPathOf(path), realPathOf(stateFile)]);
  const isBesideState = real === state || real.startsWith(`${state}.`);
  if (isBesideState || !(await isUsable(path)) || !(await isUsable(`${path}.1`))) {
    return null;
  }
  await appendFile(path, "", { mode: 0o600 });
  let { size } = await stat(path);
  // A crash or a full disk may have left the last line incomplete: the next line must not continue it.
  let isWhole = size === 0;
  let isFailing = false;
  let waiting = "";
  let writing: Promise<void> | null = null;

  async function write(): Promise<void> {
    while (waiting !== "") {
      const text = `${isWhole ? "" : "\n"}${waiting}`;
      waiting = "";
      isWhole = false;
      try {
        if (size > 0 && size + text.length > maxBytes) {
          await rename(path, `${path}.1`);
          size = 0;
        }
        await appendFile(path, text, { mode: 0o600 });
        size += text.length;
        isWhole = true;
        if (isFailing) {
          isFailing = false;
          logger.info({ file: path }, "Recording writable again");
        }
      } catch (error) {
        fail(String(error));
      }
    }
    writing = null;
  }

  function fail(detail: string): void {
    if (!isFailing) {
      isFailing = true;
      logger.error({ file: path, detail }, "Cannot write the recording; observations are lost");
    }
  }

  return {
    append(lines) {
      if (waiting.length > MAX_WAITING) {
        fail("the disk is too slow");
        return;
      }
      waiting += lines.map((line) => `${line}\n`).join("");
      writing ??= write();
    },
    async [Symbol.asyncDispose]() {
      await writing;
    },
  };
}

/** Whether the path is free, or a recording. Only a regular file is opened: opening a FIFO waits for its reader. */
async function isUsable(path: string): Promise<boolean> {
  const stats = await orNull(stat(path), "ENOENT");
  if (stats === null || !stats.isFile()) {
    return stats === null;
  }
  await using file = await open(path, "r");
  const { buffer } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
  return stats.size === 0 || START.test(buffer.toString("latin1"));
}
