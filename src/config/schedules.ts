import { accountIdOf, loadsOf } from "../budgets/accounts.ts";
import type { Budget, Endpoint } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { chooseCadence, fitProblem } from "../schedule/cadence.ts";
import { firingsOf } from "../schedule/firing-times.ts";
import type { Draft } from "./indexers.ts";

/** Chooses what `auto` means for each endpoint, and reports schedules that their budget cannot bear. By the endpoint's key. */
export function withSchedules(
  drafts: readonly Draft[],
  budgets: readonly Budget[],
): ReadonlyMap<string, Endpoint> {
  const budgetOf = ({ endpoint }: Draft) => budgets.find(({ name }) => name === endpoint.budget) ?? null;
  const accounts = groupBy(drafts, (draft) => {
    const budget = budgetOf(draft);
    return budget === null ? null : `${budget.name} ${accountIdOf(budget, draft.endpoint.url)}`;
  });
  return new Map(
    [...accounts.values()].flatMap((sharers) => {
      const [first] = sharers;
      const auto = chooseAuto(first === undefined ? null : budgetOf(first), sharers);
      return sharers.map(({ endpoint }) => [endpoint.key, withTiming(endpoint, auto)] as const);
    }),
  );
}

function withTiming(endpoint: Endpoint, auto: string): Endpoint {
  const schedule = endpoint.schedule === "auto" ? auto : endpoint.schedule;
  const pollIntervalMs = firingsOf(schedule).longestIntervalMs;
  const targets = endpoint.targets.map((target) => ({ ...target, pollIntervalMs }));
  return { ...endpoint, schedule, pollIntervalMs, targets };
}

/** Chooses the schedule of `auto` for the endpoints of one account, or adds a problem. */
function chooseAuto(budget: Budget | null, sharers: readonly Draft[]): string {
  const fixed = sharers.filter(({ endpoint }) => endpoint.schedule !== "auto");
  const auto = sharers.filter(({ endpoint }) => endpoint.schedule === "auto");
  const loads = loadsOf(fixed.map(({ endpoint }) => endpoint));
  const misfit = budget && fitProblem(budget, loads);
  const endpoints = budget === null ? 1 : auto.length;
  const choice = chooseCadence(endpoints, budget, loads);
  const problem = misfit ?? choice.problem;
  const [blamed] = misfit === null ? auto : fixed;
  if (problem !== null) {
    blamed?.schedule.add(`beyond budget "${budget?.name}": ${problem}`);
  }
  return choice.cron;
}
