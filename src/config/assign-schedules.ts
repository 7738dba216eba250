import type { Budget } from "../core/fleet.ts";
import { type CadenceChoice, chooseCadence, fitProblem, type Load } from "../schedule/cadence.ts";
import { longestIntervalMs } from "../schedule/firing-times.ts";
import type { EndpointPlan } from "./resolve-indexer.ts";
import type { Resolving } from "./resolving.ts";

/** When something is polled. */
export interface Timing {
  /** Six fields, seconds first. */
  readonly schedule: string;
  readonly pollIntervalMs: number;
}

/** Endpoints whose requests add up. Those of a budget with scope `endpoint` do not: one stands for its likes. */
interface Pool {
  readonly budget: Budget | null;
  readonly endpoints: readonly EndpointPlan[];
}

/** Chooses what `auto` means for each endpoint, and tells of schedules that their budget cannot bear. */
export function assignSchedules(
  endpoints: readonly EndpointPlan[],
  budgets: readonly Budget[],
  resolving: Resolving,
): ReadonlyMap<EndpointPlan, Timing> {
  const timed = poolsOf(endpoints, budgets).flatMap((pool) => {
    const auto = chooseAuto(pool, resolving);
    return pool.endpoints.map((endpoint) => ({ endpoint, schedule: cronOf(endpoint.schedule, auto) }));
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
  const pools = new Map<string, { budget: Budget | null; endpoints: EndpointPlan[] }>();
  for (const endpoint of endpoints) {
    const budget = budgets.find(({ name }) => name === endpoint.address.budget) ?? null;
    const key = budget?.scope === "shared" ? budget.name : `${budget?.name ?? ""} ${endpoint.schedule}`;
    const pool = pools.get(key) ?? { budget, endpoints: [] };
    pool.endpoints.push(endpoint);
    pools.set(key, pool);
  }
  return [...pools.values()];
}

/** What `auto` means in a pool. Where nothing fits, that is told. */
function chooseAuto({ budget, endpoints }: Pool, { tell }: Resolving): CadenceChoice {
  const counted = budget?.scope === "shared" ? endpoints : endpoints.slice(0, 1);
  const fixed = counted.filter(({ schedule }) => schedule !== "auto");
  const auto = counted.filter(({ schedule }) => schedule === "auto");
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
