import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Budget } from "../../src/core/model/fleet.ts";
import { chooseCadence, fitProblem, LADDER, requestsPerWindow } from "../../src/schedule/cadence.ts";
import { firingsOf } from "../../src/schedule/firing-times.ts";

const gateway: Budget = { name: "gateway", limit: 100_000, per: "month", scope: "shared" };
const studio: Budget = { name: "studio", limit: 3_000, per: "day", scope: "endpoint" };
const hourly: Budget = { name: "hourly", limit: 100, per: "hour", scope: "endpoint" };

describe("LADDER", () => {
  it("fires evenly at each of its cadences", () => {
    const measured = LADDER.map(({ cron }) => [
      firingsOf(cron).longestIntervalMs,
      86_400_000 / firingsOf(cron).perDay,
    ]);

    const unitsMs = { s: 1_000, min: 60_000, h: 3_600_000 };
    const labelled = LADDER.map(({ label }) => {
      const [count, unit] = label.split(" ");
      return Number(count) * unitsMs[unit as keyof typeof unitsMs];
    });
    expect(measured).toEqual(labelled.map((intervalMs) => [intervalMs, intervalMs]));
  });
});

describe("chooseCadence()", () => {
  it("takes the fastest that fits: 30 s without a budget", () => {
    const wanted = [
      { endpoints: 1, budget: studio },
      { endpoints: 46, budget: gateway },
      { endpoints: 1, budget: gateway },
      { endpoints: 1, budget: hourly },
      { endpoints: 46, budget: null },
    ];

    const [minutely, halfHourly, halfMinutely] = ["0 * * * * *", "0 */30 * * * *", "*/30 * * * * *"];
    expect(wanted.map(({ endpoints, budget }) => chooseCadence(endpoints, budget).cron)).toEqual([
      minutely,
      halfHourly,
      halfMinutely,
      minutely,
      halfMinutely,
    ]);
  });

  it("leaves room for the fixed schedules that share the budget", () => {
    const fixed = [{ endpoints: 6, cron: "0 */5 * * * *" }];

    expect(chooseCadence(46, gateway, fixed)).toEqual({ cron: "0 0 * * * *", problem: null });
  });

  it("says with the arithmetic when even the slowest does not fit", () => {
    const fixed = [{ endpoints: 1, cron: "0 0 0 * * *" }];

    expect(chooseCadence(46, { ...gateway, limit: 1_000 }, fixed)).toEqual({
      cron: "0 0 */6 * * *",
      problem:
        "1 endpoint × 1 a day × 30.4 days + 46 endpoints × 4 a day × 30.4 days = 5,624 > 900, " +
        "nine tenths of 1,000 a month, even with auto at every 6 h",
    });
  });

  it("uses at most nine tenths, and would use more one rung faster", () => {
    const anyPer = fc.constantFrom("hour", "day", "month");
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 1e6 }),
        anyPer,
        (endpoints, limit, per) => {
          const choice = chooseCadence(endpoints, { ...gateway, limit, per });

          const fits = LADDER.map(({ cron }) => requestsPerWindow([{ endpoints, cron }], per) <= 0.9 * limit);
          const expected = LADDER[fits.indexOf(true)];
          expect(choice.problem === null ? choice.cron : undefined).toBe(expected?.cron);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe("fitProblem()", () => {
  it("shows the arithmetic", () => {
    const problems = [
      fitProblem(gateway, [{ endpoints: 52, cron: "0 * * * * *" }]),
      fitProblem(studio, [{ endpoints: 1, cron: "*/15 * * * * *" }]),
      fitProblem(hourly, [
        { endpoints: 1, cron: "*/30 * * * * *" },
        { endpoints: 2, cron: "0 */30 * * * *" },
      ]),
      fitProblem({ ...gateway, limit: 20 }, [{ endpoints: 30, cron: "0 0 0 1 1 *" }]),
    ];

    expect(problems).toEqual([
      "52 endpoints × 1,440 a day × 30.4 days = 2,276,352 > 100,000 a month; the fastest that fits is every 30 min",
      "1 endpoint × 5,760 a day = 5,760 > 3,000 a day; the fastest that fits is every 30 s",
      "1 endpoint × 120 an hour + 2 endpoints × 2 an hour = 124 > 100 an hour; the fastest that fits is every 2 min",
      "30 endpoints × 1 a day × 1 day = 30 > 20 a month; no schedule of up to every 6 h fits",
    ]);
  });

  it("has nothing to say of schedules that fit", () => {
    expect(fitProblem(studio, [{ endpoints: 1, cron: "*/30 * * * * *" }])).toBeNull();
  });
});
