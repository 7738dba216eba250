import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants, copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { SimulatedFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { runProgram, startServer } from "./support/program.ts";
import { STARTED, simulate } from "./support/synclag.ts";
import { temporaryFolder } from "./support/undo.ts";

const FREE = "airdrops/multichain/production/all";
const METERED = "airdrops/subgraph/production/all";
const FLEET = `
version: 1
budgets: { studio: { limit: 1000000, per: day, scope: endpoint } }
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://envio.example/", schedule: "* * * * * *", chains: [base] }
    - { variant: subgraph, dialect: graph, url: "https://graph.example/", schedule: "* * * * * *", budget: studio, chains: [base] }
`;
const PATIENCE = { timeout: 30_000, interval: 200 };

// Faults of the machine that a daemon runs on. Mounting needs root, as in the tests of the image.
describe("synclag run, with 128 open files at most, on a small disk", () => {
  it("keeps polling while clients use all connections and while the disk is full, and sends no uncounted request", async () => {
    const { fleet, config } = await simulate(FLEET);
    const disk = await mountDisk();
    copyFileSync(config, join(disk, "chains.yaml"));
    const args = ["run", "--config", join(disk, "chains.yaml"), "--listen", "127.0.0.1:0"];
    const daemon = await startServer(withOpenFiles(128, args), STARTED, "/-/healthy");
    const { url } = daemon;
    await untilAsked(fleet, [FREE, METERED], 2);

    const crowd = Array.from({ length: 100 }, () => connect(Number(new URL(url).port), "127.0.0.1"));
    for (const visitor of crowd) {
      visitor.on("error", () => undefined);
    }
    await untilAsked(fleet, [FREE], 2);
    for (const visitor of crowd) {
      visitor.destroy();
    }
    // Requests that could not be recorded meanwhile were not sent.
    await untilAsked(fleet, [FREE, METERED], 2);
    await vi.waitFor(async () => {
      // Repeatedly: a file that replaces another at that moment frees the space of the other.
      fill(disk);
      const counted = fleet.endpoint(METERED).requestCount;
      await untilAsked(fleet, [FREE], 3);
      expect(fleet.endpoint(METERED).requestCount).toBe(counted);
    }, PATIENCE);
    expect(daemon.stderr()).toContain("Cannot write the budget journal");
    const statuses = await Promise.all(
      ["/-/healthy", "/metrics", "/"].map(async (path) => (await fetch(url + path)).status),
    );
    rmSync(join(disk, "filler"));
    await vi.waitFor(() => expect(daemon.stderr()).toContain("Budget journal writable again"), PATIENCE);
    await untilAsked(fleet, [FREE, METERED], 2);

    expect(statuses).toEqual([200, 200, 200]);
    expect((await daemon.stop()).code).toBe(0);
  });
});

describe("synclag run, on a disk that has become read-only", () => {
  it("keeps polling without uncounted requests, continues once the disk is writable, and can exit while it is not", async () => {
    const { fleet, config } = await simulate(FLEET);
    const disk = await mountDisk();
    copyFileSync(config, join(disk, "chains.yaml"));
    const args = ["run", "--config", join(disk, "chains.yaml"), "--listen", "127.0.0.1:0"];
    const daemon = await startServer(withOpenFiles(128, args), STARTED, "/-/healthy");
    await untilAsked(fleet, [FREE, METERED], 2);

    await remount(disk, "ro");
    await vi.waitFor(() => expect(daemon.stderr()).toContain("Cannot write the budget journal"), PATIENCE);
    const counted = fleet.endpoint(METERED).requestCount;
    await untilAsked(fleet, [FREE], 3);
    const { requestCount } = fleet.endpoint(METERED);
    await remount(disk, "rw");
    await untilAsked(fleet, [FREE, METERED], 2);
    await remount(disk, "ro");

    expect(requestCount).toBe(counted);
    expect((await daemon.stop()).code).toBe(0);
  });
});

// The built program: from the sources, a compiler starts, which makes writes to the pipe blocking.
describe("synclag run, with a log that nobody reads", () => {
  it("ends for SIGTERM", async () => {
    const folder = await temporaryFolder("log");
    const [config, log, lock] = ["chains.yaml", "log", "state.lock"].map((name) => join(folder, name));
    writeFileSync(config ?? "", FLEET.replaceAll("https://", "http://127.0.0.1:9/"));
    await runProgram({ command: "mkfifo", args: [log ?? ""] });
    const reader = await open(log ?? "", constants.O_RDWR | constants.O_NONBLOCK);
    // The pipe is full.
    await reader.write(Buffer.alloc(65_536));
    const run = 'exec "$0" dist/main.js run --listen 127.0.0.1:0 "$@"';
    const args = [
      "-c",
      `${run} 2>${log}`,
      process.execPath,
      "--config",
      config ?? "",
      "--state",
      join(folder, "state"),
    ];
    const daemon = spawn("sh", args, { stdio: "ignore" });
    onTestFinished(async () => {
      daemon.kill("SIGKILL");
      await reader.close();
    });
    await vi.waitFor(() => expect(readFileSync(lock ?? "", "utf8")).toContain("http://"), PATIENCE);

    daemon.kill("SIGTERM");

    expect(await once(daemon, "exit")).toEqual([0, null]);
  });
});

/** The program under a limit. */
function withOpenFiles(limit: number, args: readonly string[]) {
  const command = `ulimit -n ${limit}; exec "$0" dist/main.js "$@"`;
  return { command: "sh", args: ["-c", command, process.execPath, ...args] };
}

/** A small file system of its own, gone at the end of the test. */
async function mountDisk(): Promise<string> {
  const path = await temporaryFolder("disk");
  const mount = ["-t", "tmpfs", "-o", "size=512k", "tmpfs", path];
  expect(await runProgram({ command: "mount", args: mount })).toMatchObject({ code: 0 });
  onTestFinished(async () => void (await runProgram({ command: "umount", args: ["--lazy", path] })));
  return path;
}

async function remount(disk: string, mode: "ro" | "rw"): Promise<void> {
  // While a file is being written, a disk cannot become read-only.
  await vi.waitFor(async () => {
    const { code } = await runProgram({ command: "mount", args: ["-o", `remount,${mode}`, disk] });
    expect(code).toBe(0);
  }, PATIENCE);
}

/** Writes until nothing more fits. */
function fill(disk: string): void {
  try {
    writeFileSync(join(disk, "filler"), Buffer.alloc(2 * 512 * 1024), { flag: "a" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) {
      throw error;
    }
  }
}

/** Waits for this number of further requests to each endpoint. */
async function untilAsked(fleet: SimulatedFleet, keys: readonly string[], times: number): Promise<void> {
  const wanted = keys.map((key) => ({ key, count: fleet.endpoint(key).requestCount + times }));
  await vi.waitFor(() => {
    for (const { key, count } of wanted) {
      expect(fleet.endpoint(key).requestCount).toBeGreaterThanOrEqual(count);
    }
  }, PATIENCE);
}
