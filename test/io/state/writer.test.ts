import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DebouncedWriter } from "../../../src/io/state/writer.ts";

const DELAY_MS = 4_500;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

// test/daemon/state/store.test.ts has what is said where the disk refuses.
describe("DebouncedWriter", () => {
  it("writes a change after the delay, once for many, and again after a write that failed", async () => {
    const { saver, disk } = startSaver();

    for (const value of [1, 2]) {
      disk.value = value;
      saver.touch();
    }
    await vi.advanceTimersByTimeAsync(DELAY_MS - 1);
    expect(disk.written).toEqual([]);
    disk.write = () => Promise.reject(new Error("no space left"));
    await vi.advanceTimersByTimeAsync(1);
    await expect(saver.flush()).rejects.toThrow("no space left");
    disk.write = () => Promise.resolve();
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    await vi.advanceTimersByTimeAsync(60_000);

    expect(disk.written).toEqual([2]);
  });

  it("writes a change that is urgent sooner, with what waits for a later write", async () => {
    const { saver, disk } = startSaver();
    saver.touch();
    disk.value = 1;

    saver.touch(1_000);
    saver.touch();
    await vi.advanceTimersByTimeAsync(1_000);
    await vi.advanceTimersByTimeAsync(60_000);

    expect(disk.written).toEqual([1]);
  });

  it("lets all that wait at the same time share one write, and writes again for what changes during it", async () => {
    const { saver, disk } = startSaver();
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    disk.write = () => held;
    const flush = (value: number) => {
      disk.value = value;
      return saver.flush();
    };
    const first = [1, 2, 3].map(flush);
    await vi.advanceTimersByTimeAsync(0);

    const second = flush(4);
    letGo();
    await Promise.all([...first, second]);

    expect(disk.written).toEqual([3, 4]);
  });

  it("writes for the last time when it is disposed", async () => {
    const { saver, disk } = startSaver();
    saver.touch();
    disk.value = 9;

    await saver[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(60_000);

    expect(disk.written).toEqual([9]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

function startSaver() {
  const disk = { value: 0, write: () => Promise.resolve(), written: [] as number[] };
  const saver = new DebouncedWriter({
    delayMs: DELAY_MS,
    write: async () => {
      const { value } = disk;
      await disk.write();
      disk.written.push(value);
    },
    onFailure: () => undefined,
    onRecovery: () => undefined,
  });
  return { saver, disk };
}
