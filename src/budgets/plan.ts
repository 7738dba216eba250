import { type Budget, type Endpoint, endpointsOf, type Fleet } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { Plan, PlannedBudget, PlannedProbe, PlanRow } from "../core/model/plan.ts";
import { MOST_IN_REQUEST, type Selection } from "../core/model/selection.ts";
import { firingsOf } from "../schedule/firing-times.ts";
import { requestsOfBusiestAccount } from "./accounts.ts";

const DAY_SECONDS = 86_400;

/** Works out how many requests a fleet's schedules make. */
export function planFleet(fleet: Fleet): Plan {
  const budgets = new Map(fleet.budgets.map((budget) => [budget.name, budget]));
  const rows = [...groupBy(endpointsOf(fleet), groupName).values()].flatMap((group) =>
    planRow(group, budgets),
  );
  return {
    indexers: rows,
    budgets: fleet.budgets.flatMap((budget) => planBudget(budget, fleet)),
    totals: {
      endpoints: rows.reduce((total, row) => total + row.endpoints, 0),
      requests_per_day: rows.reduce((total, row) => total + row.requests_per_day, 0),
    },
    skipped: fleet.skipped,
  };
}

function groupName({ protocol, variant, tier, schedule, budget }: Endpoint): string {
  return [protocol, variant, tier, schedule, budget].join("\n");
}

function planRow(group: readonly Endpoint[], budgets: ReadonlyMap<string, Budget>): readonly PlanRow[] {
  // These fields have the same values in all endpoints of a group.
  return group.slice(0, 1).map(({ protocol, variant, tier, schedule, pollIntervalMs, budget: name }) => {
    const budget = budgets.get(name ?? "");
    const probes = planProbes(group);
    const probeRequests = probes.reduce((sum, probe) => sum + probe.requests_per_day, 0);
    return {
      protocol,
      variant,
      tier,
      endpoints: group.length,
      names: group.map(({ name }) => name),
      schedule,
      interval_seconds: pollIntervalMs / 1_000,
      requests_per_day: group.length * firingsOf(schedule).perDay + probeRequests,
      budget: budget?.name ?? null,
      share: budget === undefined ? null : requestsOfBusiestAccount(budget, group) / budget.limit,
      probes,
    };
  });
}

/** The probes of a group of endpoints with the same schedule. `every_seconds`: the longest of the endpoints. */
function planProbes(group: readonly Endpoint[]): readonly PlannedProbe[] {
  const planned = new Map<string, PlannedProbe>();
  for (const { pollIntervalMs, selections = [] } of group) {
    const probes = [...groupBy(selections, ({ probe }) => probe)];
    // A poll carries at most one request for probes, so all probes together take this number of polls.
    const pollsForAll = probes.reduce((sum, [, own]) => sum + requestsFor(own), 0);
    for (const [probe, own] of probes) {
      const [first] = own;
      const known = planned.get(probe);
      const everyPolls = Math.max(pollsForAll, Math.ceil((first?.everyMs ?? 0) / pollIntervalMs));
      const everySeconds = (everyPolls * pollIntervalMs) / 1_000;
      const requests =
        first?.address == null ? 0 : Math.ceil((requestsFor(own) * DAY_SECONDS) / everySeconds);
      planned.set(probe, {
        probe,
        every_seconds: Math.max(known?.every_seconds ?? 0, everySeconds),
        requests_per_day: (known?.requests_per_day ?? 0) + requests,
      });
    }
  }
  return [...planned.values()];
}

/** How many requests the query of one probe takes for all targets of an endpoint. */
function requestsFor(selections: readonly Selection[]): number {
  const byUrl = [...groupBy(selections, ({ address }) => address?.url).values()];
  return byUrl.reduce((sum, own) => sum + Math.ceil(own.length / MOST_IN_REQUEST), 0);
}

function planBudget({ name, ...budget }: Budget, fleet: Fleet): readonly PlannedBudget[] {
  const users = usersOf(name, fleet);
  const requests = requestsOfBusiestAccount({ name, ...budget }, users);
  return users.length === 0
    ? []
    : [{ budget: name, ...budget, endpoints: users.length, requests, share: requests / budget.limit }];
}

function usersOf(budget: string, fleet: Fleet): readonly Endpoint[] {
  return endpointsOf(fleet).filter((endpoint) => endpoint.budget === budget);
}
