import type { Status } from "../../../src/core/model/report.ts";
import type { Alert, AlertContext, AlertGroup } from "../alert.ts";
import { outsideMaintenance, perTarget, withStatus } from "../promql.ts";
import { BEHIND, FRESH, say, TARGET_NAME } from "../text.ts";
import { endpointDown } from "./endpoint-down.ts";
import { lagAlerts } from "./lag-alerts.ts";
import { pagedWhereServed, TARGET_ALERT } from "./target-alert.ts";

/** What is wrong with one indexer on one chain. */
export function targetAlerts(context: AlertContext): AlertGroup {
  return {
    name: "synclag-targets",
    alerts: [
      ...brokenAlerts(context),
      ...lagAlerts(context),
      ...unheardAlerts(context),
      deploymentChanged(context),
    ],
  };
}

/** It answers, and what it answers must not be used: users are shown old or wrong data, and no error. */
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
      summary: [...TARGET_NAME, " stands still"],
      description: [
        ...TARGET_NAME,
        ...say` has stopped advancing although it answers; it is ${BEHIND} behind. ${FRESH}`,
      ],
    }),
    ...broken({
      name: "SynclagIndexerFailed",
      status: "failed",
      for: "2m",
      summary: [...TARGET_NAME, " has failed"],
      description: [
        ...TARGET_NAME,
        ...say` reports a failed deployment and will not go on by itself; it is ${BEHIND} behind. ${FRESH}`,
      ],
    }),
    ...broken({
      name: "SynclagIndexerDiverged",
      status: "diverged",
      for: "2m",
      summary: [...TARGET_NAME, " follows another chain"],
      description: [
        ...TARGET_NAME,
        ...say` answers for another chain or another fork: its data is wrong, and how far it is behind means nothing. ${FRESH}`,
      ],
    }),
    ...broken({
      name: "SynclagChainMissing",
      status: "missing",
      for: "5m",
      summary: [...TARGET_NAME, " no longer serves this chain"],
      description: [
        ...TARGET_NAME,
        ...say` answers, but without this chain, which chains.yaml expects of it; it was ${BEHIND} behind. ${FRESH}`,
      ],
    }),
  ];
}

/** No height can be had of it, and mostly that is all that is known. */
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
        ...say` is polled too often for its provider, or our own budget for it is spent: its state is a guess; it was ${BEHIND} behind. ${FRESH}`,
      ],
    },
    {
      ...unheard,
      name: "SynclagTargetUnknown",
      expr: outsideMaintenance(withStatus(["unknown"])),
      for: "30m",
      summary: [...TARGET_NAME, ": nothing is known"],
      description: [
        ...TARGET_NAME,
        ...say` has given no evidence for too long, nor an error to name: whether it is ${BEHIND} behind or well cannot be told. ${FRESH}`,
      ],
    },
  ];
}

/** Not an error: the record that explains what came after it. */
function deploymentChanged({ time }: AlertContext): Alert {
  return {
    ...TARGET_ALERT,
    name: "SynclagDeploymentChanged",
    severity: "info",
    expr: outsideMaintenance(`${perTarget(`increase(synclag_deployment_changes_total[${time("1h")}])`)} > 0`),
    for: null,
    keepFiringFor: null,
    summary: [...TARGET_NAME, " runs another deployment"],
    description: [
      ...TARGET_NAME,
      ...say` has answered from another deployment than before within the last hour; it is ${BEHIND} behind. ${FRESH}`,
    ],
  };
}
