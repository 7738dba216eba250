import type { Alert, AlertContext } from "../alert.ts";
import {
  outsideMaintenance,
  PAIR,
  perTarget,
  statusMetric,
  TARGET,
  threshold,
  withStatus,
} from "../promql.ts";
import { BEHIND, DURATION, FRESH, label, say, TARGET_NAME } from "../text.ts";
import { seconds } from "../time-scale.ts";
import { pagedWhereServed, TARGET_ALERT } from "./target-alert.ts";

const LAG = perTarget("synclag_lag_seconds");

/** Targets that advance but are behind, are falling behind, or are back-filling. */
export function lagAlerts(context: AlertContext): readonly Alert[] {
  return [...farBehind(context), lagging(), fallingBehind(context), syncing(), variantsApart()];
}

function farBehind(context: AlertContext): readonly Alert[] {
  return pagedWhereServed(context, (selector) => ({
    ...TARGET_ALERT,
    name: "SynclagIndexerFarBehind",
    expr: outsideMaintenance(`${LAG} > ${threshold("critical")}
and on (${TARGET})
  ${withStatus(["lagging"], selector)}`),
    // Longer than SynclagSharedCause, so that its targets do not page one by one.
    for: "5m",
    summary: [...TARGET_NAME, ...say` is ${DURATION} behind`],
    description: [
      ...TARGET_NAME,
      ...say` is advancing but ${DURATION} behind its chain, over the critical threshold of chains.yaml. ${FRESH}`,
    ],
  }));
}

function lagging(): Alert {
  return {
    ...TARGET_ALERT,
    name: "SynclagIndexerLagging",
    severity: "warning",
    expr: outsideMaintenance(`${LAG}
and on (${TARGET})
  ${withStatus(["lagging"])}`),
    for: "5m",
    summary: [...TARGET_NAME, ...say` is ${DURATION} behind`],
    description: [
      ...TARGET_NAME,
      ...say` is advancing but ${DURATION} behind its chain, over the lagging threshold of chains.yaml. ${FRESH}`,
    ],
  };
}

/**
 * Fires before a target lags: its lag will exceed the threshold within hours, and grew from an hour ago to half an hour ago
 * and from then to now. A whole hour, because some budgets allow only two polls an hour.
 */
function fallingBehind({ time }: AlertContext): Alert {
  const forecast = `predict_linear(synclag_lag_seconds[${time("1h")}], ${seconds(time("4h"))})`;
  // The last value of five minutes, so that one failed scrape does not restart the half hour of `for`.
  const last = (metric: string, offset = "") =>
    perTarget(`last_over_time(${metric}[${time("5m")}]${offset === "" ? "" : ` offset ${time(offset)}`})`);
  const lag = (offset?: string) => last("synclag_lag_seconds", offset);
  const limit = last('synclag_threshold_seconds{level="lagging"}');
  return {
    ...TARGET_ALERT,
    name: "SynclagIndexerFallingBehind",
    severity: "warning",
    expr: outsideMaintenance(`${lag()} > ${lag("30m")}
and on (${TARGET})
  ${lag("30m")} > ${lag("1h")}
and on (${TARGET})
  ${perTarget(forecast)} > ${limit}
and on (${TARGET})
  ${lag()} > 0.25 * ${limit}
and on (${TARGET})
  ${last(statusMetric(["ok"]))} == 1`),
    for: "30m",
    summary: [...TARGET_NAME, " is falling behind"],
    description: [
      ...TARGET_NAME,
      ...say` is ${DURATION} behind, and its lag has grown steadily for an hour: at this rate it will exceed the lagging threshold within four hours. ${FRESH}`,
    ],
  };
}

function syncing(): Alert {
  return {
    ...TARGET_ALERT,
    name: "SynclagIndexerSyncing",
    severity: "warning",
    expr: outsideMaintenance(withStatus(["syncing"])),
    for: "1h",
    summary: [...TARGET_NAME, " is back-filling"],
    description: [
      ...TARGET_NAME,
      ...say` is new or is re-indexing, and is still ${BEHIND} behind after an hour: do not serve users from it yet. ${FRESH}`,
    ],
  };
}

/**
 * Two variants that are both within their thresholds but show different data. Where one of them is not ok, it has an
 * alert of its own, and the gap says nothing new.
 */
function variantsApart(): Alert {
  const against = `label_replace(synclag_status{status="ok"} == 1, "against", "$1", "variant", "(.+)")`;
  return {
    ...TARGET_ALERT,
    name: "SynclagVariantsApart",
    severity: "warning",
    expr: outsideMaintenance(`max by (${TARGET}, against) (abs(synclag_variant_gap_seconds))
  > on (${TARGET}) group_left ()
0.5 * ${threshold("lagging")}
and on (${TARGET})
  ${withStatus(["ok"])}
and on (${PAIR}, against)
  max by (${PAIR}, against) (${against}) == 1`),
    for: "10m",
    summary: say`${label("protocol")} on ${label("chain")}: ${label("variant")} (${label("tier")}) and ${label("against")} are ${DURATION} apart`,
    description: [
      ...TARGET_NAME,
      ...say` and the variant ${label("against")} differ by ${DURATION} of chain time although both are within their thresholds, so users see different data depending on the variant. It is ${BEHIND} behind. ${FRESH}`,
    ],
  };
}
