import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { startSynclag } from "./support/synclag-process.ts";

describe("main", () => {
  it("takes a reader that has read enough for no bug", async () => {
    await using running = startSynclag(["config", "schema"], { cwd: tmpdir() });
    running.child.stdout.destroy();

    const { exitCode, err } = await running.finished;

    expect(err).toBe("");
    expect(exitCode).toBe(0);
  });
});
