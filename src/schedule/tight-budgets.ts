import { type Budget, endpointsOf, type Fleet } from "../core/fleet.ts";
import { groupBy } from "../core/group-by.ts";
import { countText } from "../core/words.ts";
import { alikePurses } from "./alike-purses.ts";
import { countedAtOnce } from "./budget.ts";
import { requestsPerWindow } from "./cadence.ts";
import { purseKey } from "./purse-key.ts";

const WINDOW = { hour: "an hour", day: "a day", month: "31 days" } as const;

/** A sentence for each budget that its schedules fit, but so tightly that now and then a poll will not be sent. */
export function tightBudgets(fleet: Fleet): readonly string[] {
  const endpoints = endpointsOf(fleet);
  return fleet.budgets.flatMap((budget) => {
    const users = endpoints.filter((endpoint) => endpoint.budget === budget.name);
    const asked = alikePurses(users, ({ url }) => purseKey(budget, url)).map(({ sharers }) => {
      const loads = [...groupBy(sharers, ({ schedule }) => schedule)];
      return requestsPerWindow(
        loads.map(([cron, those]) => ({ cron, endpoints: those.length })),
        budget.per,
      );
    });
    return tightness(budget, Math.max(0, ...asked));
  });
}

function tightness(budget: Budget, requests: number): readonly string[] {
  const { name, limit, per } = budget;
  const atOnce = countedAtOnce(budget, requests);
  if (atOnce <= limit) {
    return [];
  }
  const fits = countText(Math.floor((requests * limit) / atOnce));
  const window = per === "hour" ? "an hour" : `a ${per}`;
  return [
    `budget ${name}: the schedules ask for ${countText(requests)} of ${countText(limit)} ${window}, and up to ` +
      `${countText(atOnce)} count at once, each for a little longer than ${WINDOW[per]}: ` +
      `now and then polls will not be sent; up to ${fits} ${window} always fit`,
  ];
}
