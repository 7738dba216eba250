import { describe, expect, it } from "vitest";
import { type Ledger, startLedger, take } from "../../src/budgets/ledger.ts";
import { budgetWarnings } from "../../src/budgets/plan.ts";
import type { Budget } from "../../src/core/model/fleet.ts";
import { endpointOf, fleetOf } from "./fleet-builder.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

interface Case {
  readonly schedule: string;
  readonly everyMs: number;
  readonly budget: Budget;
}

function perWindow(per: Budget["per"], limit: number): Budget {
  return { name: "small", limit, per, scope: "endpoint" };
}

const MINUTELY = { schedule: "0 * * * * *", everyMs: MINUTE_MS };
const HOURLY = { schedule: "0 0 * * * *", everyMs: 60 * MINUTE_MS };

describe("budgetWarnings()", () => {
  it("names a budget that is too tight for its schedules, with the arithmetic", () => {
    const budgets = [
      { budget: perWindow("hour", 60), ...MINUTELY },
      { budget: perWindow("day", 1_499), ...MINUTELY },
      { budget: perWindow("month", 760), ...HOURLY },
    ];

    const warnings = budgets.flatMap(({ budget, schedule }) =>
      budgetWarnings(fleetOf([endpointOf({ budget: "small", schedule })], [budget])),
    );

    expect(warnings).toEqual([
      "budget small: the schedules make 60 of 60 requests an hour, and up to 63 count at once, each for a little longer than an hour: some polls will not be sent; up to 57 an hour always fit",
      expect.stringMatching(/1,440 of 1,499 requests a day, and up to 1,500 .* longer than a day: /),
      expect.stringMatching(/730 of 760 requests a month, and up to 775 .* longer than 31 days: /),
    ]);
  });

  it("is exact: only those budgets refuse a scheduled poll", () => {
    const cases: readonly Case[] = [
      { budget: perWindow("hour", 62), ...MINUTELY },
      { budget: perWindow("hour", 63), ...MINUTELY },
      { budget: perWindow("day", 1_499), ...MINUTELY },
      { budget: perWindow("day", 1_500), ...MINUTELY },
      { budget: perWindow("month", 760), ...HOURLY },
      { budget: perWindow("month", 776), ...HOURLY },
    ];

    const isWarned = cases.map(
      ({ budget, schedule }) =>
        budgetWarnings(fleetOf([endpointOf({ budget: "small", schedule })], [budget])).length > 0,
    );

    expect(isWarned).toEqual([true, false, true, false, true, false]);
    expect(cases.map(isEverRefused)).toEqual(isWarned);
  });

  it("adds up endpoints that share an account, and names no unused budget", () => {
    const url = "http://127.0.0.1:9/";
    const users = ["a", "b"].map((variant) =>
      endpointOf({ variant, url, budget: "small", schedule: MINUTELY.schedule }),
    );
    const budgets = [perWindow("day", 2_880), { ...perWindow("day", 1), name: "idle" }];

    expect(budgetWarnings(fleetOf(users, budgets))).toEqual([
      expect.stringContaining("make 2,880 of 2,880 requests a day"),
    ]);
    expect(budgetWarnings(fleetOf(users, [perWindow("day", 3_000)]))).toEqual([]);
  });
});

function isEverRefused({ budget, everyMs }: Case): boolean {
  const start = Date.UTC(2026, 0, 1);
  const end = start + (budget.per === "month" ? 70 : 3) * DAY_MS;
  let ledger: Ledger | null = startLedger(budget, budget.limit);
  for (let nowMs = start; nowMs < end; nowMs += everyMs) {
    ledger = take(ledger, "scheduled", nowMs);
    if (ledger === null) {
      return true;
    }
  }
  return false;
}
