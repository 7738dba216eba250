import type { Status } from "../../../src/core/model/report.ts";
import type { Alert, AlertContext, AlertGroup } from "../alert.ts";
import { outsideMaintenance, perTarget, withStatus } from "../promql.ts";
import { BEHIND, FRESH, say, TARGET_NAME } from "../text.ts";
import { endpointDown } from "./endpoint-down.ts";
import { lagAlerts } from "./lag-alerts.ts";
import { dataDiffers } from "./parity-alerts.ts";
import { pagedWhereServed, TARGET_ALERT } from "./target-alert.ts";

/** What is wrong with one indexer on one chain. */
export function targetAlerts(context: AlertContext): AlertGroup {
  return {
    name: "synclag-targets",
    alerts: [
      ...brokenAlerts(context),
      ...lagAlerts(context),
      dataDiffers(),
      ...unheardAlerts(context),
      deploymentChanged(context),
    ],
  };
}

/** It answers, but its data must not be used: users see old or wrong data and no error. */
function brokenAlerts(context: AlertContext): readonly Alert[] {
  const broken = (alert: Pick<Alert, "name" | "for" | "summary" | "description"> & { status: Status }) =>
    pagedWhereServed(context, (selector) => {
      const { status, ...rest } = alert;
      return { ...TARGET_ALERT, ...rest, expr: outsideMaintenance(withStatus([status], selector)) };
    });
  return [
    ...broken({
      name: "SynclagIndexerStalled",
      status: "stalled",
      for: "2m",
      summary: [...TARGET_NAME, " has stopped advancing"],
      description: [
        ...TARGET_NAME,
        ...say` still answers, but its indexed block no longer advances; it is ${BEHIND} behind. ${FRESH}`,
      ],
    }),
    ...broken({
      name: "SynclagIndexerFailed",
      status: "failed",
      for: "2m",
      summary: [...TARGET_NAME, " has failed"],
      description: [
        ...TARGET_NAME,
        ...say` reports a failed deployment, which does not recover by itself; it is ${BEHIND} behind. ${FRESH}`,
      ],
    }),
    ...broken({
      name: "SynclagIndexerDiverged",
      status: "diverged",
      for: "2m",
      summary: [...TARGET_NAME, " serves another chain or fork"],
      description: [
        ...TARGET_NAME,
        ...say` serves data of another chain or another fork: the data is wrong, so how far it is behind says nothing. ${FRESH}`,
      ],
    }),
    ...broken({
      name: "SynclagChainMissing",
      status: "missing",
      for: "5m",
      summary: [...TARGET_NAME, " no longer serves this chain"],
      description: [
        ...TARGET_NAME,
        ...say` answers without this chain, although chains.yaml lists it; it was ${BEHIND} behind. ${FRESH}`,
      ],
    }),
  ];
}

/** It returns no height, and in most cases nothing else is known. */
function unheardAlerts(context: AlertContext): readonly Alert[] {
  const unheard = { ...TARGET_ALERT, severity: "warning" } as const;
  return [
    ...endpointDown(context),
    {
      ...unheard,
      name: "SynclagThrottled",
      expr: outsideMaintenance(withStatus(["throttled"])),
      for: "30m",
      summary: [...TARGET_NAME, " is throttled"],
      description: [
        ...TARGET_NAME,
        ...say` is rate-limited by its provider, or our own budget for it is used up, so its current state is not known; it was ${BEHIND} behind. ${FRESH}`,
      ],
    },
    {
      ...unheard,
      name: "SynclagTargetUnknown",
      expr: outsideMaintenance(withStatus(["unknown"])),
      for: "30m",
      summary: [...TARGET_NAME, ": status unknown"],
      description: [
        ...TARGET_NAME,
        ...say` has returned no usable height for too long, and no error that would say why; it was ${BEHIND} behind. ${FRESH}`,
      ],
    },
  ];
}

/** Not an error: a record that may explain what follows it. */
function deploymentChanged({ time }: AlertContext): Alert {
  return {
    ...TARGET_ALERT,
    name: "SynclagDeploymentChanged",
    severity: "info",
    expr: outsideMaintenance(`${perTarget(`increase(synclag_deployment_changes_total[${time("1h")}])`)} > 0`),
    for: null,
    keepFiringFor: null,
    summary: [...TARGET_NAME, " serves another deployment"],
    description: [
      ...TARGET_NAME,
      ...say` switched to another deployment within the last hour; it is ${BEHIND} behind. ${FRESH}`,
    ],
  };
}
