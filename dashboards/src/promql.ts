import type { Status } from "../../src/core/model/report.ts";

/** Labels of a target. */
export const TARGET = "protocol, variant, tier, chain, chain_id";
/** Labels of an indexer: a protocol's variant and tier, on all its chains. */
export const INDEXER = "protocol, variant, tier";
/** Labels of a protocol on a chain: what users ask, whichever variant answers. */
export const PAIR = "protocol, chain, chain_id";
export const CHAIN = "chain, chain_id";
/** Labels of a budget. */
export const BUDGET = "budget, protocol, variant, tier, endpoint";

/**
 * One value for each target, whatever `instance` it comes from: two Synclags that watch the same fleet raise one
 * alert, and a Synclag that moves to another machine does not raise it anew.
 */
export function perTarget(metric: string): string {
  return `max by (${TARGET}) (${metric})`;
}

/** Targets that have one of these statuses. `selector` narrows them, and ends with a comma. */
export function withStatus(statuses: readonly Status[], selector = ""): string {
  return `${perTarget(statusMetric(statuses, selector))} == 1`;
}

/** The one-hot metric of these statuses. */
export function statusMetric(statuses: readonly Status[], selector = ""): string {
  const [only] = statuses;
  const match = statuses.length === 1 ? `status="${only}"` : `status=~"${statuses.join("|")}"`;
  return `synclag_status{${selector}${match}}`;
}

/** What remains of a vector of targets once those in maintenance are left out. */
export function outsideMaintenance(targets: string): string {
  return `${targets}\nunless on (${TARGET})\n  ${perTarget("synclag_maintenance")} == 1`;
}

/**
 * What remains of a vector once those are left out whose every target is in maintenance. A target that nobody has said
 * anything of is in none.
 */
export function unlessAllInMaintenance(vector: string, labels: string): string {
  const known = `synclag_maintenance or on (${TARGET}) 0 * synclag_up`;
  return `${vector}\nunless on (${labels})\n  min by (${labels}) (${known}) == 1`;
}

/** The limit of chains.yaml for each target. */
export function threshold(level: "lagging" | "critical" | "stalled"): string {
  return perTarget(`synclag_threshold_seconds{level="${level}"}`);
}

/** An expression on lines of its own, two spaces further in. */
export function indented(expression: string): string {
  return expression.replaceAll(/^/gm, "  ");
}
