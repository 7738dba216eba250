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

/**
 * What users of a protocol on a chain meet, whichever variant they are served from, and what a chain does to all. In a
 * group Prometheus sends what fires in this order: Alertmanager knows what hides another alert before it has that one.
 */
export function pairAlerts(): AlertGroup {
  return {
    name: "synclag-protocols-and-chains",
    alerts: [chainHalted(), allVariantsStalled(), noVariantOk()],
  };
}

/**
 * The page that matters most: there is nowhere to move the traffic to. Not so while one variant is merely late, while
 * one is only throttled (then we know less, and users may be well), or while nothing at all is known.
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
)`;
  return {
    ...PAIR_ALERT,
    name: "SynclagNoVariantOk",
    severity: "critical",
    expr: unlessAllInMaintenance(expr, PAIR),
    for: "1m",
    summary: [...PAIR_NAME, ": no variant is left"],
    description: [
      ...say`Every indexer of ${label("protocol")} on ${label("chain")} is down, stands still, or is beyond its critical limit: `,
      ...say`there is nothing to move the traffic to.${VARIANTS}`,
    ],
  };
}

/** All that answer stand still together: a fault that they share, or the chain, where no independent head can tell. */
function allVariantsStalled(): Alert {
  const answering = statusMetric([
    "ok",
    "lagging",
    "syncing",
    "stalled",
    "failed",
    "diverged",
    "missing",
    "chain_halted",
  ]);
  const stalled = perTarget(statusMetric(["stalled"]));
  return {
    ...PAIR_ALERT,
    name: "SynclagAllVariantsStalled",
    severity: "critical",
    expr: unlessAllInMaintenance(
      `sum by (${PAIR}) (${stalled}) > 1
and on (${PAIR})
  sum by (${PAIR}) (${stalled}) == sum by (${PAIR}) (${perTarget(answering)})`,
      PAIR,
    ),
    for: "1m",
    summary: [...PAIR_NAME, ...say`: all ${NUMBER} variants that answer stand still`],
    description: [
      ...say`All ${NUMBER} variants of ${label("protocol")} on ${label("chain")} that answer stand still together. `,
      ...say`${WITNESS}${VARIANTS}`,
    ],
  };
}

/** An independent head shows that the chain makes no blocks: no indexer is to blame, and nobody can repair it here. */
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
    summary: say`Chain ${label("chain")} makes no blocks`,
    description: say`An independent node shows that chain ${label("chain")} (id ${label("chain_id")}) itself stands still; ${NUMBER} indexers wait for it and are not at fault.`,
    dashboard: { uid: "synclag-chain", variables: ["chain"] },
  };
}
