import { type Budget, type Endpoint, endpointsOf, type Fleet } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { Plan, PlannedBudget, PlannedProbe, PlanRow } from "../core/model/plan.ts";
import { MOST_IN_REQUEST } from "../core/model/selection.ts";
import { firingsOf } from "../schedule/firing-times.ts";
import { requestsOfFullestAccount } from "./accounts.ts";

/** Works out how many requests a fleet's schedules make. */
export function planFleet(fleet: Fleet): Plan {
  const budgets = new Map(fleet.budgets.map((budget) => [budget.name, budget]));
  const indexers = [...groupBy(endpointsOf(fleet), groupName).values()].flatMap((group) =>
    planRow(group, budgets),
  );
  return {
    indexers,
    budgets: fleet.budgets.flatMap((budget) => planBudget(budget, fleet)),
    totals: {
      endpoints: indexers.reduce((total, row) => total + row.endpoints, 0),
      requests_per_day: indexers.reduce((total, row) => total + row.requests_per_day, 0),
    },
    skipped: fleet.skipped,
  };
}

function groupName({ protocol, variant, tier, schedule, budget }: Endpoint): string {
  return [protocol, variant, tier, schedule, budget].join("\n");
}

function planRow(group: readonly Endpoint[], budgets: ReadonlyMap<string, Budget>): readonly PlanRow[] {
  // The endpoints of a group agree in all of these.
  return group.slice(0, 1).map(({ protocol, variant, tier, schedule, pollIntervalMs, budget: name }) => {
    const budget = budgets.get(name ?? "");
    return {
      protocol,
      variant,
      tier,
      endpoints: group.length,
      names: group.map(({ name }) => name),
      schedule,
      interval_seconds: pollIntervalMs / 1_000,
      requests_per_day: group.length * firingsOf(schedule).perDay,
      budget: budget?.name ?? null,
      share: budget === undefined ? null : requestsOfFullestAccount(budget, group) / budget.limit,
      probes: planProbes(group),
    };
  });
}

/** The probes of endpoints that are polled alike: each as often as where it is asked most rarely. */
function planProbes(group: readonly Endpoint[]): readonly PlannedProbe[] {
  const everyMs = new Map<string, number>();
  for (const { pollIntervalMs, selections = [] } of group) {
    const probes = [...groupBy(selections, ({ probe }) => probe)];
    // A request has the query of one probe.
    const polls = probes.reduce((sum, [, own]) => sum + Math.ceil(own.length / MOST_IN_REQUEST), 0);
    for (const [probe, [first]] of probes) {
      const needed = Math.max(polls, Math.ceil((first?.everyMs ?? 0) / pollIntervalMs));
      everyMs.set(probe, Math.max(everyMs.get(probe) ?? 0, needed * pollIntervalMs));
    }
  }
  return Array.from(everyMs, ([probe, ms]) => ({ probe, every_seconds: ms / 1_000 }));
}

function planBudget({ name, ...budget }: Budget, fleet: Fleet): readonly PlannedBudget[] {
  const users = usersOf(name, fleet);
  const requests = requestsOfFullestAccount({ name, ...budget }, users);
  return users.length === 0
    ? []
    : [{ budget: name, ...budget, endpoints: users.length, requests, share: requests / budget.limit }];
}

function usersOf(budget: string, fleet: Fleet): readonly Endpoint[] {
  return endpointsOf(fleet).filter((endpoint) => endpoint.budget === budget);
}
