import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { loadState } from "../../../src/io/state/file.ts";
import { lockStateFile, type StateLock, StateLockedError } from "../../../src/io/state/lock.ts";
import { holdAsAnother } from "../../support/lock-holder.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const WRITER = fileURLToPath(new URL("../../support/state-writer.ts", import.meta.url));
const OTHER = {
  ...{ pid: 1, startedAtMs: 0 },
  ...{ url: "http://10.0.0.1:9855", token: "theirs" },
};
/** An owner that misses five of these heartbeats counts as dead, so they are long enough for a busy machine. */
const LIVING_HEARTBEAT_MS = 300;
const DEAD_HEARTBEAT_MS = 20;
const WAIT = { timeout: 30_000, interval: 5 };

/** `path`: of a state file in a folder of its own. */
const it = test.extend("path", async ({ task: _ }, { onCleanup }) => {
  const folder = await temporaryFolder();
  onCleanup(() => folder[Symbol.asyncDispose]());
  return join(folder.path, "synclag.state.json");
});

// It takes time until a heartbeat is missing, so the tests run in parallel.
describe.concurrent("lockStateFile()", () => {
  it("names the process that holds the file", async ({ path }) => {
    using other = await holdAsAnother(path, "http://127.0.0.1:9855");

    const refused = await lock(path, undefined, LIVING_HEARTBEAT_MS).catch((error: unknown) => error);

    expect(refused).toBeInstanceOf(StateLockedError);
    expect(String(refused)).toMatch(
      new RegExp(
        `Cannot use the state file ${path}: another synclag holds it \\(pid ${other.pid}, started 20[-\\dT:.]+Z, listening on http://127.0.0.1:9855\\); stop that process, or choose another file with --state`,
      ),
    );
  });

  it("releases the file when it is disposed", async ({ path }) => {
    await (await lock(path))[Symbol.asyncDispose]();

    expect(await readdir(dirname(path))).toEqual([]);
  });

  it("lets one of two processes win that take over a dead lock, and a third reads what the winner had recorded when it was killed", async ({
    path,
  }) => {
    await writeFile(`${path}.lock`, JSON.stringify(OTHER));

    const writers = [startWriter(path), startWriter(path)];
    await Promise.race(writers.map(({ closed }) => closed));
    const [winner, ...others] = writers.filter(({ child }) => child.exitCode === null);
    await vi.waitFor(() => expect(winner?.lastPrinted()).toBeGreaterThan(3), WAIT);
    winner?.child.kill("SIGKILL");
    await winner?.closed;
    const { questions } = await loadState(path, { logger: recordLog().logger, nowMs: Date.now });
    await using mine = await lock(path);

    expect(others).toEqual([]);
    expect(questions["count"]).toBeGreaterThanOrEqual(winner?.lastPrinted() ?? Number.POSITIVE_INFINITY);
    await mine.assertHeld();
  });

  it.for([
    { what: "of another process that shows no sign of life", text: JSON.stringify(OTHER) },
    { what: "that nobody can read and nobody touches", text: "" },
  ])("takes over a lock $what", async ({ text }, { path }) => {
    await writeFile(`${path}.lock`, text);

    await using mine = await lock(path);

    await mine.assertHeld();
  });

  it.for([
    { when: "at once", beats: 0 },
    { when: "after it has touched its lock for long", beats: 3 },
  ])(
    "tells a holder that was taken for dead, once and before each write: $when",
    async ({ beats }, { path }) => {
      const seen = { lost: [] as StateLockedError[], beats: 0 };
      await using mine = await lock(path, seen);
      await beatsPass(seen, beats);
      expect(seen.lost).toHaveLength(0);

      await rm(`${path}.lock`);
      await writeFile(`${path}.lock`, JSON.stringify(OTHER));

      await expect(mine.assertHeld()).rejects.toThrow("listening on http://10.0.0.1:9855");
      await vi.waitFor(() => expect(seen.lost).toHaveLength(1), WAIT);
      await beatsPass(seen, 3);
      expect(seen.lost).toHaveLength(1);
      await mine[Symbol.asyncDispose]();
      expect(await readFile(`${path}.lock`, "utf8")).toContain("theirs");
    },
  );

  it("writes a removed lock again, with the actual address once it is known", async ({ path }) => {
    await using mine = await lock(path);

    await mine.publishUrl("http://127.0.0.1:40123");
    await rm(`${path}.lock`);
    await mine.assertHeld();

    expect(JSON.parse(await readFile(`${path}.lock`, "utf8"))).toMatchObject({
      pid: process.pid,
      url: "http://127.0.0.1:40123",
    });
  });

  it("has its address as soon as the disk accepts writes", async ({ path }) => {
    const seen: Seen = { lost: [], beats: 0 };
    await using mine = await lock(path, seen);
    await mkdir(`${path}.lock.tmp`);

    await mine.publishUrl("http://127.0.0.1:40123");
    await beatsPass(seen, 2);
    const refused = await lock(path, undefined, LIVING_HEARTBEAT_MS).catch(String);
    await rmdir(`${path}.lock.tmp`);

    expect(refused).toMatch(/another synclag holds it \(pid \d+, started [-\dT:.]+Z\); stop that process/);
    await vi.waitFor(async () => expect(await readFile(`${path}.lock`, "utf8")).toContain("40123"), WAIT);
  });

  it("leaves no lock behind if it is released while it is touched", async ({ path }) => {
    const mine = await lock(path);

    const published = mine.publishUrl("http://127.0.0.1:40123");
    await mine[Symbol.asyncDispose]();
    await published;

    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it("explains what to do if no lock can be written", async ({ path }) => {
    const missing = join(path, "synclag.state.json");

    await expect(lock(missing)).rejects.toThrow(
      `Cannot lock the state file ${missing}: its folder does not exist; choose another file with --state`,
    );
  });
});

interface Seen {
  readonly lost: StateLockedError[];
  beats: number;
}

function lock(
  path: string,
  seen: Seen = { lost: [], beats: 0 },
  heartbeatMs = DEAD_HEARTBEAT_MS,
): Promise<StateLock> {
  // Each heartbeat reads the clock.
  const nowMs = (): number => {
    seen.beats += 1;
    return Date.now();
  };
  return lockStateFile(path, { nowMs, onLockLost: (error) => seen.lost.push(error), heartbeatMs });
}

/** Waits for this number of heartbeats. */
async function beatsPass(seen: Seen, count: number): Promise<void> {
  const until = seen.beats + count;
  await vi.waitFor(() => expect(seen.beats).toBeGreaterThanOrEqual(until), WAIT);
}

/** Starts a writer, which ends if it does not get the lock. */
function startWriter(path: string) {
  const child = spawn(process.execPath, ["--import", "tsx", WRITER, path, String(LIVING_HEARTBEAT_MS)], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  return {
    child,
    closed: once(child, "close"),
    lastPrinted: () => Number(printed.trimEnd().split("\n").at(-1)),
  };
}
