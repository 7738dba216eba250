import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const undoings: (() => unknown)[] = [];

/** Registers an action for the end of the test file, where the last one runs first, even if the set-up fails half-way. */
export function undoLater(undoing: () => unknown): void {
  undoings.push(undoing);
}

afterAll(async () => {
  for (const undoing of undoings.splice(0).reverse()) {
    await undoing();
  }
});

/** A new folder that is removed at the end of the test file. */
export async function temporaryFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `synclag-${name}-`));
  undoLater(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
