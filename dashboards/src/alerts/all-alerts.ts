import type { AlertContext, AlertGroup } from "../alert.ts";
import { budgetAlerts } from "./budget-alerts.ts";
import { freshnessAlerts } from "./freshness-alerts.ts";
import { indexerAlerts } from "./indexer-alerts.ts";
import { pairAlerts } from "./pair-alerts.ts";
import { synclagAlerts } from "./synclag-alerts.ts";
import { targetAlerts } from "./target-alerts.ts";
import { unstableAlerts } from "./unstable-alerts.ts";

/**
 * Every alert, for Prometheus and for Grafana. Prometheus evaluates the rules of a group in this order, so within a group an
 * alert that inhibits another comes first. Between groups, `group_wait` of Alertmanager gives the inhibiting alert time to arrive.
 */
export function allAlerts(context: AlertContext): readonly AlertGroup[] {
  return [
    { name: "synclag-protocols-and-chains", alerts: pairAlerts() },
    { name: "synclag-shared-causes", alerts: indexerAlerts(context) },
    { name: "synclag-targets", alerts: targetAlerts() },
    // These rules read all samples of an hour, so they are evaluated less often.
    {
      name: "synclag-unstable-targets",
      interval: context.time("1m"),
      alerts: unstableAlerts(context),
    },
    { name: "synclag-freshness-objective", alerts: freshnessAlerts(context) },
    { name: "synclag-budgets", alerts: budgetAlerts(context) },
    { name: "synclag-self-monitoring", alerts: synclagAlerts(context) },
  ];
}
