import { open, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { orNull } from "../system-error.ts";

/** The size of one write: worth a system call, and built in less than a millisecond. */
const CHUNK_CHARS = 65_536;

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
