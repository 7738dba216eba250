import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startConfigWatch } from "../../src/daemon/config-watch.ts";

describe("startConfigWatch()", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("does not look again while a reload is under way, and hands on what it throws", async () => {
    let looks = 0;
    const bugs: unknown[] = [];
    let fail: (error: unknown) => void = () => undefined;
    const firstReload = new Promise<void>((_resolve, reject) => {
      fail = reject;
    });
    await using _watch = startConfigWatch(() => (looks === 1 ? firstReload : Promise.resolve()), {
      hasConfigChanged: () => {
        looks += 1;
        return true;
      },
      onBug: (error) => bugs.push(error),
    });

    await vi.advanceTimersByTimeAsync(60_000);
    expect(looks).toBe(1);
    fail(new TypeError("bug"));
    await vi.advanceTimersByTimeAsync(2_000);

    expect(bugs).toEqual([new TypeError("bug")]);
    expect(looks).toBe(2);
  });
});
