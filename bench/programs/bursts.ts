import { setTimeout as sleep } from "node:timers/promises";

/** Runs `one` for 0 to `count - 1`, so many at a time: what a round of polls is to the network. */
export async function burst(
  count: number,
  concurrency: number,
  one: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  async function work(): Promise<void> {
    while (next < count) {
      const index = next;
      next += 1;
      await one(index);
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, work));
}

/** Waits for the next instant that lies this share of a period after one of its multiples, as schedules count them. */
export async function untilPhase(periodMs: number, share: number): Promise<void> {
  const sinceMs = (Date.now() - share * periodMs) % periodMs;
  await sleep(periodMs - sinceMs);
}
