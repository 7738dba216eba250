import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { hasCode, isSystemError } from "../system-error.ts";
import { STATE_HEAD, StateFileError } from "./file.ts";

/** The path that the user gave as the state file cannot be one: whatever is there stays as it is. */
export class StatePathError extends Error {
  override readonly name = "StatePathError";

  constructor(reason: string, { path, cause }: { readonly path: string; readonly cause?: unknown }) {
    super(`Cannot use ${JSON.stringify(path)} as the state file: ${reason}; choose another with --state`, {
      cause,
    });
  }
}

/** For an error that only another path can solve: one sentence; null for any other. */
export function pathProblem(error: unknown): string | null {
  if (hasCode(error, "ENAMETOOLONG")) {
    return "the name is too long";
  }
  return hasCode(error, "ELOOP") ? "its links form a loop" : null;
}

/** Enough to recognize a state file of any version: it begins with its version and the time of writing. */
const HEAD_BYTES = 256;
const ANY_HEAD = /^\s*\{\s*"version"\s*:[^,]*,\s*"savedAtMs"\s*:/;
/** More links than that are a loop. */
const MAX_LINKS = 40;

/**
 * The real path of a state file, whether it exists or not, so that a link and its target have one lock.
 *
 * @throws {StatePathError} If something else is there, such as a device or the configuration.
 * @throws {StateFileError} If the disk refuses.
 */
export async function resolveStatePath(path: string): Promise<string> {
  if (path === "") {
    throw new StatePathError("the path is empty", { path });
  }
  try {
    const real = await followLinks(path, 0);
    await assertStateFile(path, real);
    return real;
  } catch (error) {
    const problem = pathProblem(error);
    if (problem !== null) {
      throw new StatePathError(problem, { path, cause: error });
    }
    throw isSystemError(error) ? new StateFileError("read", { path, cause: error }) : error;
  }
}

async function followLinks(path: string, followed: number): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) {
      throw error;
    }
  }
  const target = await readLink(path);
  if (target !== null && followed < MAX_LINKS) {
    return await followLinks(resolve(dirname(path), target), followed + 1);
  }
  const folder = dirname(path);
  return join(folder === path ? folder : await realpath(folder), basename(path));
}

/** Null where there is no link. */
async function readLink(path: string): Promise<string | null> {
  try {
    return await readlink(path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "EINVAL")) {
      return null;
    }
    throw error;
  }
}

async function assertStateFile(path: string, real: string): Promise<void> {
  let stats: Awaited<ReturnType<typeof lstat>>;
  try {
    stats = await lstat(real);
  } catch (error) {
    if (hasCode(error, "ENOENT")) {
      return;
    }
    throw error;
  }
  if (!stats.isFile()) {
    throw new StatePathError(stats.isDirectory() ? "it is a folder" : "it is not a regular file", { path });
  }
  const head = await readHead(real);
  // A full disk leaves an empty file or the beginning of one, and a power cut NUL characters.
  if (!ANY_HEAD.test(head) && !STATE_HEAD.startsWith(head.replaceAll("\0", ""))) {
    throw new StatePathError("it is not a state file of Synclag", { path });
  }
}

async function readHead(path: string): Promise<string> {
  const file: FileHandle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
