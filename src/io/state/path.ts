import { lstat, open, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { hasCode, isSystemError, orNull } from "../system-error.ts";

/** The file cannot be read or written, for a reason that the user has to remove. */
export class StateFileError extends Error {
  override readonly name = "StateFileError";

  constructor(verb: string, { path, cause }: { readonly path: string; readonly cause: unknown }) {
    super(`Cannot ${verb} the state file ${path}: ${reasonOf(cause)}; choose another with --state`, {
      cause,
    });
  }
}

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

/** What the text of a state file begins with, as this version writes it. */
export const STATE_HEAD = '{"version":2,"savedAtMs":';
const ANY_HEAD = /^\s*\{\s*"version"\s*:[^,]*,\s*"savedAtMs"\s*:/;
const HEAD_BYTES = 256;
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
  const real = await orNull(realpath(path), "ENOENT");
  if (real !== null) {
    return real;
  }
  const target = await orNull(readlink(path), "ENOENT", "EINVAL");
  if (target !== null && followed < MAX_LINKS) {
    return await followLinks(resolve(dirname(path), target), followed + 1);
  }
  const folder = dirname(path);
  return join(folder === path ? folder : await realpath(folder), basename(path));
}

async function assertStateFile(path: string, real: string): Promise<void> {
  const stats = await orNull(lstat(real), "ENOENT");
  if (stats === null) {
    return;
  }
  if (!stats.isFile()) {
    throw new StatePathError(stats.isDirectory() ? "it is a folder" : "it is not a regular file", { path });
  }
  await using file = await open(real, "r");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const head = buffer.toString("utf8", 0, bytesRead);
  // A full disk leaves an empty file or the beginning of one, and a power cut NUL characters.
  if (!ANY_HEAD.test(head) && !STATE_HEAD.startsWith(head.replaceAll("\0", ""))) {
    throw new StatePathError("it is not a state file of Synclag", { path });
  }
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
  const reason = REASONS[code];
  return reason === undefined ? code : `${reason} (${code})`;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "no permission",
  EBUSY: "it cannot be replaced; mount its folder, not the file itself",
  EDQUOT: "the disk quota is used up",
  EIO: "the disk failed",
  EISDIR: "it is a folder",
  EMFILE: "too many open files",
  ENOENT: "its folder does not exist",
  ENOSPC: "no space left on the disk",
  EROFS: "the file system is read-only",
};
