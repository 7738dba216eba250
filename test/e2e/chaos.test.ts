import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type SimulatedFleet, startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { runProgram, startProgram } from "./support/program.ts";
import { type Synclag, startSynclag } from "./support/synclag.ts";
import { temporaryFolder, undoAll } from "./support/undo.ts";

// What a machine does to a daemon. Mounting needs root, as the image's tests do.

const FREE = "airdrops/multichain/production/all";
const METERED = "airdrops/subgraph/production/base";
const PATIENCE = { timeout: 30_000, interval: 200 };

afterAll(undoAll);

describe("a full disk", () => {
  it("stops what is counted on it and nothing else, and is over when there is room again", async () => {
    await using fleet = await startIndexers();
    const disk = await mountDisk();
    const config = writeConfig(disk, fleet);
    const synclag = await startSynclag(config);
    await untilAsked(fleet, [FREE, METERED], 2);

    await vi.waitFor(() => {
      // Again and again: a file that replaces another one just then gives back the room that the other one took.
      fill(disk);
      expect(synclag.stderr()).toContain("Cannot write the budget journal");
    }, PATIENCE);
    const counted = fleet.endpoint(METERED).requestCount;
    await untilAsked(fleet, [FREE], 3);
    const whileFull = {
      counted: fleet.endpoint(METERED).requestCount - counted,
      ...(await answers(synclag)),
    };
    rmSync(join(disk, "filler"));
    await vi.waitFor(() => expect(synclag.stderr()).toContain("Budget journal writable again"), PATIENCE);
    await untilAsked(fleet, [FREE, METERED], 2);

    // One may have been under way.
    expect(whileFull.counted).toBeLessThanOrEqual(1);
    expect(whileFull.statuses).toEqual([200, 200, 200]);
    expect((await synclag.stop()).code).toBe(0);
  });
});

describe("file descriptors that run out", () => {
  it("cost polls and connections, not the daemon", async () => {
    await using fleet = await startIndexers();
    const folder = await temporaryFolder("chaos");
    const synclag = await startSynclag(writeConfig(folder, fleet));
    await untilAsked(fleet, [FREE, METERED], 2);

    const open = readdirSync(`/proc/${synclag.pid}/fd`).length;
    await run("prlimit", "--pid", String(synclag.pid), `--nofile=${open + 5}`);
    const crowd = Array.from({ length: 100 }, () => connectTo(synclag));
    await vi.waitFor(() => expect(synclag.stderr()).toMatch(/EMFILE|too many open files/), PATIENCE);
    for (const visitor of crowd) {
      visitor.destroy();
    }
    await untilAsked(fleet, [FREE, METERED], 2);
    await vi.waitFor(() => synclag.metrics(), PATIENCE);

    expect((await synclag.stop()).code).toBe(0);
  });
});

describe("a limit of open files", () => {
  it("of 64 is enough to start and to poll", async () => {
    await using fleet = await startIndexers();
    const folder = await temporaryFolder("chaos");

    const args = ["run", "--config", writeConfig(folder, fleet), "--listen", "127.0.0.1:0"];
    const synclag = await startProgram(withOpenFiles(64, args));
    await untilAsked(fleet, [FREE, METERED], 2);

    expect((await synclag.stop()).code).toBe(0);
    expect(synclag.stderr()).not.toContain("EMFILE");
  });

  it("that is too low is named, with what is needed", async () => {
    const { code, stderr } = await runProgram(withOpenFiles(28, ["run", "--config", "chains.yaml"]));

    expect(stderr).toBe(
      "synclag: Cannot start with at most 28 open files (ulimit -n): at least 64 are needed\n",
    );
    expect(code).toBe(1);
  });
});

/** The program under a limit. */
function withOpenFiles(limit: number, args: readonly string[]) {
  const command = `ulimit -n ${limit}; exec "$0" dist/main.js "$@"`;
  return { command: "sh", args: ["-c", command, process.execPath, ...args], cwd: process.cwd() };
}

