import { open, realpath, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode } from "../system-error.ts";

/** The size of one write: worth a system call, and built in less than a millisecond. */
const CHUNK_CHARS = 65_536;

/**
 * Replaces a file as a whole: a reader, even after a crash or a power cut, finds the old text or the new one.
 *
 * The new text is written to a temporary file beside it, part by part, and renamed once it is on disk. Only one
 * process may write the same path at a time.
 */
export async function writeAtomically(path: string, text: string | Iterable<string>): Promise<void> {
  const target = await followLink(path);
  const temporary = `${target}.tmp`;
  const file = await open(temporary, "w");
  try {
    await writeFile(file, typeof text === "string" ? text : chunksOf(text));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, target);
  await syncFolder(dirname(target));
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

/** A link stays a link. */
async function followLink(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) {
      return path;
    }
    throw error;
  }
}

/** Otherwise a power cut may undo the rename. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    // Windows and some network file systems cannot do this.
    if (!hasCode(error, "EPERM", "EISDIR", "EINVAL", "ENOTSUP", "EACCES")) {
      throw error;
    }
  }
}
