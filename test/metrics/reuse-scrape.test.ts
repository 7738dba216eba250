import { describe, expect, it } from "vitest";
import { reuseScrape } from "../../src/metrics/reuse-scrape.ts";

describe("reuseScrape()", () => {
  it("serves one scrape again for a second", async () => {
    const { scrape, clock, made } = setUp();

    const first = await scrape();
    clock.nowMs += 999;
    const second = await scrape();

    expect([first, second]).toEqual([
      { number: 1, atMs: 0 },
      { number: 1, atMs: 0 },
    ]);
    expect(made()).toBe(1);
  });

  it("serves it while the next one is made, which is then served", async () => {
    const { scrape, clock, made, hold, letGo } = setUp();
    await scrape();
    clock.nowMs += 1_000;
    hold();

    const meanwhile = [await scrape(), await scrape()];
    letGo();
    await settled();
    const then = await scrape();

    expect(meanwhile.map(({ number }) => number)).toEqual([1, 1]);
    expect(then).toEqual({ number: 2, atMs: 1_000 });
    expect(made()).toBe(2);
  });

  it.each([
    { case: "two seconds old", change: (clock: Clock) => (clock.nowMs += 2_000) },
    { case: "from the future", change: (clock: Clock) => (clock.nowMs -= 3_600_000) },
    { case: "of another configuration", change: (clock: Clock) => (clock.reloads += 1) },
  ])("serves none that is $case", async ({ change }) => {
    const { scrape, clock } = setUp();
    await scrape();

    change(clock);

    expect(await scrape()).toEqual({ number: 2, atMs: clock.nowMs });
  });

  it("tells the next scraper of a bug that stopped the renewal, and is not stopped for good", async () => {
    const { scrape, clock, breakDown } = setUp();
    await scrape();
    clock.nowMs += 1_500;
    breakDown(true);

    const served = await scrape();
    await settled();
    await expect(scrape()).rejects.toThrow("A bug");
    breakDown(false);

    expect(served.number).toBe(1);
    expect((await scrape()).atMs).toBe(1_500);
  });
});

interface Clock {
  nowMs: number;
  reloads: number;
}

function setUp() {
  const clock: Clock = { nowMs: 0, reloads: 0 };
  let count = 0;
  let isBroken = false;
  let held: Promise<void> = Promise.resolve();
  let letGo = (): void => undefined;
  const scrape = reuseScrape({
    async make() {
      count += 1;
      const made = { number: count, atMs: clock.nowMs, reloads: clock.reloads };
      await held;
      if (isBroken) {
        throw new Error("A bug");
      }
      return made;
    },
    madeAtMs: ({ atMs }) => atMs,
    isCurrent: ({ reloads }) => reloads === clock.reloads,
    nowMs: () => clock.nowMs,
  });
  return {
    scrape: async () => {
      const { number, atMs } = await scrape();
      return { number, atMs };
    },
    clock,
    made: () => count,
    hold: () => {
      held = new Promise((resolve) => {
        letGo = resolve;
      });
    },
    letGo: () => letGo(),
    breakDown: (broken: boolean) => {
      isBroken = broken;
    },
  };
}

/** Lets everything go on that waits for nothing but a promise. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
