import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SavedState } from "../../../src/io/state/file.ts";
import { DebouncedWriter } from "../../../src/io/state/writer.ts";

const DELAY_MS = 4_500;

describe("DebouncedWriter", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it("writes a change after the delay, and once for many", async () => {
    const { saver, disk, change } = startSaver();

    change(1);
    saver.touch();
    change(2);
    saver.touch();
    await vi.advanceTimersByTimeAsync(DELAY_MS - 1);
    expect(disk.written).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);

    expect(disk.written).toEqual([2]);
  });

  it("writes nothing while nothing changes", async () => {
    const { saver, disk } = startSaver();

    saver.touch();
    await vi.advanceTimersByTimeAsync(60_000);

    expect(disk.written).toHaveLength(1);
  });

  it("has on disk what flush() was awaited for", async () => {
    const { saver, disk, change } = startSaver();

    change(7);
    await saver.flush();

    expect(disk.written).toEqual([7]);
  });

  it("lets all that wait at the same time share one write", async () => {
    const { saver, disk, change } = startSaver();

    const waiting = [1, 2, 3].map((value) => {
      change(value);
      return saver.flush();
    });
    await Promise.all(waiting);

    expect(disk.written).toEqual([3]);
  });

  it("writes again for what changes while a write is under way", async () => {
    const { saver, disk, change } = startSaver();
    disk.hold();
    change(1);
    const first = saver.flush();
    await vi.advanceTimersByTimeAsync(0);

    change(2);
    const second = saver.flush();
    disk.letGo();
    await first;
    expect(disk.written).toEqual([1]);
    await second;

    expect(disk.written).toEqual([1, 2]);
  });

  it("rejects whoever waits while the disk fails, tells of it once, and tries again", async () => {
    const { saver, disk, change, failures, recoveries } = startSaver();
    disk.fail(new Error("no space left"));

    await expect(saver.flush()).rejects.toThrow("no space left");
    await expect(saver.flush()).rejects.toThrow("no space left");
    expect(failures).toHaveLength(1);
    change(5);
    disk.fail(null);
    await vi.advanceTimersByTimeAsync(DELAY_MS);

    expect(disk.written).toEqual([5]);
    expect(recoveries.count).toBe(1);
  });

  it("writes for the last time when it is disposed", async () => {
    const { saver, disk, change } = startSaver();
    saver.touch();
    change(9);

    await saver[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(60_000);

    expect(disk.written).toEqual([9]);
  });

  it("stops without a throw when the disk fails at the end", async () => {
    const { saver, disk, failures } = startSaver();
    disk.fail(new Error("no space left"));

    await saver[Symbol.asyncDispose]();

    expect(failures).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});

function startSaver() {
  const disk = createDisk();
  const failures: unknown[] = [];
  const recoveries = { count: 0 };
  let value = 0;
  const saver = new DebouncedWriter({
    delayMs: DELAY_MS,
    content: () => ({ savedAtMs: value, chains: {}, incidents: [], budgets: null, conversations: null }),
    write: disk.write,
    onFailure: (error) => failures.push(error),
    onRecovery: () => {
      recoveries.count += 1;
    },
  });
  return {
    saver,
    disk,
    failures,
    recoveries,
    change: (next: number) => {
      value = next;
    },
  };
}

/** A disk that takes as long as a test wants, and fails when it wants. */
function createDisk() {
  const written: number[] = [];
  let failure: Error | null = null;
  let held: Promise<void> = Promise.resolve();
  let letGo = (): void => undefined;
  return {
    written,
    async write({ savedAtMs }: SavedState): Promise<void> {
      await held;
      if (failure !== null) {
        throw failure;
      }
      written.push(savedAtMs);
    },
    hold: () => {
      held = new Promise((resolve) => {
        letGo = resolve;
      });
    },
    letGo: () => letGo(),
    fail: (error: Error | null) => {
      failure = error;
    },
  };
}
