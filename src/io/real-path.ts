import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { orNull } from "./system-error.ts";

/** The real path of a file, whether it exists or not. */
export async function realPathOf(path: string): Promise<string> {
  const real = await orNull(realpath(path), "ENOENT");
  const target = real === null ? await orNull(readlink(path), "ENOENT", "EINVAL") : null;
  if (target !== null) {
    return await realPathOf(resolve(dirname(path), target));
  }
  return real ?? join(await realpath(dirname(path)), basename(path));
}
