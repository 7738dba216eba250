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

/** A target that advances, and is behind, gets behind, or fills its past. */
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
    // Longer than a shared cause takes, so that its members do not page one by one.
    for: "5m",
    summary: [...TARGET_NAME, ...say` is ${DURATION} behind`],
    description: [
      ...TARGET_NAME,
      ...say` advances, but is ${DURATION} behind its chain, beyond the critical limit of chains.yaml. ${FRESH}`,
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
      ...say` advances, but is ${DURATION} behind its chain, beyond the lagging limit of chains.yaml. ${FRESH}`,
    ],
  };
}

/**
 * Before it lags: it will within hours, and was less behind an hour ago than half an hour ago, and then than now. An
 * hour, for there are indexers that our budget lets us ask but twice in it.
 */
function fallingBehind({ time }: AlertContext): Alert {
  const forecast = `predict_linear(synclag_lag_seconds[${time("1h")}], ${seconds(time("4h"))})`;
  // The last of five minutes: one scrape that fails would break the half hour for which this must hold.
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
    summary: [...TARGET_NAME, " falls behind"],
    description: [
      ...TARGET_NAME,
      ...say` is ${DURATION} behind and has lost ground steadily for an hour: within four it will lag. ${FRESH}`,
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
    summary: [...TARGET_NAME, " fills its past"],
    description: [
      ...TARGET_NAME,
      ...say` is new or indexes anew, and is still ${BEHIND} behind after an hour: nobody should be served from it yet. ${FRESH}`,
    ],
  };
}

/**
 * Two variants that are each within their limit, and yet show different data. Where one of them is not ok, it has an
 * alert of its own, and the gap is no news.
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
      ...say` and the variant ${label("against")} differ by ${DURATION} of chain time, though each is within its limit: users see one or the other. It is ${BEHIND} behind. ${FRESH}`,
    ],
  };
}
