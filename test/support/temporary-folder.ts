import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that is gone at the end of the scope. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "synclag-"));
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true });
    },
  };
}
