import { accountIdOf, loadsOf } from "../budgets/accounts.ts";
import type { Budget, Endpoint } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { chooseCadence, fitProblem } from "../schedule/cadence.ts";
import { longestIntervalMs } from "../schedule/firing-times.ts";
import type { Draft } from "./indexers.ts";
import type { Problems } from "./problems.ts";

/** Used where no cadence fits, which is reported: the file is refused. */
const NONE_FITS = "0 0 */6 * * *";

/** Chooses what `auto` means for each endpoint, and reports schedules that their budget cannot bear. In the same order. */
export function withSchedules(
  drafts: readonly Draft[],
  budgets: readonly Budget[],
  problems: Problems,
): readonly Endpoint[] {
  const budgetOf = ({ endpoint }: Draft) => budgets.find(({ name }) => name === endpoint.budget) ?? null;
  const accounts = groupBy(drafts, (draft) => {
    const budget = budgetOf(draft);
    return budget === null ? null : `${budget.name} ${accountIdOf(budget, draft.endpoint.url)}`;
  });
  const autos = new Map(
    [...accounts].flatMap(([, sharers]) => {
      const [first] = sharers;
      const auto = chooseAuto(first === undefined ? null : budgetOf(first), sharers, problems);
      return sharers.map((draft) => [draft, auto] as const);
    }),
  );
  return drafts.map((draft) => withTiming(draft.endpoint, autos.get(draft) ?? NONE_FITS));
}

/** When an endpoint without a budget is polled. */
export function withoutBudget(endpoint: Endpoint): Endpoint {
  const choice = chooseCadence({ endpoints: 1, budget: null });
  return withTiming(endpoint, choice.kind === "chosen" ? choice.cadence.cron : NONE_FITS);
}

function withTiming(endpoint: Endpoint, auto: string): Endpoint {
  const schedule = endpoint.schedule === "auto" ? auto : endpoint.schedule;
  const pollIntervalMs = longestIntervalMs(schedule);
  const targets = endpoint.targets.map((target) => ({ ...target, pollIntervalMs }));
  return { ...endpoint, schedule, pollIntervalMs, targets };
}

/** What `auto` means for those who draw on one account. Where nothing fits, that is reported. */
function chooseAuto(budget: Budget | null, sharers: readonly Draft[], problems: Problems): string {
  const fixed = sharers.filter(({ endpoint }) => endpoint.schedule !== "auto");
  const auto = sharers.filter(({ endpoint }) => endpoint.schedule === "auto");
  const loads = loadsOf(fixed.map(({ endpoint }) => endpoint));
  const misfit = budget === null ? null : fitProblem(budget, loads);
  const choice =
    budget === null
      ? chooseCadence({ endpoints: 1, budget })
      : chooseCadence({ endpoints: auto.length, budget, fixed: loads });
  const problem = misfit ?? (choice.kind === "none" && auto.length > 0 ? choice.problem : null);
  const blamed = misfit === null ? auto[0] : fixed[0];
  if (problem !== null && blamed !== undefined) {
    problems.add(blamed.schedulePath, `beyond budget "${budget?.name}": ${problem}`);
  }
  return choice.kind === "chosen" ? choice.cadence.cron : NONE_FITS;
}
