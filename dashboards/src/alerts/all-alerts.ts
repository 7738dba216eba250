import type { AlertContext, AlertGroup } from "../alert.ts";
import { budgetAlerts } from "./budget-alerts.ts";
import { freshnessAlerts } from "./freshness-alerts.ts";
import { indexerAlerts } from "./indexer-alerts.ts";
import { pairAlerts } from "./pair-alerts.ts";
import { synclagAlerts } from "./synclag-alerts.ts";
import { targetAlerts } from "./target-alerts.ts";

/** Every alert, for Prometheus and for Grafana. */
export function allAlerts(context: AlertContext): readonly AlertGroup[] {
  return [
    pairAlerts(),
    indexerAlerts(context),
    targetAlerts(context),
    freshnessAlerts(context),
    budgetAlerts(context),
    synclagAlerts(context),
  ];
}
