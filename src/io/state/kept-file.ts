import { open, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { orNull } from "../system-error.ts";
import type { World } from "../world.ts";
import { onStateFile, StateFileError } from "./path.ts";

// The rule of every file that outlives the process: it is read once, at the start. One that cannot be used is renamed, never deleted.
// It is written as a whole, or a line is appended.

/** No file of ours is longer, and a string can hold as much. */
const MAX_FILE_BYTES = 500_000_000;
const TOO_LONG = "it is longer than 500 MB";
/** The size of one write: worth a system call, and built in less than a millisecond. */
const CHUNK_CHARS = 65_536;

/** Parses the text of a file, or explains why it cannot be used. */
type Parse<Content extends object> = (text: string) => Content | string;

/**
 * The parsed content of a file, or why it cannot be used; null if there is no file.
 *
 * @throws {StateFileError} If the disk refuses.
 */
export async function readKept<Content extends object>(
  path: string,
  parse: Parse<Content>,
): Promise<Content | string | null> {
  return await onStateFile("read", path, async () => {
    const stats = await orNull(stat(path), "ENOENT");
    if (stats !== null && stats.size > MAX_FILE_BYTES) {
      return TOO_LONG;
    }
    const text = stats && (await orNull(readFile(path, "utf8"), "ENOENT"));
    return text === null ? null : parse(text);
  });
}

/**
 * As `readKept`, but a file that cannot be used is renamed to `….broken-<time>`, and `onMoved` is called with the fields of a log line.
 *
 * @throws {StateFileError} If the disk refuses.
 */
export async function readOrMoveAside<Content extends object>(
  path: string,
  parse: Parse<Content>,
  nowMs: number,
  onMoved: (fields: { readonly reason: string; readonly movedTo: string }) => void,
): Promise<Content | null> {
  const found = await readKept(path, parse);
  if (typeof found !== "string") {
    return found;
  }
  const movedTo = `${path}.broken-${new Date(nowMs).toISOString().replace(/[-:.]/g, "")}`;
  await onStateFile("move aside", path, () => rename(path, movedTo));
  onMoved({ reason: found, movedTo });
  return null;
}

/** As `readOrMoveAside`, of a file that the daemon can do without: null where the disk refuses. `messages`: what the log says then. */
export async function readOptional<Content extends object>(
  path: string,
  parse: Parse<Content>,
  { logger, nowMs }: Pick<World, "logger" | "nowMs">,
  messages: { readonly unusable: string; readonly unreadable: string },
): Promise<Content | null> {
  try {
    return await readOrMoveAside(path, parse, nowMs(), (fields) => logger.warn(fields, messages.unusable));
  } catch (error) {
    if (!(error instanceof StateFileError)) {
      throw error;
    }
    logger.warn({ detail: String(error) }, messages.unreadable);
    return null;
  }
}

/**
 * Replaces a file as a whole: a reader, even after a crash or a power cut, finds the old text or the new one.
 *
 * The new text is written to a temporary file beside it, part by part, and renamed once it is on disk. Only one
 * process may write the same path at a time.
 */
export async function writeAtomically(path: string, text: string | Iterable<string>): Promise<void> {
  const temporary = `${path}.tmp`;
  {
    await using file = await open(temporary, "w");
    await writeFile(file, typeof text === "string" ? text : chunksOf(text));
    await file.sync();
  }
  await rename(temporary, path);
  // Otherwise a power cut may undo the rename. Windows and some network file systems cannot do this.
  await orNull(syncFolder(dirname(path)), "EPERM", "EISDIR", "EINVAL", "ENOTSUP", "EACCES");
}

function* chunksOf(parts: Iterable<string>): Iterable<string> {
  let chunk = "";
  for (const part of parts) {
    chunk += part;
    if (chunk.length >= CHUNK_CHARS) {
      yield chunk;
      chunk = "";
    }
  }
  yield chunk;
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}
