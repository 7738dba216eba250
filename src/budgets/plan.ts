import { type Budget, type Endpoint, endpointsOf, type Fleet } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { FaultBasis, Plan, PlannedBudget, PlanRow } from "../core/model/plan.ts";
import { formatNumber, perWindow } from "../core/model/text.ts";
import { FLIP_WEIGHT, WEAK_WEIGHT } from "../core/source/settled-status.ts";
import { firingsOf } from "../schedule/firing-times.ts";
import { requestsOfFullestAccount } from "./accounts.ts";
import { countedAtOnce } from "./ledger.ts";

/** The longest delay before a failed poll is retried: short compared with the poll intervals, so that faults show soon. */
export const LONGEST_RETRY_DELAY_MS = 200;

/** Works out how many requests a fleet's schedules make, and how soon they show a fault. */
export function planFleet(
  fleet: Fleet,
  { timeoutMs, retries }: { readonly timeoutMs: number; readonly retries: number },
): Plan {
  const basis = {
    polls: Math.ceil(FLIP_WEIGHT / WEAK_WEIGHT),
    pollMs: (1 + retries) * timeoutMs + retries * LONGEST_RETRY_DELAY_MS,
  };
  const budgets = new Map(fleet.budgets.map((budget) => [budget.name, budget]));
  const indexers = [...groupBy(endpointsOf(fleet), groupName).values()].flatMap((group) =>
    planRow(group, budgets, basis),
  );
  return {
    indexers,
    budgets: fleet.budgets.flatMap((budget) => planBudget(budget, fleet)),
    totals: {
      endpoints: indexers.reduce((total, row) => total + row.endpoints, 0),
      requests_per_day: indexers.reduce((total, row) => total + row.requests_per_day, 0),
    },
    skipped: fleet.skipped,
    parity: fleet.parity.map(({ name: probe, protocol, variants, chains, everyMs }) => {
      return { probe, protocol, variants, chains, every_seconds: everyMs / 1_000, extra_requests: 0 };
    }),
    basis,
  };
}

function groupName({ protocol, variant, tier, schedule, budget }: Endpoint): string {
  return [protocol, variant, tier, schedule, budget].join("\n");
}

function planRow(
  group: readonly Endpoint[],
  budgets: ReadonlyMap<string, Budget>,
  basis: FaultBasis,
): readonly PlanRow[] {
  // The endpoints of a group agree in all of these.
  return group.slice(0, 1).map(({ protocol, variant, tier, schedule, pollIntervalMs, budget: name }) => {
    const budget = budgets.get(name ?? "");
    return {
      protocol,
      variant,
      tier,
      endpoints: group.length,
      schedule,
      interval_seconds: pollIntervalMs / 1_000,
      requests_per_day: group.length * firingsOf(schedule).perDay,
      budget: budget?.name ?? null,
      share: budget === undefined ? null : requestsOfFullestAccount(budget, group) / budget.limit,
      fault_shows_seconds: faultShowsMs(pollIntervalMs, basis) / 1_000,
    };
  });
}

function planBudget({ name, ...budget }: Budget, fleet: Fleet): readonly PlannedBudget[] {
  const users = usersOf(name, fleet);
  const requests = requestsOfFullestAccount({ name, ...budget }, users);
  return users.length === 0
    ? []
    : [{ budget: name, ...budget, endpoints: users.length, requests, share: requests / budget.limit }];
}

/** The wait for the first poll after the fault, for the polls that must agree with it (one at a time), and the duration of the last. */
function faultShowsMs(intervalMs: number, { polls, pollMs }: FaultBasis): number {
  const betweenPollsMs = Math.max(1, Math.ceil(pollMs / intervalMs)) * intervalMs;
  return intervalMs + (polls - 1) * betweenPollsMs + pollMs;
}

const WINDOW = { hour: "an hour", day: "a day", month: "31 days" } as const;

/** A sentence for each budget that its schedules fit so tightly that some polls will not be sent. */
export function budgetWarnings(fleet: Fleet): readonly string[] {
  return fleet.budgets.flatMap((budget) => {
    const { name, limit, per } = budget;
    const requests = requestsOfFullestAccount(budget, usersOf(name, fleet));
    const atOnce = countedAtOnce(budget, requests);
    const fits = formatNumber(Math.floor((requests * limit) / atOnce));
    const window = perWindow(per);
    return atOnce <= limit
      ? []
      : `budget ${name}: the schedules make ${formatNumber(Math.round(requests))} of ${formatNumber(limit)} requests ${window}, and up to ` +
          `${formatNumber(Math.round(atOnce))} count at once, each for a little longer than ${WINDOW[per]}: ` +
          `some polls will not be sent; up to ${fits} ${window} always fit`;
  });
}

function usersOf(budget: string, fleet: Fleet): readonly Endpoint[] {
  return endpointsOf(fleet).filter((endpoint) => endpoint.budget === budget);
}
