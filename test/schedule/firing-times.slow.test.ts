import { createTask } from "node-cron";
import { describe, expect, it } from "vitest";
import { firingsOf } from "../../src/schedule/firing-times.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Thirty days before the last day of February: there is no such day. */
const NEVER = "0 0 0 L-30 2 *";

describe("how often a schedule fires", () => {
  it("is counted for its busiest hour, day and 31 days", () => {
    const rates = [
      "0 * * * * *",
      "*/15 * * * * *",
      "0 0,59 0,23 * * *",
      "0,0,30 0 8-9 * * MON-FRI",
      "0 0 12 1 * *",
      "0 0 12 29 2 *",
      NEVER,
    ].map(firingsOf);

    expect(rates.map(({ perHour, perDay, daysPerMonth }) => [perHour, perDay, daysPerMonth])).toEqual([
      [60, 1_440, 30.4],
      [240, 5_760, 30.4],
      [2, 4, 30.4],
      [2, 4, 23],
      // The first of February and of March lie within 31 days.
      [1, 1, 2],
      [1, 1, 1],
      [0, 0, 0],
    ]);
  });

  it("agrees with node-cron's own matcher over a day", () => {
    const cron = "7,40 */9 22-3 * * *";
    const task = createTask(cron, () => undefined, { timezone: "UTC" });
    const seconds = Array.from({ length: 86_400 }, (_, second) => new Date(DAY_MS * 20_000 + second * 1_000));

    const fired = seconds.filter((second) => task.match(second)).length;
    void task.destroy();

    expect(firingsOf(cron).perDay).toBe(fired);
  });

  it("is an error if node-cron cannot parse it", () => {
    expect(() => firingsOf("every minute please")).toThrow();
    // node-cron finds this one out while parsing.
    expect(() => firingsOf("0 0 0 30 2 *")).toThrow("impossible");
  });
});

describe("the longest interval of a schedule", () => {
  it("is the widest gap between two firings", () => {
    const gaps = {
      "*/30 * * * * *": 30_000,
      "*/45 * * * * *": 45_000,
      "0 5,25 * * * *": 40 * 60_000,
      "0 0 4 * * *": DAY_MS,
      "0 0 9-17 * * *": 16 * HOUR_MS,
      "0 0 9-17 * * 1-5": 64 * HOUR_MS,
      "0 0 3 * * 0": 7 * DAY_MS,
      "0 0 0 1 * *": 31 * DAY_MS,
      [NEVER]: Number.POSITIVE_INFINITY,
    };

    expect(
      Object.fromEntries(Object.keys(gaps).map((cron) => [cron, firingsOf(cron).longestIntervalMs])),
    ).toEqual(gaps);
  });
});

describe("a schedule that never fires", () => {
  it("has dates that do not exist within four years", () => {
    const schedules = [NEVER, "0 0 0 31 1 1#1", "0 0 0 29 2 1#5", "* * * * * *"];

    expect(schedules.map((cron) => firingsOf(cron).perDay === 0)).toEqual([true, true, true, false]);
  });
});
