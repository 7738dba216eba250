import { accountIdOf, loadsOf } from "../../budgets/accounts.ts";
import type { Budget } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { type CadenceChoice, chooseCadence, fitProblem } from "../../schedule/cadence.ts";
import { longestIntervalMs } from "../../schedule/firing-times.ts";
import type { EndpointPlan } from "./indexer.ts";
import type { ResolveContext } from "./resolve-context.ts";

/** When something is polled. */
export interface Timing {
  /** Six fields, seconds first. */
  readonly schedule: string;
  readonly pollIntervalMs: number;
}

/** Chooses what `auto` means for each endpoint, and reports schedules that their budget cannot bear. */
export function assignSchedules(
  endpoints: readonly EndpointPlan[],
  budgets: readonly Budget[],
  context: ResolveContext,
): ReadonlyMap<EndpointPlan, Timing> {
  const byBudget = groupBy(endpoints, ({ address }) => budgets.find(({ name }) => name === address.budget));
  const timings = [...byBudget].flatMap(([budget, users]) => {
    if (budget === undefined) {
      return users.map((user) => [user, timeWithoutBudget(user.schedule)] as const);
    }
    const accounts = groupBy(users, ({ address }) => accountIdOf(budget, address.url.href));
    return [...accounts.values()].flatMap((sharers) => {
      const auto = chooseAuto(budget, sharers, context);
      return sharers.map((user) => [user, timingOf(cronOf(user.schedule, auto))] as const);
    });
  });
  return new Map(timings);
}

/** When a schedule without a budget fires. */
export function timeWithoutBudget(schedule: string): Timing {
  return timingOf(cronOf(schedule, chooseCadence({ endpoints: 1, budget: null })));
}

/** What `auto` means for those who draw on one account. Where nothing fits, that is reported. */
function chooseAuto(
  budget: Budget,
  sharers: readonly EndpointPlan[],
  context: ResolveContext,
): CadenceChoice {
  const fixed = sharers.filter(({ schedule }) => schedule !== "auto");
  const auto = sharers.filter(({ schedule }) => schedule === "auto");
  const loads = loadsOf(fixed);
  const misfit = fitProblem(budget, loads);
  if (misfit !== null) {
    context.addProblem(fixed[0]?.schedulePath ?? [], `Cannot stay within budget "${budget.name}": ${misfit}`);
    return { kind: "none", problem: misfit };
  }
  const choice = chooseCadence({ endpoints: auto.length, budget, fixed: loads });
  if (choice.kind === "none" && auto[0] !== undefined) {
    context.addProblem(auto[0].schedulePath, `Cannot stay within budget "${budget.name}": ${choice.problem}`);
  }
  return choice;
}

function cronOf(schedule: string, auto: CadenceChoice): string {
  if (schedule !== "auto") {
    return schedule;
  }
  // Where no cadence fits, that has been reported: the file is refused, and this schedule never used.
  return auto.kind === "chosen" ? auto.cadence.cron : "0 0 */6 * * *";
}

function timingOf(schedule: string): Timing {
  return { schedule, pollIntervalMs: longestIntervalMs(schedule) };
}
