import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startCron } from "../../src/io/cron.ts";

const EACH_SECOND = "* * * * * *";
/** The same instants in another expression. */
const ALSO_EACH_SECOND = "*/1 * * * * *";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 20, 12) });
});

afterEach(() => {
  vi.useRealTimers();
});

// test/fixtures/daemon-stories shows the effect of a clock that jumps, and of a suspended process.
describe("startCron()", () => {
  it("reports schedules due in one second together, continues after an exception, and stops when disposed", async () => {
    const bug = new TypeError("bug");
    const due: string[][] = [];
    const bugs: unknown[] = [];
    let beats = 0;
    const cron = startCron({
      expressions: [EACH_SECOND, ALSO_EACH_SECOND, EACH_SECOND, "0 0 0 1 1 *"],
      onDue: (together) => {
        due.push([...together].sort());
        throw bug;
      },
      onTick: () => {
        beats += 1;
      },
      onBug: (error) => bugs.push(error),
    });

    await vi.advanceTimersByTimeAsync(2_050);
    cron[Symbol.dispose]();
    await vi.advanceTimersByTimeAsync(10_000);

    expect(due).toEqual(Array(2).fill([EACH_SECOND, ALSO_EACH_SECOND]));
    expect([bugs, beats, vi.getTimerCount()]).toEqual([[bug, bug], 2, 0]);
  });
});
