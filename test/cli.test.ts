import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { CHAINS_YAML } from "./support/command-world.ts";
import { runSynclag, startSynclag } from "./support/synclag-process.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

vi.setConfig({ testTimeout: 30_000 });

describe("synclag", () => {
  it("tells its version", async () => {
    const { exitCode, out } = await runSynclag(["--version"], { cwd: "." });

    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: `${version}\n` });
  });
});

describe("synclag run", () => {
  it("serves, reloads on SIGHUP, and ends with 0 on SIGTERM", async () => {
    await using folder = await temporaryFolder();
    writeFileSync(`${folder.path}/chains.yaml`, CHAINS_YAML);
    await using synclag = startSynclag(["run"], { cwd: folder.path });
    const [, url = ""] = await synclag.logged(/"url":"([^"]+)"/);

    const healthy = await fetch(`${url}/-/healthy`);
    writeFileSync(`${folder.path}/chains.yaml`, CHAINS_YAML.replace("version: 1", "version: 2"));
    synclag.child.kill("SIGHUP");
    await synclag.logged(/Reload failed/);
    writeFileSync(`${folder.path}/chains.yaml`, CHAINS_YAML);
    synclag.child.kill("SIGHUP");
    await synclag.logged(/"msg":"Reloaded"/);
    synclag.child.kill("SIGTERM");

    expect(healthy.status).toBe(200);
    expect((await synclag.finished).exitCode).toBe(0);
  });
});
