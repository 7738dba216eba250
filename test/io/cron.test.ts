import { afterEach, describe, expect, it, vi } from "vitest";
import { type CronOptions, startCron } from "../../src/io/cron.ts";

const EACH_SECOND = "* * * * * *";
/** The same instants in another expression. */
const ALSO_EACH_SECOND = "*/1 * * * * *";

afterEach(() => {
  vi.useRealTimers();
});

describe("startCron()", () => {
  it("reports together what is due at one second", async () => {
    const expressions = [EACH_SECOND, ALSO_EACH_SECOND, EACH_SECOND, "0 0 0 1 1 *"];

    const { due, beats } = await play({ expressions }, async (pass) => {
      await pass(2_050);
    });

    expect(due.map((one) => [...one.expressions].sort())).toEqual(
      Array(2).fill([EACH_SECOND, ALSO_EACH_SECOND]),
    );
    expect(beats).toBe(2);
  });

  it("reports what a callback throws, and goes on", async () => {
    const bug = new TypeError("bug");
    const { due, bugs, beats } = await play(
      {
        expressions: [EACH_SECOND],
        onDue: () => {
          throw bug;
        },
      },
      async (pass) => {
        await pass(3_050);
      },
    );

    expect(due).toHaveLength(3);
    expect(bugs).toEqual([bug, bug, bug]);
    expect(beats).toBe(3);
  });

  it("stops with its disposal", async () => {
    const { due, beats } = await play({ expressions: [EACH_SECOND] }, async (pass, cron) => {
      await pass(1_050);
      cron[Symbol.dispose]();
      await pass(10_000);
    });

    expect([due.length, beats]).toEqual([1, 1]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

interface Played {
  readonly due: { readonly expressions: readonly string[]; readonly atMs: number }[];
  readonly bugs: unknown[];
  readonly beats: number;
}

/** Runs the schedules by a clock that is moved by hand. */
async function play(
  { expressions, onDue }: Pick<CronOptions, "expressions"> & Partial<Pick<CronOptions, "onDue">>,
  act: (pass: (durationMs: number) => Promise<unknown>, cron: Disposable) => Promise<void>,
): Promise<Played> {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 20, 12) });
  const due: Played["due"] = [];
  const bugs: unknown[] = [];
  let beats = 0;
  using cron = startCron({
    expressions,
    onDue: (together) => {
      due.push({ expressions: [...together], atMs: Date.now() });
      onDue?.(together);
    },
    onTick: () => {
      beats += 1;
    },
    onBug: (error) => bugs.push(error),
  });
  await act((durationMs) => vi.advanceTimersByTimeAsync(durationMs), cron);
  return { due, bugs, beats };
}
