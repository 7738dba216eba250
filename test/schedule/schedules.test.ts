import fc from "fast-check";
import { createTask } from "node-cron";
import { describe, expect, it } from "vitest";
import type { Budget } from "../../src/core/model/fleet.ts";
import {
  chooseCadence,
  fitProblem,
  LADDER,
  type Load,
  requestsPerWindow,
} from "../../src/schedule/cadence.ts";
import { firingsOf } from "../../src/schedule/firing-times.ts";
import { cpuMsOf } from "../support/cpu-of.ts";
import { expectTold } from "../support/tell.ts";

const BUDGETS: Readonly<Record<string, Partial<Budget>>> = {
  gateway: { limit: 100_000, per: "month", scope: "shared" },
  hourly: { limit: 100, per: "hour" },
};

describe("schedules", () => {
  it("are as test/fixtures/schedules.txt says", async () => {
    await expectTold("test/fixtures/schedules.txt", () => ({ do: say }));
  });

  it("fire when node-cron's own matcher says so, over a day", () => {
    const cron = "7,40 */9 22-3 * * *";
    const task = createTask(cron, () => undefined, { timezone: "UTC" });
    const seconds = Array.from(
      { length: 86_400 },
      (_, second) => new Date((20_000 * 86_400 + second) * 1_000),
    );

    const fired = seconds.filter((second) => task.match(second)).length;
    void task.destroy();

    expect(firingsOf(cron).perDay).toBe(fired);
  });

  it("take no longer to compute if each of 500 endpoints has its own second and minute", async () => {
    const costOf = (dates: string, times: number) =>
      cpuMsOf(() => {
        for (let number = 0; number < times; number += 1) {
          firingsOf(`${number % 60} ${Math.floor(number / 60)} 4 ${dates}`);
        }
      });

    const one = await costOf("1-27 * *", 5);
    const many = await costOf("1-28 * *", 500);

    expect(many / one).toBeLessThan(20);
  });

  it("of `auto` use at most nine tenths of a budget, and would use more at the next shorter interval", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 1e6 }),
        fc.constantFrom("hour", "day", "month"),
        (endpoints, limit, per) => {
          const choice = chooseCadence(endpoints, { name: "any", scope: "shared", limit, per });

          const fits = LADDER.map(({ cron }) => requestsPerWindow([{ endpoints, cron }], per) <= 0.9 * limit);
          const expected = LADDER[fits.indexOf(true)];
          expect(choice.problem === null ? choice.cron : undefined).toBe(expected?.cron);
        },
      ),
      { numRuns: 30 },
    );
  });
});

function say(line: string): readonly string[] {
  const [verb = "", first = "", second = ""] = line.split(" ");
  const [, own = "", beside = ""] = /^\w+ (.*?)(?: beside (.*))?$/.exec(line) ?? [];
  switch (verb) {
    case "fires":
      return [firings(own)];
    case "ladder":
      return LADDER.map(({ label, cron }) => `${label}: ${firings(cron)}`);
    case "auto": {
      const { cron, problem } = chooseCadence(
        Number(first),
        second === "" ? null : budgetOf(second),
        loadsOf(beside),
      );
      return [cron, ...(problem === null ? [] : [problem])];
    }
    default:
      return [fitProblem(budgetOf(first), loadsOf(own.slice(first.length + 1))) ?? "fits"];
  }
}

function firings(cron: string): string {
  try {
    const { perHour, perDay, longestIntervalMs } = firingsOf(cron);
    const often = `${perHour} an hour, ${perDay} a day`;
    const isNever = longestIntervalMs === Number.POSITIVE_INFINITY;
    return isNever ? "never" : `${often}, at most ${longestIntervalMs / 1_000} s apart`;
  } catch (error) {
    return String(error);
  }
}

function budgetOf(text: string): Budget {
  const [name = "", limit] = text.split("=");
  const budget: Budget = { name, limit: 3_000, per: "day", scope: "endpoint", ...BUDGETS[name] };
  return { ...budget, limit: Number(limit ?? budget.limit) };
}

function loadsOf(text: string): readonly Load[] {
  return text
    .split(" and ")
    .filter((one) => one !== "")
    .map((one) => ({ endpoints: Number(one.split(" ")[0]), cron: one.slice(one.indexOf(" ") + 1) }));
}
