import { type Alert, named } from "../alert.ts";
import {
  besideUsable,
  besideUsableOnLiveChain,
  outsideMaintenance,
  PAIR,
  perTarget,
  statusMetric,
  TARGET,
  threshold,
  withStatus,
} from "../promql.ts";
import { BEHIND, DURATION, FRESH, label, SINCE, say, TARGET_NAME, VARIANTS } from "../text.ts";
import { CHAIN_ALERT } from "./pair-alerts.ts";

/** Alerts about one target. */
export function targetAlerts(): readonly Alert[] {
  return [...brokenAlerts(), ...lagAlerts(), ...unreachableAlerts(), ...differenceAlerts()];
}

type TargetAlert = Omit<Parameters<typeof named>[1], keyof typeof CHAIN_ALERT>;

function targetAlert(alert: TargetAlert): Alert {
  return named(TARGET_NAME, { ...CHAIN_ALERT, ...alert });
}

const MOVE = "move the traffic to the healthy alternative, if there is one.";

/** The target replies, but its data must not be used. */
function brokenAlerts(): readonly Alert[] {
  return [
    targetAlert({
      name: "SynclagIndexerStalled",
      severity: "byLabels",
      expr: besideUsableOnLiveChain(withStatus("stalled")),
      for: "2m",
      summary: " has stopped advancing",
      description: say` still replies, but has stopped advancing while its chain advances. ${SINCE} It is ${BEHIND}. ${FRESH}`,
      first: MOVE,
    }),
    targetAlert({
      name: "SynclagIndexerFailed",
      severity: "byLabels",
      expr: besideUsable(withStatus("failed")),
      for: "2m",
      summary: " has failed",
      description: say` reports a failed deployment, or reports its height but does not answer a probe. The page of the chain quotes the indexer's reason. ${SINCE} It is ${BEHIND}. ${FRESH}`,
      first: MOVE,
    }),
    targetAlert({
      name: "SynclagIndexerDiverged",
      severity: "byLabels",
      expr: besideUsable(withStatus("diverged")),
      for: "2m",
      summary: " serves another chain or fork",
      description: say` serves data of another chain or fork, so its data is wrong, however fresh it looks. ${FRESH}`,
      first: "move the traffic to the healthy alternative at once, if there is one.",
    }),
    targetAlert({
      name: "SynclagChainMissing",
      severity: "byLabels",
      expr: besideUsable(withStatus("missing")),
      for: "5m",
      summary: " no longer serves this chain",
      description: say` replies without this chain, although chains.yaml lists the chain. ${SINCE} ${FRESH}`,
      first: MOVE,
    }),
  ];
}

/** The lag, with the label `testnet`, which decides how urgent the alert is. */
const LAG = `${perTarget("synclag_lag_seconds")}
* on (${TARGET}) group_left (testnet) (${withStatus("lagging")})`;

function lagAlerts(): readonly Alert[] {
  const description = (level: string) => [
    ...say` is ${DURATION} behind its chain, over the `,
    `${level} threshold. `,
    ...say`${SINCE} ${FRESH}`,
  ];
  return [
    targetAlert({
      name: "SynclagLagCritical",
      severity: "byLabels",
      expr: besideUsableOnLiveChain(`${LAG}\n> on (${TARGET}) group_left ()\n${threshold("critical")}`),
      // Longer than the `for` of SynclagSharedCause, so that its targets do not page one by one.
      for: "5m",
      summary: say` is ${DURATION} behind`,
      description: description("critical"),
      first: MOVE,
    }),
    targetAlert({
      name: "SynclagIndexerLagging",
      severity: "warning",
      expr: besideUsableOnLiveChain(`${LAG}\n<= on (${TARGET}) group_left ()\n${threshold("critical")}`),
      for: "5m",
      summary: say` is ${DURATION} behind`,
      description: description("lagging"),
      first: "look on the dashboard whether the lag grows or shrinks.",
    }),
    targetAlert({
      name: "SynclagIndexerSyncing",
      severity: "warning",
      expr: besideUsable(withStatus("syncing")),
      for: "1h",
      summary: " is still back-filling after an hour",
      description: say` is new or is re-indexing, and after an hour is ${BEHIND}. ${FRESH}`,
      first: "send no users to this target until it is ok.",
    }),
  ];
}

/** The target returns no height, and in most cases nothing else is known. */
function unreachableAlerts(): readonly Alert[] {
  return [
    targetAlert({
      name: "SynclagEndpointDown",
      severity: "warning",
      // Clients see errors, and some of them switch to another variant by themselves.
      expr: besideUsable(withStatus("unreachable", "not_found")),
      for: "5m",
      summary: " is unreachable or not found",
      description: say` is unreachable, or its deployment is not found: the page of the chain has the reason. ${SINCE} ${FRESH}`,
      first: MOVE,
    }),
    targetAlert({
      name: "SynclagThrottled",
      severity: "warning",
      expr: besideUsable(withStatus("throttled")),
      for: "30m",
      summary: " is throttled",
      description: say` is rate-limited by its provider, or by a budget in chains.yaml, so its state is not known. ${SINCE} ${FRESH}`,
      first:
        "read the provider's error on the page of the chain: it says whether the rate or a used-up plan is the reason.",
    }),
    targetAlert({
      name: "SynclagTargetUnknown",
      severity: "warning",
      expr: besideUsable(withStatus("unknown")),
      for: "30m",
      summary: ": status unknown",
      description: say` has returned no usable height for half an hour, and no error that says why. ${SINCE} ${FRESH}`,
      first: "read the reason on the page of the chain.",
    }),
  ];
}

/** Two variants show users different data. */
function differenceAlerts(): readonly Alert[] {
  const against = `label_replace(${statusMetric("ok")} == 1, "against", "$1", "variant", "(.+)")`;
  return [
    // If one of the two variants is not ok, it has its own alert, and the gap says nothing new.
    targetAlert({
      name: "SynclagVariantGapHigh",
      severity: "warning",
      expr: outsideMaintenance(`max by (${TARGET}, against) (abs(synclag_variant_gap_seconds))
  > on (${TARGET}) group_left ()
0.5 * ${threshold("lagging")}
and on (${TARGET})
  ${withStatus("ok")}
and on (${PAIR}, against)
  max by (${PAIR}, against) (${against}) == 1`),
      for: "10m",
      summary: say` and ${label("against")} are ${DURATION} apart`,
      description: say` and the variant ${label("against")} are ${DURATION} apart, although both are within their thresholds: users see different data depending on the variant.${VARIANTS}`,
      first: "treat the variant that is behind as lagging.",
    }),
    // The height is right, and nothing shows which of two variants is wrong.
    targetAlert({
      name: "SynclagDataMismatch",
      severity: "warning",
      // `synclag_parity` has no label `testnet`. The join lets a selector leave out testnets.
      expr: outsideMaintenance(`min by (${TARGET}, against, probe) (synclag_parity) == 0
and on (${TARGET})
  max by (${TARGET}) (synclag_status) == 1`),
      for: "15m",
      summary: say` and ${label("against")} have different data (${label("probe")})`,
      description: say` and the variant ${label("against")} have different values of probe ${label("probe")} at one height: users see different data depending on the variant.${VARIANTS}`,
      first:
        "compare both values on the page of the chain, which names the odd one out if more than two variants are compared.",
    }),
  ];
}
