import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { runCli } from "../src/cli.ts";
import { commandWorld } from "./support/command-world.ts";
import { runSynclag, startSynclag } from "./support/synclag-process.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

vi.setConfig({ testTimeout: 30_000 });

const CHAINS_YAML = `
version: 1
chains:
  base: { id: 8453, name: Base, block_time: 2s }
protocols:
  airdrops:
    - { variant: multichain, url: "http://127.0.0.1:9/graphql", chains: [base] }
`;

describe("synclag", () => {
  it("tells its version", async () => {
    const { exitCode, out } = await runSynclag(["--version"], { cwd: "." });

    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: `${version}\n` });
  });

  it.each([
    { args: ["frob"], says: "unknown command 'frob'" },
    { args: ["run", "--log-level", "loud"], says: "Allowed choices are debug, info, warn, error" },
    { args: ["run", "--listen", "nowhere"], says: 'Cannot listen on "nowhere": expected HOST:PORT' },
    { args: ["run", "--config", "absent.yaml"], says: "Cannot read absent.yaml: no such file" },
    { args: ["plan", "--config", "absent.yaml"], says: "Cannot read absent.yaml: no such file" },
  ])("ends with 2 for $args", async ({ args, says }) => {
    const { exitCode, err } = await run(args);

    expect(err).toContain(says);
    expect(exitCode).toBe(2);
  });

  it("ends with 3 for a check whose configuration cannot be read", async () => {
    const { exitCode, err } = await run(["check", "--config", "absent.yaml"]);

    expect(err).toContain("Cannot read absent.yaml: no such file");
    expect(exitCode).toBe(3);
  });
});

describe("synclag run", () => {
  it("serves, reloads on SIGHUP, and ends with 0 on SIGTERM", async () => {
    await using folder = await temporaryFolder();
    writeFileSync(`${folder.path}/chains.yaml`, CHAINS_YAML);
    await using synclag = startSynclag(["run", "--listen", "127.0.0.1:0"], { cwd: folder.path });
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

/** Runs a command in this process. */
async function run(args: readonly string[]) {
  const { world, printed } = commandWorld({});
  const exitCode = await runCli(["node", "synclag", ...args], world);
  return { exitCode, err: printed.err.join("\n") };
}
