import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SavedBudgets } from "../../../src/budgets/saved-budgets.ts";
import { openStateStore } from "../../../src/daemon/state/store.ts";
import { endpointOf, fleetOf } from "../../budgets/fleet-builder.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const ENDPOINT = endpointOf({ budget: "provider" });
const FLEET = fleetOf([ENDPOINT], [{ name: "provider", limit: 1_000, per: "day", scope: "shared" }]);
const THEIRS = { pid: 1, startedAtMs: 0, url: "http://10.0.0.1:9855", token: "theirs" };
/** A file has no more lines, however many requests there are. */
const MOST_LINES = 64;

describe("openStateStore()", () => {
  it("records nothing while writes fail, logs that once, and records again afterwards", async () => {
    await using outer = await temporaryFolder();
    const folder = join(outer.path, "inner");
    await mkdir(folder);
    const path = join(folder, "state.json");
    const { store, lines } = await keep(path);
    await store.flush();
    await rm(folder, { recursive: true });

    await expect(store.flush()).rejects.toThrow("its folder does not exist");
    await expect(store.flush()).rejects.toThrow();
    const problem = store.problem();
    await mkdir(folder);
    await store.flush();

    expect(problem).toContain("its folder does not exist");
    expect(store.problem()).toBeNull();
    expect(lines.map(({ msg }) => msg)).toEqual([
      "Cannot write the budget journal; endpoints with a budget are paused",
      "Budget journal writable again",
    ]);
    await store[Symbol.asyncDispose]();
  });

  it("does not change the journal of a process that took over the state file", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "state.json");
    const { store, jumpClock } = await keep(path);
    jumpClock();
    store.touch();
    await vi.waitFor(async () => expect(await readdir(folder.path)).toContain("state.json"), 5_000);

    await writeFile(`${path}.lock`, JSON.stringify(THEIRS));
    await writeFile(`${path}.budgets`, "theirs");
    await store[Symbol.asyncDispose]();

    expect(await readFile(`${path}.budgets`, "utf8")).toBe("theirs");
  });

  it("grants no request that it recorded while another process took over the state file", async () => {
    // So that no timer renews the lock, which would read it in between.
    vi.useFakeTimers({ toFake: ["setInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    await using folder = await temporaryFolder();
    const path = join(folder.path, "state.json");
    const { store, draw } = await keep(path);
    await store.flush();
    const ours = await readFile(`${path}.lock`, "utf8");
    // A FIFO returns to each reader what the test writes.
    await rm(`${path}.lock`);
    execFileSync("mkfifo", [`${path}.lock`]);

    draw();
    const granted = store.flush().then(() => true);
    const refused = granted.catch(() => false);
    await writeFile(`${path}.lock`, ours);
    await vi.waitFor(async () => expect(await usedInJournal(path)).toHaveLength(2), 5_000);
    const told = writeFile(`${path}.lock`, JSON.stringify(THEIRS));
    const isGranted = await Promise.race([refused, told.then(() => refused)]);

    expect(isGranted).toBe(false);
  });

  it("appends new draws to the journal, and restarts it once the state file has them", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "state.json");
    const { store, draw, jumpClock } = await keep(path);

    for (let request = 0; request < 3; request += 1) {
      draw();
      await store.flush();
    }
    const before = await usedInJournal(path);
    jumpClock();
    store.touch();
    await vi.waitFor(() => expect(store.budgets.save(0, 0).accounts).toEqual({}), 5_000);
    draw();
    await store.flush();

    expect(before).toEqual([1, 2, 3]);
    expect(await usedInJournal(path)).toEqual([4]);
    await store[Symbol.asyncDispose]();
  });

  it("rewrites the journal if it is gone, and after a failed write", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "state.json");
    const { store, draw } = await keep(path);
    draw();
    await store.flush();

    await rm(`${path}.budgets`);
    draw();
    await store.flush();
    const afterRemoval = await usedInJournal(path);
    await rm(`${path}.budgets`);
    await mkdir(`${path}.budgets`);
    draw();
    await expect(store.flush()).rejects.toThrow("is a directory");
    await rm(`${path}.budgets`, { recursive: true });
    await writeFile(`${path}.budgets`, "{");
    await store.flush();

    expect(afterRemoval).toEqual([2]);
    expect(await usedInJournal(path)).toEqual([3]);
    await store[Symbol.asyncDispose]();
  });

  it("keeps the journal short and complete while only the state file cannot be written", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "state.json");
    // A folder in place of the temporary file of the state; that of the journal has another name.
    await mkdir(`${path}.tmp`);
    const { store, draw, lines } = await keep(path);
    store.touch();

    for (let request = 0; request < 300; request += 1) {
      draw();
      await store.flush();
    }

    const used = await usedInJournal(path);
    expect([used.length <= MOST_LINES, Math.max(...used)]).toEqual([true, 300]);
    expect(store.problem()).toBeNull();
    await store[Symbol.asyncDispose]();
    expect(lines).toMatchObject([{ msg: "Cannot write the state file" }]);
    expect(Math.max(...(await usedInJournal(path)))).toBe(300);
  });

  it("writes the state file once, at once, when the wall clock has jumped", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "state.json");
    const { store, written, jumpClock } = await keep(path);
    store.touch();
    await store.flush();
    expect(written.count).toBe(0);

    jumpClock();
    store.touch();
    await vi.waitFor(() => expect(written.count).toBe(1), 5_000);
    store.touch();
    await store.flush();

    expect(written.count).toBe(1);
    await store[Symbol.asyncDispose]();
  });

  it("reports that another process has taken over the state file, and writes nothing more", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "state.json");
    const { store, lost } = await keep(path);
    const other = { pid: 1, startedAtMs: 0, url: "http://other:1", token: "x" };

    await writeFile(`${path}.lock`, JSON.stringify(other));
    await vi.waitFor(() => expect(lost).toHaveLength(1), 5_000);
    const recording = store.flush();

    await expect(recording).rejects.toThrow("listening on http://other:1");
    await store[Symbol.asyncDispose]();
    expect((await readdir(folder.path)).toSorted()).toEqual(["state.json.lock"]);
  });
});

async function keep(path: string | null) {
  const { logger, lines } = recordLog();
  const lost: Error[] = [];
  const written = { count: 0 };
  let aheadMs = 0;
  const store = await openStateStore(path, FLEET, {
    world: { logger, nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() },
    state: () => {
      written.count += 1;
      return { chains: {}, incidents: [], questions: {}, notified: [] };
    },
    onLockLost: (error) => lost.push(error),
  });
  return {
    store,
    lines,
    lost,
    written,
    draw: () => store.budgets.acquire(ENDPOINT, "scheduled", store.nowMs()),
    jumpClock: () => {
      aheadMs += 300_000;
    },
  };
}

/** How much was drawn by each line of the journal. */
async function usedInJournal(path: string): Promise<readonly number[]> {
  const lines = (await readFile(`${path}.budgets`, "utf8")).trimEnd().split("\n");
  const budgets = lines.map((line) => SavedBudgets.parse((JSON.parse(line) as { budgets: unknown }).budgets));
  return budgets.map(({ accounts }) =>
    (accounts["provider"]?.buckets ?? []).reduce((used, [, scheduled]) => used + scheduled, 0),
  );
}
