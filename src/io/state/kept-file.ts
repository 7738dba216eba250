import { open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { orNull } from "../system-error.ts";
import type { World } from "../world.ts";
import { onStateFile, StateFileError } from "./path.ts";

// The state file and the files beside it, except the lock, are read at the start. Later they are rewritten, or lines are appended.

/** Larger than any file that Synclag writes, and small enough for a string. */
const MAX_FILE_BYTES = 500_000_000;
/** The size of one write. Its text is built in less than a millisecond. */
const CHUNK_CHARS = 65_536;

/** The text of a file; null: no such file. @throws {StateFileError} If it cannot be read, or is larger than any file of Synclag. */
export async function readKept(path: string): Promise<string | null> {
  return await onStateFile("read", path, async () => {
    const stats = await orNull(stat(path), "ENOENT");
    if (stats !== null && stats.size > MAX_FILE_BYTES) {
      throw new StateFileError("read", path, new Error("it is longer than 500 MB"));
    }
    return stats && (await orNull(readFile(path, "utf8"), "ENOENT"));
  });
}

/**
 * The text of a file that the daemon can do without. Null: the file is absent, or cannot be read and `message` was logged.
 */
export async function readOptional(
  path: string,
  { logger }: Pick<World, "logger">,
  message: string,
): Promise<string | null> {
  try {
    return await readKept(path);
  } catch (error) {
    if (!(error instanceof StateFileError)) {
      throw error;
    }
    logger.warn({ detail: error.message }, message);
    return null;
  }
}

/**
 * Replaces a file as a whole: a reader, even after a crash or a power cut, finds the old text or the new one.
 *
 * The new text is written to a temporary file beside the old one, which is renamed once it is on disk. Only one process may
 * write the same path at a time.
 */
export async function writeAtomically(path: string, text: string | Iterable<string>): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    await writeSynced(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    // On a full disk, what was written of it would take the room that the next attempt needs.
    await orNull(rm(temporary, { force: true }));
    throw error;
  }
  // Without this, a power cut may undo the rename. Windows and some network file systems do not support it.
  await orNull(syncFolder(dirname(path)), "EPERM", "EISDIR", "EINVAL", "ENOTSUP", "EACCES");
}

async function writeSynced(path: string, text: string | Iterable<string>): Promise<void> {
  await using file = await open(path, "w");
  await writeFile(file, typeof text === "string" ? text : chunksOf(text));
  await file.sync();
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
