import type { Endpoint, IndexerId } from "../core/model/fleet.ts";
import type { BudgetReport, TargetId } from "../core/model/report.ts";
import { labelsText } from "./exposition.ts";

/** Labels of a target: T of the documentation. */
export const TARGET_LABELS = ["protocol", "variant", "tier", "chain", "chain_id"] as const;
/** Labels of a chain: C. */
export const CHAIN_LABELS = ["chain", "chain_id"] as const;
/** Labels of an endpoint: E. */
export const ENDPOINT_LABELS = ["protocol", "variant", "tier", "endpoint"] as const;
/** Labels of an indexer. */
export const INDEXER_LABELS = ["protocol", "variant", "tier"] as const;

/** The text of T. */
export function targetLabels({ protocol, variant, tier, chain, chain_id }: TargetId): string {
  return labelsText({ protocol, variant, tier, chain, chain_id: String(chain_id) });
}

/** The text of the labels of an indexer. */
export function indexerLabels({ protocol, variant, tier }: IndexerId): string {
  return labelsText({ protocol, variant, tier });
}

/** The text of E. */
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

/** The text of E, by the key of an endpoint. */
export function keyLabels(key: string): string {
  return labelsText(labelsOfKey(key));
}

/** A shared budget has `endpoint="shared"`, and the other labels of E empty. */
export function budgetLabels({ budget, endpoint }: BudgetReport): string {
  return `${labelsText({ budget })},${keyLabels(endpoint ?? "///shared")}`;
}
