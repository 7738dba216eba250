import { type Alert, type AlertContext, type AlertGroup, BRIDGE } from "../alert.ts";
import { BUDGET } from "../promql.ts";
import { label, PERCENTAGE, say } from "../text.ts";
import { seconds } from "../time-scale.ts";

const BUDGET_ALERT = {
  about: "fleet",
  severity: "warning",
  keepFiringFor: BRIDGE,
  dashboard: { uid: "synclag-endpoint", variables: ["protocol", "variant"] },
} as const;

/** Not `synclag_budget_remaining`: that is 0 while a provider refuses us, whatever is left. */
const USED = `max by (${BUDGET}) (synclag_budget_used)`;
const LIMIT = `max by (${BUDGET}) (synclag_budget_limit)`;
/** A shared budget has empty labels but for its name; for one of an endpoint, they say whose. */
const WHOSE = say`Budget ${label("budget")} (${label("endpoint")} ${label("protocol")} ${label("variant")} ${label("tier")})`;

/** Promises to the providers. Nobody is served old data for them, so nobody is woken. */
export function budgetAlerts({ time }: AlertContext): AlertGroup {
  const exhausted: Alert = {
    ...BUDGET_ALERT,
    name: "SynclagBudgetExhausted",
    // The endpoint's name is its chain: so that Alertmanager can tell that its target is throttled for this.
    expr: `label_replace(${USED} >= ${LIMIT}, "chain", "$1", "endpoint", "(.+)")`,
    for: "5m",
    summary: [...WHOSE, " is spent"],
    description: [
      ...WHOSE,
      " has nothing left: its endpoints are not polled until the window moves on, and how far they are behind is a guess. Other variants of the protocol are watched as ever, and the dashboard shows which of them is still fresh.",
    ],
  };
  // `auto` leaves a tenth of a budget free, so a twentieth is not reached in good health; nor is the end within two
  // hours, not even on the first day, when the rolling window fills up. An hourly budget fills up within one, hence the
  // look at what was five hours ago.
  const low: Alert = {
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
    summary: [...WHOSE, " will soon be spent"],
    description: [
      ...WHOSE,
      ...say` has ${PERCENTAGE} left, which at the pace of the last six hours is little or nothing in two: then its endpoints are no longer polled, and how far they are behind becomes a guess. The dashboard shows which variants are still fresh.`,
    ],
  };
  return { name: "synclag-budgets", alerts: [exhausted, low] };
}
