import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { readStateFile } from "../../../src/io/state/file.ts";
import { lockStateFile, type StateLock, StateLockedError } from "../../../src/io/state/lock.ts";
import { findLockOwner } from "../../../src/io/state/lock-owner.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const WRITER = fileURLToPath(new URL("../../support/state-writer.ts", import.meta.url));
const ANOTHER_PLACE = { pid: 1, place: "another-host", startedAtMs: 0, url: "http://10.0.0.1:9855" };

/** Five of them without a touch, and an owner is gone: long enough for a busy machine. */
const HEARTBEAT_MS = 300;
const WAIT = { timeout: 30_000, interval: 20 };

// Silence takes its time to show: the tests wait side by side.
describe.concurrent("lockStateFile()", () => {
  it("names the process that holds the file", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    await using writer = await startWriter(path);

    const holder = await findLockOwner(path);

    expect(holder).toMatchObject({ pid: writer.pid, url: "http://127.0.0.1:9855" });
    await expect(lock(path)).rejects.toThrow(StateLockedError);
    await expect(lock(path)).rejects.toThrow(
      `Cannot use the state file ${path}: another synclag holds it (pid ${writer.pid}, started ` +
        `${new Date(holder?.startedAtMs ?? 0).toISOString()}, listening on http://127.0.0.1:9855); stop that one, or choose another file with --state`,
    );
  });

  it("gives the file back when it is disposed", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");

    await (await lock(path))[Symbol.asyncDispose]();

    expect(await readdir(folder.path)).toEqual([]);
    await using second = await lock(path);
    await second.assertHeld();
  });

  it("takes over from a process that was killed, at once, and finds all that it had recorded", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");

    let recorded = 0;
    for (const _ of [1, 2]) {
      const writer = await startWriter(path);
      await vi.waitFor(() => expect(writer.lastPrinted()).toBeGreaterThan(recorded + 3), WAIT);
      await writer.killed();
      const found = await readStateFile(path, 0);

      expect(found.kind).toBe("state");
      const count = found.kind === "state" ? Number(found.state.budgets) : 0;
      expect(count).toBeGreaterThanOrEqual(writer.lastPrinted());
      recorded = count;
    }
    await using mine = await lock(path);

    await mine.assertHeld();
  });

  it("takes over from a process of another place that shows no sign of life", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    await writeFile(`${path}.lock`, JSON.stringify({ ...ANOTHER_PLACE, token: "theirs" }));

    await using mine = await lock(path);

    await mine.assertHeld();
  });

  it("takes over a lock that nobody can read and nobody touches", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    await writeFile(`${path}.lock`, "");

    await using mine = await lock(path);

    await mine.assertHeld();
  });

  it("lets one of two that take over the same dead lock win", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    await writeFile(`${path}.lock`, JSON.stringify({ ...ANOTHER_PLACE, token: "theirs" }));
    const writers = await Promise.allSettled([startWriter(path), startWriter(path)]);

    const won = writers.filter(({ status }) => status === "fulfilled");

    for (const writer of writers) {
      await (writer.status === "fulfilled" ? writer.value.killed() : undefined);
    }
    expect(won).toHaveLength(1);
  });

  it("tells a holder that was taken for dead, once and before each write", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    const seen = { lost: [] as StateLockedError[], beats: 0 };
    await using mine = await lock(path, seen);

    await writeFile(`${path}.lock`, JSON.stringify({ ...ANOTHER_PLACE, token: "theirs" }));

    await expect(mine.assertHeld()).rejects.toThrow("listening on http://10.0.0.1:9855");
    await beatsPass(seen, 3);
    expect(seen.lost).toHaveLength(1);
    await mine[Symbol.asyncDispose]();
    expect(await readFile(`${path}.lock`, "utf8")).toContain("theirs");
  });

  it("tells a holder that has touched its lock for long, within a few heartbeats", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    const seen = { lost: [] as StateLockedError[], beats: 0 };
    await using _mine = await lock(path, seen);
    await beatsPass(seen, 3);
    expect(seen.lost).toHaveLength(0);

    await rm(`${path}.lock`);
    await writeFile(`${path}.lock`, JSON.stringify({ ...ANOTHER_PLACE, token: "theirs" }));
    await beatsPass(seen, 3);

    expect(seen.lost).toHaveLength(1);
  });

  it("writes its lock anew when somebody removed it", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    await using mine = await lock(path);

    await rm(`${path}.lock`);
    await mine.assertHeld();

    expect(JSON.parse(await readFile(`${path}.lock`, "utf8"))).toMatchObject({ pid: process.pid });
  });

  it("says where it really serves, once that is known", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "synclag.state.json");
    await using mine = await lock(path);

    await mine.publishUrl("http://127.0.0.1:40123");

    await mine.assertHeld();
    expect(JSON.parse(await readFile(`${path}.lock`, "utf8"))).toMatchObject({
      url: "http://127.0.0.1:40123",
    });
  });

  it("says what to do where no lock can be written", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "missing", "synclag.state.json");

    await expect(lock(path)).rejects.toThrow(
      `Cannot lock the state file ${path}: its folder does not exist (ENOENT); choose another with --state`,
    );
  });
});

describe("findLockOwner()", () => {
  it("finds none where there is no lock", async () => {
    await using folder = await temporaryFolder();

    expect(await findLockOwner(join(folder.path, "synclag.state.json"))).toBeNull();
  });
});

interface Seen {
  readonly lost: StateLockedError[];
  beats: number;
}

function lock(path: string, seen: Seen = { lost: [], beats: 0 }): Promise<StateLock> {
  return lockStateFile(path, {
    url: "http://127.0.0.1:0",
    // Each heartbeat reads the clock.
    nowMs: () => {
      seen.beats += 1;
      return Date.now();
    },
    onLockLost: (error) => seen.lost.push(error),
    heartbeatMs: HEARTBEAT_MS,
  });
}

/** Waits for so many heartbeats from now on. */
async function beatsPass(seen: Seen, count: number): Promise<void> {
  const until = seen.beats + count;
  await vi.waitFor(() => expect(seen.beats).toBeGreaterThanOrEqual(until), WAIT);
}

/** Starts a writer and waits for its first recorded count. @throws {Error} If it gets none, for lack of the lock. */
async function startWriter(path: string) {
  const child = spawn(process.execPath, ["--import", "tsx", WRITER, path, String(HEARTBEAT_MS)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  let complaint = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint += text;
  });
  const killed = (): Promise<void> => kill(child);
  await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  if (printed === "") {
    throw new Error(`Cannot start the writer: ${complaint}`);
  }
  return {
    pid: child.pid,
    lastPrinted: () => Number(printed.trimEnd().split("\n").at(-1)),
    killed,
    [Symbol.asyncDispose]: killed,
  };
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}
