import { createTask } from "node-cron";
import { describe, expect, it } from "vitest";
import {
  firingRate,
  longestIntervalMs,
  neverFires,
  requestsPerDay,
} from "../../src/schedule/firing-times.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("requestsPerDay()", () => {
  it.each([
    { cron: "*/15 * * * * *", requests: 5_760 },
    { cron: "0 */20 * * * *", requests: 72 },
    { cron: "0 0 3 * * 0", requests: 1 },
    { cron: "0,0,30 0 8-9 * * MON-FRI", requests: 4 },
    { cron: "0 0 0 L-30 2 *", requests: 0 },
  ])("counts $requests for $cron", ({ cron, requests }) => {
    expect(requestsPerDay(cron)).toBe(requests);
  });

  it("agrees with node-cron's own matcher over a day", () => {
    const cron = "7,40 */9 22-3 * * *";
    const task = createTask(cron, () => undefined, { timezone: "UTC" });
    const seconds = Array.from({ length: 86_400 }, (_, second) => new Date(DAY_MS * 20_000 + second * 1_000));

    const fired = seconds.filter((second) => task.match(second)).length;
    void task.destroy();

    expect(requestsPerDay(cron)).toBe(fired);
  });

  it("throws on what node-cron cannot parse", () => {
    expect(() => requestsPerDay("every minute please")).toThrow();
  });
});

describe("firingRate()", () => {
  it.each([
    { cron: "0 * * * * *", rate: { perHour: 60, perDay: 1_440, daysPerMonth: 30.4 } },
    { cron: "0 0,59 0,23 * * *", rate: { perHour: 2, perDay: 4, daysPerMonth: 30.4 } },
    { cron: "0 0 12 * * 1-5", rate: { perHour: 1, perDay: 1, daysPerMonth: 23 } },
    // The first of February and of March lie within 31 days.
    { cron: "0 0 12 1 * *", rate: { perHour: 1, perDay: 1, daysPerMonth: 2 } },
    { cron: "0 0 12 29 2 *", rate: { perHour: 1, perDay: 1, daysPerMonth: 1 } },
    { cron: "0 0 0 L-30 2 *", rate: { perHour: 0, perDay: 0, daysPerMonth: 0 } },
  ])("takes the busiest hour, day and month of $cron", ({ cron, rate }) => {
    expect(firingRate(cron)).toEqual(rate);
  });
});

describe("longestIntervalMs()", () => {
  it.each([
    { cron: "*/30 * * * * *", ms: 30_000 },
    { cron: "*/45 * * * * *", ms: 45_000 },
    { cron: "0 5,25 * * * *", ms: 40 * 60_000 },
    { cron: "0 0 4 * * *", ms: DAY_MS },
    { cron: "0 0 9-17 * * *", ms: 16 * HOUR_MS },
    { cron: "0 0 9-17 * * 1-5", ms: 64 * HOUR_MS },
    { cron: "0 0 3 * * 0", ms: 7 * DAY_MS },
    { cron: "0 0 0 1 * *", ms: 31 * DAY_MS },
    { cron: "0 0 0 L-30 2 *", ms: Number.POSITIVE_INFINITY },
  ])("is the widest gap of $cron", ({ cron, ms }) => {
    expect(longestIntervalMs(cron)).toBe(ms);
  });
});

describe("neverFires()", () => {
  it.each([
    { cron: "0 0 0 L-30 2 *", never: true },
    { cron: "0 0 0 30 2 *", never: "throws" },
    { cron: "0 0 0 31 1 1#1", never: true },
    { cron: "0 0 0 29 2 1#5", never: false },
    { cron: "* * * * * *", never: false },
  ])("says $never of $cron", ({ cron, never }) => {
    if (never === "throws") {
      // node-cron finds this one out while parsing.
      expect(() => neverFires(cron)).toThrow("impossible");
      return;
    }
    expect(neverFires(cron)).toBe(never);
  });
});
