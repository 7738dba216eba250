import type { Status } from "../../src/core/model/report.ts";

/** Labels of a target. */
export const TARGET = "protocol, variant, tier, chain, chain_id";
/** Labels of an indexer: a protocol's variant and tier, on all its chains. */
export const INDEXER = "protocol, variant, tier";
/** Labels of a protocol on a chain: what users see, whichever variant serves them. */
export const PAIR = "protocol, chain, chain_id";
export const CHAIN = "chain, chain_id";
/** Labels of a budget. */
export const BUDGET = "budget, protocol, variant, tier, endpoint";

/**
 * One value per target, whichever `instance` reports it: two Synclags that monitor the same fleet raise one alert, and a
 * Synclag that moves to another machine does not raise it again.
 */
export function perTarget(metric: string): string {
  return `max by (${TARGET}) (${metric})`;
}

/** Targets with one of these statuses. `selector` narrows them down and ends with a comma. */
export function withStatus(statuses: readonly Status[], selector = ""): string {
  return `${perTarget(statusMetric(statuses, selector))} == 1`;
}

/** The one-hot metric of these statuses. */
export function statusMetric(statuses: readonly Status[], selector = ""): string {
  const [only] = statuses;
  const match = statuses.length === 1 ? `status="${only}"` : `status=~"${statuses.join("|")}"`;
  return `synclag_status{${selector}${match}}`;
}

/** A vector of targets without those in maintenance. */
export function outsideMaintenance(targets: string): string {
  return `${targets}\nunless on (${TARGET})\n  ${perTarget("synclag_maintenance")} == 1`;
}

/**
 * A vector without the elements whose targets are all in maintenance. A target without `synclag_maintenance` is not in
 * maintenance.
 */
export function unlessAllInMaintenance(vector: string, labels: string): string {
  const known = `synclag_maintenance or on (${TARGET}) 0 * synclag_up`;
  return `${vector}\nunless on (${labels})\n  min by (${labels}) (${known}) == 1`;
}

/** The threshold of chains.yaml for each target. */
export function threshold(level: "lagging" | "critical" | "stalled"): string {
  return perTarget(`synclag_threshold_seconds{level="${level}"}`);
}

/** An expression indented by two spaces. */
export function indented(expression: string): string {
  return expression.replaceAll(/^/gm, "  ");
}
