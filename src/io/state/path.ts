import { open, stat } from "node:fs/promises";
import { whyUnwritable } from "../../core/model/why-failed.ts";
import { realPathOf } from "../real-path.ts";
import { isSystemError, orNull } from "../system-error.ts";

/** The state file cannot be read or written, for a reason that the user has to remove, such as a missing permission. */
export class StateFileError extends Error {
  override readonly name = "StateFileError";

  constructor(verb: string, path: string, cause: Error) {
    const why = `${whyUnwritable(cause)}; choose another file with --state (in a container: in a mounted folder)`;
    super(`Cannot ${verb} the state file ${path}: ${why}`, { cause });
  }
}

/** Something other than a state file is at the path that the user gave. It is left as it is. */
export class StatePathError extends Error {
  override readonly name = "StatePathError";

  constructor(reason: string, path: string) {
    super(
      `Cannot use ${JSON.stringify(path)} as the state file: ${reason}; choose another file with --state`,
    );
  }
}

/** Runs an operation on a state file or a file next to it. @throws {StateFileError} If the operation fails on the disk. */
export async function onStateFile<T>(verb: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw isSystemError(cause) ? new StateFileError(verb, path, cause) : cause;
  }
}

/** The beginning of a state file of this version. */
export const STATE_HEAD = '{"version":2,"savedAtMs":';
const ANY_HEAD = /^\s*\{\s*"version"\s*:[^,]*,\s*"savedAtMs"\s*:/;
const HEAD_BYTES = 256;

/**
 * The real path of a state file, so that a link and its target have one lock. The file need not exist.
 *
 * @throws {StatePathError} If something else is at the path, such as a device or the configuration.
 * @throws {StateFileError} If the path cannot be read.
 */
export async function resolveStatePath(path: string): Promise<string> {
  return await onStateFile("read", path, async () => {
    const real = await realPathOf(path);
    const stats = await orNull(stat(real), "ENOENT");
    if (stats !== null && !stats.isFile()) {
      throw new StatePathError(stats.isDirectory() ? "it is a folder" : "it is not a regular file", path);
    }
    if (stats !== null && !(await isStateFile(real))) {
      throw new StatePathError("it is not a state file of Synclag", path);
    }
    return real;
  });
}

async function isStateFile(path: string): Promise<boolean> {
  await using file = await open(path, "r");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const head = buffer.toString("utf8", 0, bytesRead);
  // After a full disk, the file is empty or only the beginning of a state file. After a power cut it may contain NUL characters.
  return ANY_HEAD.test(head) || STATE_HEAD.startsWith(head.replaceAll("\0", ""));
}
