import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from "node:fs";
import type { Logger } from "pino";

export interface RecordingFileOptions {
  readonly logger: Pick<Logger, "error">;
  /** A file that would become larger is renamed to `FILE.1`, which replaces an older one. Default: 256 MB. */
  readonly maxBytes?: number;
}

/** Appends lines to a file. Disposing it closes the file. */
export interface RecordingFile extends Disposable {
  readonly append: (lines: readonly string[]) => void;
}

const MAX_BYTES = 256_000_000;
/** Longer than any line. */
const TAIL_BYTES = 65_536;
const NEWLINE = 10;

interface OpenFile {
  readonly fd: number;
  readonly bytes: number;
}

/**
 * Opens a recording for appending. A last line that a crash left incomplete is cut off. If a write fails, the lines are lost,
 * and the failure is logged once.
 *
 * @throws If the file cannot be opened.
 */
export function openRecordingFile(
  path: string,
  { logger, maxBytes = MAX_BYTES }: RecordingFileOptions,
): RecordingFile {
  let file: OpenFile | null = openAtEnd(path);
  let isFailing = false;

  function write(text: Buffer): void {
    file ??= openAtEnd(path);
    if (file.bytes > 0 && file.bytes + text.length > maxBytes) {
      close();
      renameSync(path, `${path}.1`);
      file = openAtEnd(path);
    }
    writeSync(file.fd, text, 0, text.length, file.bytes);
    file = { fd: file.fd, bytes: file.bytes + text.length };
  }

  function close(): void {
    if (file !== null) {
      closeSync(file.fd);
      file = null;
    }
  }

  return {
    append(lines) {
      try {
        write(Buffer.from(lines.map((line) => `${line}\n`).join("")));
        isFailing = false;
      } catch (error) {
        // Opened again for the next lines, which cuts off what was written of these.
        close();
        if (!isFailing) {
          isFailing = true;
          const fields = { file: path, detail: String(error) };
          logger.error(fields, "Cannot write the recording; observations are lost");
        }
      }
    },
    [Symbol.dispose]: close,
  };
}

function openAtEnd(path: string): OpenFile {
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  const { size } = fstatSync(fd);
  const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
  readSync(fd, tail, 0, tail.length, size - tail.length);
  const bytes = size - tail.length + tail.lastIndexOf(NEWLINE) + 1;
  ftruncateSync(fd, bytes);
  return { fd, bytes };
}
