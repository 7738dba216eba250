import { type Budget, type Endpoint, endpointsOf, type Fleet } from "../core/model/fleet.ts";
import type { FaultBasis, Plan, PlannedBudget, PlanRow } from "../core/model/plan.ts";
import { FLIP_WEIGHT, WEAK_WEIGHT } from "../core/source/settled-status.ts";
import { type Load, requestsPerWindow } from "../schedule/cadence.ts";
import { requestsPerDay } from "../schedule/firing-times.ts";
import { accountIdOf } from "./account-id.ts";
import { alikeAccounts } from "./alike-accounts.ts";

type Group<T> = readonly [T, ...T[]];

/** Between two tries of one poll, half of it at least: short beside the intervals, so that a fault is told soon. */
export const LONGEST_RETRY_DELAY_MS = 200;

/** Works out what a fleet's schedules ask of everybody, and how soon they show a fault. */
export function planFleet(
  fleet: Fleet,
  poll: { readonly timeoutMs: number; readonly retries: number },
): Plan {
  const basis = {
    polls: Math.ceil(FLIP_WEIGHT / WEAK_WEIGHT),
    pollMs: (1 + poll.retries) * poll.timeoutMs + poll.retries * LONGEST_RETRY_DELAY_MS,
  };
  const budgets = new Map(fleet.budgets.map((budget) => [budget.name, budget]));
  const rows = groupBy(endpointsOf(fleet), groupName).map((group) => planRow(group, { budgets, basis }));
  return {
    rows,
    budgets: fleet.budgets.flatMap((budget) => planBudget(budget, fleet)),
    endpoints: rows.reduce((total, row) => total + row.endpoints, 0),
    requestsPerDay: rows.reduce((total, row) => total + row.requestsPerDay, 0),
    basis,
    skipped: fleet.skipped,
  };
}

function groupName({ protocol, variant, tier, schedule, budget }: Endpoint): string {
  return [protocol, variant, tier, schedule, budget].join("\n");
}

function planRow(
  group: Group<Endpoint>,
  { budgets, basis }: { readonly budgets: ReadonlyMap<string, Budget>; readonly basis: FaultBasis },
): PlanRow {
  const [{ protocol, variant, tier, schedule, pollIntervalMs, budget: budgetName }] = group;
  const budget = budgets.get(budgetName ?? "") ?? null;
  return {
    protocol,
    variant,
    tier,
    endpoints: group.length,
    schedule,
    intervalMs: pollIntervalMs,
    requestsPerDay: group.length * requestsPerDay(schedule),
    budget,
    share: budget === null ? null : requestsOf(budget, group) / budget.limit,
    faultShowsMs: faultShowsMs(pollIntervalMs, basis),
  };
}

function planBudget(budget: Budget, fleet: Fleet): readonly PlannedBudget[] {
  const users = endpointsOf(fleet).filter((endpoint) => endpoint.budget === budget.name);
  const requests = requestsOf(budget, users);
  return users.length === 0
    ? []
    : [{ budget, endpoints: users.length, requests, share: requests / budget.limit }];
}

/** In one window, of the fullest purse: the only one of a shared budget, or that of the URL that is asked the most. */
function requestsOf(budget: Budget, users: readonly Endpoint[]): number {
  const purses = alikeAccounts(users, ({ url }) => accountIdOf(budget, url));
  return Math.max(0, ...purses.map(({ sharers }) => requestsPerWindow(loadsOf(sharers), budget.per)));
}

function loadsOf(sharers: readonly Endpoint[]): readonly Load[] {
  return groupBy(sharers, ({ schedule }) => schedule).map((group) => ({
    endpoints: group.length,
    cron: group[0].schedule,
  }));
}

/** The first poll after the fault, the further ones that must agree, none before the former is over, and the last one's own time. */
function faultShowsMs(intervalMs: number, { polls, pollMs }: FaultBasis): number {
  const betweenPollsMs = Math.max(1, Math.ceil(pollMs / intervalMs)) * intervalMs;
  return intervalMs + (polls - 1) * betweenPollsMs + pollMs;
}

function groupBy<T>(items: readonly T[], nameOf: (item: T) => string): readonly Group<T>[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const group = groups.get(nameOf(item));
    if (group === undefined) {
      groups.set(nameOf(item), [item]);
    } else {
      group.push(item);
    }
  }
  return [...groups.values()];
}
