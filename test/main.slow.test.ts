import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { CHAINS_YAML } from "./support/command-world.ts";
import { mountConfigMap } from "./support/config-map.ts";
import { runSynclag, startSynclag } from "./support/synclag-process.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// Each test starts its own process, which mostly waits, so the tests run in parallel.
describe.concurrent("main", () => {
  it("exits in order when the reader of its output closes the pipe", async () => {
    await using running = startSynclag(["config", "schema"], { cwd: tmpdir() });
    running.child.stdout.destroy();

    const { exitCode, err } = await running.finished;

    expect(err).toBe("");
    expect(exitCode).toBe(0);
  });

  it.each([
    { args: ["config", "schema"], code: 1 },
    { args: ["check"], code: 3 },
  ])("exits with $code if the output of $args does not fit on the disk", async ({ args, code }) => {
    await using folder = await temporaryFolder();
    writeFileSync(join(folder.path, "chains.yaml"), CHAINS_YAML);

    const { exitCode, err } = await runSynclag(args, { cwd: folder.path, redirect: ">/dev/full" });

    expect(err).toContain("synclag: Cannot write the output: ENOSPC: no space left on device");
    expect(exitCode).toBe(code);
  });

  it("keeps the daemon running if the disk is full for the log", async () => {
    await using folder = await temporaryFolder();
    writeFileSync(join(folder.path, "chains.yaml"), CHAINS_YAML);
    await using synclag = startSynclag(["run"], { cwd: folder.path, redirect: "2>/dev/full" });
    const url = await vi.waitFor(() => urlOf(folder.path), 50_000);

    // The address is published before the first line is logged.
    const { status } = await vi.waitFor(() => fetch(`${url}/-/ready`), 50_000);

    expect([200, 503]).toContain(status);
    expect(synclag.child.exitCode).toBeNull();
  });

  it("does not open a debugger for SIGUSR1", async () => {
    await using folder = await temporaryFolder();
    writeFileSync(join(folder.path, "chains.yaml"), CHAINS_YAML);
    await using synclag = startSynclag(["run"], { cwd: folder.path });
    await synclag.logged(/"msg":"Started"/);

    synclag.child.kill("SIGUSR1");
    const { status } = await fetch(`${urlOf(folder.path)}/-/healthy`);
    synclag.child.kill("SIGTERM");

    expect(status).toBe(200);
    expect((await synclag.finished).err).not.toContain("Debugger");
  });

  it("serves each page while no file descriptor is left, and afterwards", async () => {
    await using folder = await temporaryFolder();
    writeFileSync(join(folder.path, "chains.yaml"), CHAINS_YAML);
    await using synclag = startSynclag(["run"], { cwd: folder.path, openFiles: 200 });
    await synclag.logged(/"msg":"Started"/);
    const { hostname, port } = new URL(urlOf(folder.path));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const statusOf = (path: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const request = get({ agent, hostname, port, path }, (response) => {
          response.on("end", () => resolve(response.statusCode)).resume();
        });
        request.on("error", reject);
      });
    await statusOf("/-/healthy");
    const idle = Array.from({ length: 220 }, () => connect(Number(port), hostname));
    await vi.waitFor(() => expect(openFilesOf(synclag.child.pid)).toBeGreaterThan(199), 10_000);

    const without = await statusesOf(statusOf);
    for (const socket of idle) {
      socket.destroy();
    }
    await vi.waitFor(() => expect(openFilesOf(synclag.child.pid)).toBeLessThan(100), 10_000);
    const afterwards = await statusesOf(statusOf);
    agent.destroy();

    expect(without).toEqual(PAGES.map((path) => `200 ${path}`));
    expect(afterwards).toEqual(without);
  });

  it("reloads after its start for a SIGHUP that came during it", async () => {
    await using folder = await temporaryFolder();
    writeFileSync(join(folder.path, "chains.yaml"), CHAINS_YAML);
    await using synclag = startSynclag(["run"], { cwd: folder.path });
    await vi.waitFor(() => expect(handlesHangup(synclag.child.pid)).toBe(true), {
      timeout: 50_000,
      interval: 5,
    });

    synclag.child.kill("SIGHUP");

    await synclag.logged(/"msg":"Started"[\s\S]*"msg":"Reloaded"/);

    synclag.child.kill("SIGTERM");
    expect((await synclag.finished).exitCode).toBe(0);
  });

  it("exits despite a SIGHUP during the last write of its state", async () => {
    await using folder = await temporaryFolder();
    writeFileSync(join(folder.path, "chains.yaml"), CHAINS_YAML.replace("9/", '9/", schedule: "* * * * * *'));
    await using synclag = startSynclag(["run"], { cwd: folder.path });
    await synclag.logged(/"msg":"First round done"/);
    // The write waits until somebody reads the pipe.
    const temporary = join(folder.path, "synclag.state.json.tmp");
    execFileSync("mkfifo", [temporary]);

    synclag.child.kill("SIGTERM");
    await synclag.logged(/"msg":"Stopping"/);
    synclag.child.kill("SIGHUP");
    await readFile(temporary);

    const { exitCode, err } = await synclag.finished;
    expect(exitCode).toBe(0);
    expect(err).not.toContain("Reloaded");
    expect(existsSync(join(folder.path, "synclag.state.json.lock"))).toBe(false);
  });

  it("exits even if its state cannot be written in time", async () => {
    await using folder = await temporaryFolder();
    writeFileSync(join(folder.path, "chains.yaml"), CHAINS_YAML);
    await using synclag = startSynclag(["run"], { cwd: folder.path });
    await synclag.logged(/"msg":"First round done"/);
    // The write takes longer than the process waits when it stops.
    const temporary = join(folder.path, "synclag.state.json.tmp");
    execFileSync("mkfifo", [temporary]);

    synclag.child.kill("SIGTERM");
    await synclag.logged(/Cannot stop in time: exiting before everything is written/);
    await readFile(temporary);

    const { exitCode, err } = await synclag.finished;
    expect(err).not.toContain("this is a bug");
    expect(exitCode).toBe(1);
  });

  it("reloads a changed ConfigMap with --watch-config, and refuses a bad one as on SIGHUP", async () => {
    await using folder = await temporaryFolder();
    const mount = mountConfigMap(folder.path, CHAINS_YAML);
    await using synclag = startSynclag(["run", "--watch-config"], { cwd: folder.path });
    const [, url] = await synclag.logged(/"url":"([^"]+)"/);

    mount.update(CHAINS_YAML.replace("airdrops", "airdorps: oops"));
    await synclag.logged(/"msg":"Reload failed; keeping the current configuration"/);
    const refused = await (await fetch(`${url}/metrics`)).text();
    mount.update(CHAINS_YAML.replace("airdrops", "lockup"));
    await synclag.logged(/"msg":"Reloaded"/);
    const reloaded = await (await fetch(`${url}/metrics`)).text();

    expect(refused).toMatch(/^synclag_config_last_reload_successful 0$/m);
    expect(refused).toContain('protocol="airdrops"');
    expect(reloaded).toMatch(/^synclag_config_last_reload_successful 1$/m);
    expect(reloaded).toContain('protocol="lockup"');
    expect(reloaded).not.toContain('protocol="airdrops"');
  });
});

/** Commands that load code or read files of their own. */
const PAGES = ["/metrics", "/", "/incidents", "/plan", "/openapi.json", "/docs/statuses", "/docs/api"];

async function statusesOf(statusOf: (path: string) => Promise<number | undefined>) {
  const statuses: string[] = [];
  for (const path of PAGES) {
    statuses.push(`${await statusOf(path)} ${path}`);
  }
  return statuses;
}

/** Where the daemon of this folder serves, as its lock says. */
function urlOf(folder: string): string {
  const { url } = JSON.parse(readFileSync(join(folder, "synclag.state.json.lock"), "utf8")) as {
    readonly url: string;
  };
  expect(url).not.toBe("");
  return url;
}

function openFilesOf(pid: number | undefined): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Whether a process has a handler of SIGHUP, which is the first signal of the kernel's mask. */
function handlesHangup(pid: number | undefined): boolean {
  const [, mask = "0"] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (BigInt(`0x${mask}`) & 1n) === 1n;
}