describe("ten scrapers while every upstream hangs", () => {
  it("are all answered, and none of them waits for an indexer", async () => {
    await using fleet = await startIndexers();
    for (const key of [FREE, METERED]) {
      fleet.endpoint(key).fail("hang_before_headers");
    }
    const folder = await temporaryFolder("chaos");
    const synclag = await startSynclag(writeConfig(folder, fleet));
    await vi.waitFor(() => expect(fleet.endpoint(FREE).requestCount).toBeGreaterThan(0), PATIENCE);

    const scrapes = await Promise.all(Array.from({ length: 10 }, () => scrapeAgainAndAgain(synclag.url, 50)));

    const all = scrapes.flat();
    expect(all.filter(({ status }) => status !== 200)).toEqual([]);
    // The deadline of a poll: what waits for an indexer takes that long.
    expect(Math.max(...all.map(({ durationMs }) => durationMs))).toBeLessThan(10_000);
    expect((await synclag.stop()).code).toBe(0);
  });
});

/** Connects and says nothing; refused or cut it may be, for there is no room for all. */
function connectTo({ url }: Synclag): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  return socket.on("error", () => undefined);
}

async function scrapeAgainAndAgain(url: string, times: number) {
  const scrapes: { readonly status: number; readonly durationMs: number }[] = [];
  for (let count = 0; count < times; count += 1) {
    const startedMs = performance.now();
    const answer = await fetch(`${url}/metrics`);
    await answer.text();
    scrapes.push({ status: answer.status, durationMs: performance.now() - startedMs });
  }
  return scrapes;
}

async function startIndexers(): Promise<SimulatedFleet> {
  return await startFleet({
    nowMs: Date.now,
    endpoints: [
      { kind: "envio", key: FREE, chains: ["base"] },
      { kind: "studio", key: METERED, chains: ["base"], path: "/query/1/a/version/latest" },
    ],
  });
}

/** A small file system of its own, gone at the end of the test. */
async function mountDisk(): Promise<string> {
  const path = mkdtempSync(join(tmpdir(), "synclag-disk-"));
  await run("mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", path);
  onTestFinished(async () => {
    await run("umount", "--lazy", path);
    rmSync(path, { recursive: true });
  });
  return path;
}

async function run(command: string, ...args: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram({ command, args });
  if (code !== 0) {
    throw new Error(`Cannot ${command} ${args.join(" ")}: ${stderr}`);
  }
}

/** Writes until nothing more fits. */
function fill(disk: string): void {
  try {
    appendFileSync(join(disk, "filler"), Buffer.alloc(2 * 512 * 1024));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) {
      throw error;
    }
  }
}

function writeConfig(folder: string, fleet: SimulatedFleet): string {
  const path = join(folder, "chains.yaml");
  writeFileSync(
    path,
    `
version: 1
budgets: { studio: { limit: 1000000, per: day, scope: endpoint } }
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "${fleet.endpoint(FREE).url}", schedule: "*/1 * * * * *", chains: [base] }
    - { variant: subgraph, url: "${fleet.endpoint(METERED).url}", schedule: "*/1 * * * * *", budget: studio, chains: [base] }
`,
  );
  return path;
}

/** Waits for so many more requests to each of the endpoints. */
async function untilAsked(fleet: SimulatedFleet, keys: readonly string[], times: number): Promise<void> {
  const wanted = keys.map((key) => ({ key, count: fleet.endpoint(key).requestCount + times }));
  await vi.waitFor(() => {
    for (const { key, count } of wanted) {
      expect(fleet.endpoint(key).requestCount).toBeGreaterThanOrEqual(count);
    }
  }, PATIENCE);
}

async function answers({ url }: Synclag): Promise<{ readonly statuses: readonly number[] }> {
  const paths = ["/-/healthy", "/metrics", "/"];
  return { statuses: await Promise.all(paths.map(async (path) => (await fetch(url + path)).status)) };
}
