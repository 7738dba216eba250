import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const undoings: (() => unknown)[] = [];

/** Has something undone when the test file is through, last first, even where its set-up breaks off half-way. */
export function undoLater(undoing: () => unknown): void {
  undoings.push(undoing);
}

afterAll(async () => {
  for (const undoing of undoings.splice(0).reverse()) {
    await undoing();
  }
});

/** A new folder that is gone when the test file is through. */
export async function temporaryFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `synclag-${name}-`));
  undoLater(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
