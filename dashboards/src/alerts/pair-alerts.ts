import { type Alert, type AlertGroup, BRIDGE } from "../alert.ts";
import {
  CHAIN,
  indented,
  PAIR,
  perTarget,
  statusMetric,
  TARGET,
  threshold,
  unlessAllInMaintenance,
  withStatus,
} from "../promql.ts";
import { label, NUMBER, PAIR_NAME, say, VARIANTS, WITNESS } from "../text.ts";
import { CHAIN_DASHBOARD } from "./target-alert.ts";

const PAIR_ALERT = { about: "fleet", keepFiringFor: BRIDGE, dashboard: CHAIN_DASHBOARD } as const;

const ANSWERING = perTarget(
  statusMetric(["ok", "lagging", "syncing", "stalled", "failed", "diverged", "missing", "chain_halted"]),
);
const STALLED = perTarget(statusMetric(["stalled"]));
/** Pairs of which more than one variant answers, and all that answer are stalled. */
const ALL_STALLED = `sum by (${PAIR}) (${STALLED}) > 1
and on (${PAIR})
  sum by (${PAIR}) (${STALLED}) == sum by (${PAIR}) (${ANSWERING})`;

/**
 * What affects users of a protocol on a chain whichever variant serves them, and halted chains. Prometheus sends the alerts of a
 * group in this order, so Alertmanager has an inhibiting alert before those that it inhibits.
 */
export function pairAlerts(): AlertGroup {
  return {
    name: "synclag-protocols-and-chains",
    alerts: [chainHalted(), allVariantsStalled(), noVariantOk()],
  };
}

/**
 * The most important page: there is no variant to move the traffic to. It does not fire while one variant is only late or
 * only throttled (users may be fine, we just know less), or while nothing is known of any of them. SynclagAllVariantsStalled
 * is excluded in the expression and not by an inhibition: a scrape that ends between the evaluations of two rules would let
 * this one fire an evaluation earlier.
 */
function noVariantOk(): Alert {
  const late = `${withStatus(["lagging", "syncing"])}
and on (${TARGET})
  ${perTarget("synclag_lag_seconds")} < ${threshold("critical")}`;
  const expr = `max by (${PAIR}) (${statusMetric(["ok"])}) == 0
unless on (${PAIR})
  max by (${PAIR}) (${statusMetric(["throttled", "chain_halted"])}) == 1
unless on (${PAIR})
  min by (${PAIR}) (${statusMetric(["unknown"])}) == 1
unless on (${PAIR}) (
${indented(late)}
)
unless on (${PAIR}) (
${indented(ALL_STALLED)}
)`;
  return {
    ...PAIR_ALERT,
    name: "SynclagNoVariantOk",
    severity: "critical",
    expr: unlessAllInMaintenance(expr, PAIR),
    for: "1m",
    summary: [...PAIR_NAME, ": no usable variant"],
    description: [
      ...say`No variant of ${label("protocol")} on ${label("chain")} is ok, and none is merely late or throttled, `,
      ...say`so there is no variant to move the traffic to.${VARIANTS}`,
    ],
  };
}

/** All responding variants stopped together: a fault that they share, or a halted chain where no independent head can tell. */
function allVariantsStalled(): Alert {
  return {
    ...PAIR_ALERT,
    name: "SynclagAllVariantsStalled",
    severity: "critical",
    expr: unlessAllInMaintenance(ALL_STALLED, PAIR),
    for: "1m",
    summary: [...PAIR_NAME, ...say`: all ${NUMBER} responding variants have stopped advancing`],
    description: [
      ...say`All ${NUMBER} responding variants of ${label("protocol")} on ${label("chain")} have stopped advancing. `,
      ...say`${WITNESS}${VARIANTS}`,
    ],
  };
}

/** An independent head shows that the chain produces no blocks: no indexer is at fault, and nothing can be repaired here. */
function chainHalted(): Alert {
  return {
    ...PAIR_ALERT,
    name: "SynclagChainHalted",
    severity: "warning",
    expr: unlessAllInMaintenance(
      `sum by (${CHAIN}) (${perTarget(statusMetric(["chain_halted"]))}) > 0`,
      CHAIN,
    ),
    for: "2m",
    summary: say`Chain ${label("chain")} has halted`,
    description: say`An independent node shows that chain ${label("chain")} (id ${label("chain_id")}) produces no blocks; ${NUMBER} indexers are waiting for it and are not at fault.`,
    dashboard: { uid: "synclag-chain", variables: ["chain"] },
  };
}
