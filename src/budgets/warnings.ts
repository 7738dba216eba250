import { type Budget, endpointsOf, type Fleet } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { formatNumber } from "../core/model/text.ts";
import { requestsPerWindow } from "../schedule/cadence.ts";
import { accountIdOf } from "./account-id.ts";
import { alikeAccounts } from "./alike-accounts.ts";
import { countedAtOnce } from "./ledger.ts";

const WINDOW = { hour: "an hour", day: "a day", month: "31 days" } as const;

/** A sentence for each budget that its schedules fit, but so tightly that now and then a poll will not be sent. */
export function budgetWarnings(fleet: Fleet): readonly string[] {
  const endpoints = endpointsOf(fleet);
  return fleet.budgets.flatMap((budget) => {
    const users = endpoints.filter((endpoint) => endpoint.budget === budget.name);
    const asked = alikeAccounts(users, ({ url }) => accountIdOf(budget, url)).map(({ sharers }) => {
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
  const fits = formatNumber(Math.floor((requests * limit) / atOnce));
  const window = per === "hour" ? "an hour" : `a ${per}`;
  return [
    `budget ${name}: the schedules ask for ${formatNumber(Math.round(requests))} of ${formatNumber(limit)} ${window}, and up to ` +
      `${formatNumber(Math.round(atOnce))} count at once, each for a little longer than ${WINDOW[per]}: ` +
      `now and then polls will not be sent; up to ${fits} ${window} always fit`,
  ];
}
