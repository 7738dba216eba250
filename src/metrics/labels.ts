import type { Endpoint, IndexerId } from "../core/model/fleet.ts";
import type { BudgetReport, TargetId } from "../core/model/report.ts";
import { labelsText } from "./exposition.ts";

/** Labels of a target, called T in docs/METRICS.md. */
export const TARGET_LABELS = ["protocol", "variant", "tier", "chain", "chain_id"] as const;
/** Labels of a chain, called C there. */
export const CHAIN_LABELS = ["chain", "chain_id"] as const;
/** Labels of an endpoint, called E there. */
export const ENDPOINT_LABELS = ["protocol", "variant", "tier", "endpoint"] as const;
/** Labels of an indexer. */
export const INDEXER_LABELS = ["protocol", "variant", "tier"] as const;

/** The text of the labels of a target. */
export function targetLabels({ protocol, variant, tier, chain, chain_id }: TargetId): string {
  return labelsText({ protocol, variant, tier, chain, chain_id: String(chain_id) });
}

/** The text of the labels of an indexer. */
export function indexerLabels({ protocol, variant, tier }: IndexerId): string {
  return labelsText({ protocol, variant, tier });
}

/** The text of the labels of an endpoint. */
export function endpointLabels({ protocol, variant, tier, name }: Endpoint): string {
  return labelsText({ protocol, variant, tier, endpoint: name });
}

/** The labels of an endpoint by its key, which begins with `rpc/CHAIN` for an RPC node. */
export function labelsOfKey(key: string) {
  const [protocol = "", variant = "", tier = "", endpoint = ""] = key
    .replace(/^rpc\/([^/]*).*/, "/rpc//$1")
    .split("/");
  return { protocol, variant, tier, endpoint };
}

/** The text of the labels of the endpoint with a key. */
export function keyLabels(key: string): string {
  return labelsText(labelsOfKey(key));
}

/** The text of the labels of a budget. A shared one has `endpoint="shared"`, and its other labels of an endpoint are empty. */
export function budgetLabels({ budget, endpoint }: BudgetReport): string {
  return `${labelsText({ budget })},${keyLabels(endpoint ?? "///shared")}`;
}
