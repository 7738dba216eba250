import type { Budget } from "../core/model/fleet.ts";
import { formatNumber, perWindow } from "../core/model/text.ts";
import { firingsOf } from "./firing-times.ts";

/** Endpoints that draw on one budget at one schedule. */
export interface Load {
  readonly endpoints: number;
  /** node-cron expression, seconds first. */
  readonly cron: string;
}

/** The cadences of `schedule: auto`, fastest first: each divides an hour or a day, so that its polls are evenly spaced. */
export const LADDER = [
  ...[15, 30].map((n) => ({ label: `${n} s`, cron: `*/${n} * * * * *` })),
  { label: "1 min", cron: "0 * * * * *" },
  ...[2, 3, 5, 10, 15, 20, 30].map((n) => ({ label: `${n} min`, cron: `0 */${n} * * * *` })),
  { label: "1 h", cron: "0 0 * * * *" },
  ...[2, 3, 6].map((n) => ({ label: `${n} h`, cron: `0 0 */${n} * * *` })),
];

const SLOWEST = { label: "6 h", cron: "0 0 */6 * * *" };
const WITHOUT_BUDGET = "*/30 * * * * *";

/** The last tenth is for retries, confirmation polls, and commands that people run. */
const AUTO_SHARE = 0.9;

/**
 * Chooses the cadence of `schedule: auto`: the fastest of the ladder at which all endpoints of the budget together use at most
 * nine tenths of it; 30 s without a budget.
 *
 * `endpoints`: the number of endpoints of one account that use the budget with `auto`.
 * `fixed`: the endpoints that share the budget at their own schedule. `problem`: a sentence if not even the slowest cadence
 * fits.
 */
export function chooseCadence(
  endpoints: number,
  budget: Budget | null,
  fixed: readonly Load[] = [],
): { readonly cron: string; readonly problem: string | null } {
  if (budget === null) {
    return { cron: WITHOUT_BUDGET, problem: null };
  }
  const cadence = fastestThatFits(endpoints, { ...budget, limit: budget.limit * AUTO_SHARE }, fixed);
  if (cadence !== undefined) {
    return { cron: cadence.cron, problem: null };
  }
  const { cron, label } = SLOWEST;
  const asked = requestsText([...fixed, { endpoints, cron }], budget);
  return {
    cron,
    problem: `even if the endpoints with auto poll only every ${label}, this budget's endpoints make ${asked}, more than nine tenths of ${formatNumber(budget.limit)}`,
  };
}

/**
 * Says in one sentence why the fixed schedules that share a budget cannot fit it; null if they can.
 *
 * A month counts 30.4 days here. In a month of 31 days, the budget refuses the requests above its limit when they are due.
 */
export function fitProblem(budget: Budget, loads: readonly Load[]): string | null {
  if (requestsPerWindow(loads, budget.per) <= budget.limit) {
    return null;
  }
  const endpoints = loads.reduce((total, load) => total + load.endpoints, 0);
  const cadence = fastestThatFits(endpoints, budget, []);
  const advice =
    cadence === undefined
      ? `not even every ${SLOWEST.label} fits`
      : `the fastest schedule that fits is every ${cadence.label}`;
  return `${requestsText(loads, budget)}, more than ${formatNumber(budget.limit)}; ${advice}`;
}

/** How many requests these schedules make in one window of a budget, at their busiest. */
export function requestsPerWindow(loads: readonly Load[], per: Budget["per"]): number {
  const requests = loads.reduce((sum, { endpoints, cron }) => sum + endpoints * rateOf(cron, per), 0);
  // A mean month has tenths of a day, which binary fractions cannot represent.
  return Math.round(10 * requests) / 10;
}

function fastestThatFits(endpoints: number, budget: Budget, fixed: readonly Load[]) {
  return LADDER.find(
    ({ cron }) => requestsPerWindow([...fixed, { endpoints, cron }], budget.per) <= budget.limit,
  );
}

function requestsText(loads: readonly Load[], { per }: Budget): string {
  return `${formatNumber(Math.round(requestsPerWindow(loads, per)))} requests ${perWindow(per)}`;
}

/** How often a schedule fires in a window, at its busiest. */
function rateOf(cron: string, per: Budget["per"]): number {
  const { perHour, perDay, daysPerMonth } = firingsOf(cron);
  return { hour: perHour, day: perDay, month: perDay * daysPerMonth }[per];
}
