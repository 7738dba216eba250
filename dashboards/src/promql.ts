import type { Status } from "../../src/core/model/statuses.ts";

/** Labels of a target. */
export const TARGET = "protocol, variant, tier, chain, chain_id";
/** Labels of an indexer: a protocol's variant and tier, on all its chains. */
export const INDEXER = "protocol, variant, tier";
/** Labels of a pair: what users see, whichever variant serves them. */
export const PAIR = "protocol, chain, chain_id";
export const CHAIN = "chain, chain_id";
/** Labels that Prometheus adds to the series of a Synclag; `cluster` only if its configuration says so. */
export const INSTANCE = "cluster, job, instance";
/** Labels of a budget. */
export const BUDGET = "budget, protocol, variant, tier, endpoint";

/**
 * One value per target, whichever `instance` reports it. So two Synclags that monitor one fleet raise one alert, and a Synclag that
 * moves to another machine does not raise it again.
 */
export function perTarget(metric: string): string {
  return `max by (${TARGET}) (${metric})`;
}

/** Targets with one of these statuses. The labels `testnet` and `tier` decide how urgent that is. */
export function withStatus(...statuses: readonly Status[]): string {
  return `max by (${TARGET}, testnet) (${statusMetric(...statuses)}) == 1`;
}

/** The one-hot metric of these statuses. */
export function statusMetric(...statuses: readonly Status[]): string {
  const [only] = statuses;
  return `synclag_status{${statuses.length === 1 ? `status="${only}"` : `status=~"${statuses.join("|")}"`}}`;
}

/** Pairs without a usable variant, according to every Synclag that monitors them. */
export const DOWN = `min by (${PAIR}, testnet) (synclag_pair_state{state="down"}) == 1`;

/** A vector of targets without those in maintenance. */
export function outsideMaintenance(targets: string): string {
  return `${targets}\nunless on (${TARGET})\n  ${perTarget("synclag_maintenance")} == 1`;
}

/**
 * Targets outside maintenance that need an alert of their own: their pair has a usable variant, and no shared cause explains them.
 * Otherwise one alert names them all. So one cause is not reported twice, even without inhibition, and a cause hides only the
 * targets that it explains.
 */
export function besideUsable(targets: string): string {
  return `${outsideMaintenance(targets)}
unless on (${PAIR})
  ${DOWN}
unless on (${TARGET})
  ${perTarget("synclag_shared_cause")} == 1`;
}

/** Like `besideUsable`, but without targets on a halted chain. */
export function besideUsableOnLiveChain(targets: string): string {
  return `${besideUsable(targets)}\nunless on (${CHAIN})\n  max by (${CHAIN}) (${statusMetric("chain_halted")}) == 1`;
}

/** Leaves out elements whose production targets are all in maintenance. Without a production target, all targets count. */
export function unlessAllInMaintenance(vector: string, labels: string): string {
  return `${vector}
unless on (${labels}) (
  min by (${labels}) (synclag_maintenance{tier="production"}) == 1
  or
  min by (${labels}) (synclag_maintenance) == 1
)`;
}

/** The threshold of chains.yaml for each target. */
export function threshold(level: "lagging" | "critical" | "stalled"): string {
  return perTarget(`synclag_threshold_seconds{level="${level}"}`);
}

/** An expression indented by two spaces. */
export function indented(expression: string): string {
  return expression.replaceAll(/^/gm, "  ");
}

/** An expression that reads only the series that a selector selects, such as `job="synclag"`. */
export function selected(expression: string, selector: string): string {
  return expression.replaceAll(
    /\b(synclag[_:][\w:]+|up|process_start_time_seconds)\b(?:\{([^}]*)\})?/g,
    (_, metric: string, own = "") => `${metric}{${selector}${own === "" ? "" : `, ${own}`}}`,
  );
}
