import { accountIdOf } from "../../budgets/account-id.ts";
import { type AlikeAccounts, alikeAccounts } from "../../budgets/alike-accounts.ts";
import type { Budget } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { type CadenceChoice, chooseCadence, fitProblem, type Load } from "../../schedule/cadence.ts";
import { longestIntervalMs } from "../../schedule/firing-times.ts";
import type { EndpointPlan } from "./indexer.ts";
import type { ResolveContext } from "./resolve-context.ts";

/** When something is polled. */
export interface Timing {
  /** Six fields, seconds first. */
  readonly schedule: string;
  readonly pollIntervalMs: number;
}

interface Pool extends AlikeAccounts<EndpointPlan> {
  readonly budget: Budget | null;
}

/** Chooses what `auto` means for each endpoint, and tells of schedules that their budget cannot bear. */
export function assignSchedules(
  endpoints: readonly EndpointPlan[],
  budgets: readonly Budget[],
  resolving: ResolveContext,
): ReadonlyMap<EndpointPlan, Timing> {
  const timed = poolsOf(endpoints, budgets).flatMap((pool) => {
    const auto = chooseAuto(pool, resolving);
    return pool.users.map((endpoint) => ({ endpoint, schedule: cronOf(endpoint.schedule, auto) }));
  });
  const timings = new Map(
    [...new Set(timed.map(({ schedule }) => schedule))].map((cron) => [cron, timingOf(cron)]),
  );
  return new Map(
    timed.map(({ endpoint, schedule }) => [endpoint, timings.get(schedule) ?? timingOf(schedule)]),
  );
}

/** When a schedule without a budget fires. */
export function timeWithoutBudget(schedule: string): Timing {
  return timingOf(cronOf(schedule, chooseCadence({ endpoints: 1, budget: null })));
}

function poolsOf(endpoints: readonly EndpointPlan[], budgets: readonly Budget[]): readonly Pool[] {
  const byBudget = groupBy(endpoints, ({ address }) => budgets.find(({ name }) => name === address.budget));
  return [...byBudget].flatMap(([budget = null, users]) =>
    pursesOf(budget, users).map((purses): Pool => ({ budget, ...purses })),
  );
}

function pursesOf(
  budget: Budget | null,
  users: readonly EndpointPlan[],
): readonly AlikeAccounts<EndpointPlan>[] {
  return budget === null
    ? [{ sharers: [], users }]
    : alikeAccounts(users, ({ address }) => accountIdOf(budget, address.url.href));
}

/** What `auto` means in a pool. Where nothing fits, that is told. */
function chooseAuto({ budget, sharers }: Pool, { tell }: ResolveContext): CadenceChoice {
  const fixed = sharers.filter(({ schedule }) => schedule !== "auto");
  const auto = sharers.filter(({ schedule }) => schedule === "auto");
  const loads = loadsOf(fixed);
  const misfit = budget === null ? null : fitProblem(budget, loads);
  if (misfit !== null) {
    tell(fixed[0]?.schedulePath ?? [], `Cannot keep budget "${budget?.name}": ${misfit}`);
    return { kind: "none", problem: misfit };
  }
  const choice = chooseCadence({ endpoints: auto.length, budget, fixed: loads });
  if (choice.kind === "none" && auto[0] !== undefined) {
    tell(auto[0].schedulePath, `Cannot keep budget "${budget?.name}": ${choice.problem}`);
  }
  return choice;
}

function loadsOf(endpoints: readonly EndpointPlan[]): readonly Load[] {
  const crons = [...new Set(endpoints.map(({ schedule }) => schedule))];
  return crons.map((cron) => ({
    cron,
    endpoints: endpoints.filter(({ schedule }) => schedule === cron).length,
  }));
}

function cronOf(schedule: string, auto: CadenceChoice): string {
  if (schedule !== "auto") {
    return schedule;
  }
  // A budget that bears no cadence has been told: the file is refused, and this schedule never used.
  return auto.kind === "chosen" ? auto.cadence.cron : "0 0 */6 * * *";
}

function timingOf(schedule: string): Timing {
  return { schedule, pollIntervalMs: longestIntervalMs(schedule) };
}
