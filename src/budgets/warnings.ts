import { type Budget, endpointsOf, type Fleet } from "../core/model/fleet.ts";
import { formatNumber, perWindow } from "../core/model/text.ts";
import { requestsOfFullestAccount } from "./accounts.ts";
import { countedAtOnce } from "./ledger.ts";

const WINDOW = { hour: "an hour", day: "a day", month: "31 days" } as const;

/** A sentence for each budget that its schedules fit so tightly that some polls will not be sent. */
export function budgetWarnings(fleet: Fleet): readonly string[] {
  const endpoints = endpointsOf(fleet);
  return fleet.budgets.flatMap((budget) => {
    const users = endpoints.filter((endpoint) => endpoint.budget === budget.name);
    return tightness(budget, requestsOfFullestAccount(budget, users));
  });
}

function tightness(budget: Budget, requests: number): readonly string[] {
  const { name, limit, per } = budget;
  const atOnce = countedAtOnce(budget, requests);
  if (atOnce <= limit) {
    return [];
  }
  const fits = formatNumber(Math.floor((requests * limit) / atOnce));
  const window = perWindow(per);
  return [
    `budget ${name}: the schedules make ${formatNumber(Math.round(requests))} of ${formatNumber(limit)} requests ${window}, and up to ` +
      `${formatNumber(Math.round(atOnce))} count at once, each for a little longer than ${WINDOW[per]}: ` +
      `some polls will not be sent; up to ${fits} ${window} always fit`,
  ];
}
