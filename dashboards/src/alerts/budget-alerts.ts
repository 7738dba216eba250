import { type Alert, type AlertContext, KEEP_FIRING, named } from "../alert.ts";
import { BUDGET } from "../promql.ts";
import { label, optionalLabel, PERCENTAGE, say } from "../text.ts";
import { seconds } from "../time-scale.ts";

const BUDGET_ALERT = {
  about: "fleet",
  severity: "warning",
  keepFiringFor: KEEP_FIRING,
  dashboard: { uid: "synclag-endpoint", variables: ["protocol", "variant"] },
} as const;

/** `synclag_budget_remaining` is not used: it is 0 while a provider throttles us, even if the budget has requests left. */
const USED = `max by (${BUDGET}) (synclag_budget_used)`;
const LIMIT = `max by (${BUDGET}) (synclag_budget_limit)`;
/** A budget of one endpoint has the labels of that endpoint; a shared budget has the endpoint `shared`. */
const WHOSE = say`Budget ${label("budget")} (${label("endpoint")}${optionalLabel("protocol")}${optionalLabel("variant")}${optionalLabel("tier")})`;
const PAUSED = "the lag of its endpoints is unknown. The dashboard shows which variants are ok.";

/** Limits that the providers set. Users are not affected, so nobody is paged. */
export function budgetAlerts({ time }: AlertContext): readonly Alert[] {
  const exhausted = named(WHOSE, {
    ...BUDGET_ALERT,
    name: "SynclagBudgetExhausted",
    // An endpoint that serves one chain has the chain's name. The label `chain` lets Alertmanager inhibit SynclagThrottled of the same target.
    expr: `label_replace(
  label_replace(${USED} >= ${LIMIT}, "chain", "$1", "endpoint", "(.+)"),
  "chain", "", "endpoint", "shared|all"
)`,
    for: "5m",
    summary: " is used up",
    description: ` is used up. Its endpoints are not polled until its window moves on, and ${PAUSED}`,
    first: "make the schedule less frequent, or buy more requests and raise the limit in chains.yaml.",
  });
  // The schedule `auto` leaves a tenth of a budget free, so normally more than 5 % remains and the forecast stays below the limit,
  // even on the first day, when the use only grows. The forecast needs a value from five hours ago: in the first hour, the steep
  // growth of an hourly budget would look like a trend.
  const low = named(WHOSE, {
    ...BUDGET_ALERT,
    name: "SynclagBudgetLow",
    expr: `(1 - ${USED} / ${LIMIT}) > 0
and on (${BUDGET}) (
  ${USED} > 0.95 * ${LIMIT}
  or
  max by (${BUDGET}) (predict_linear(synclag_budget_used[${time("6h")}], ${seconds(time("2h"))})) > ${LIMIT}
  and on (${BUDGET})
    max by (${BUDGET}) (synclag_budget_used offset ${time("5h")}) >= 0
)`,
    for: "15m",
    summary: " is nearly used up",
    description: [
      ...say` has ${PERCENTAGE} left: less than 5 %, or not enough for two more hours at the rate of the last six hours. Once it is used up, its endpoints are not polled, and `,
      PAUSED,
    ],
    first: "make the schedule less frequent: `synclag plan` shows how many requests each schedule needs.",
  });
  return [exhausted, low];
}
