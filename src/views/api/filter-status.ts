import { indexerKey, isProduction } from "../../core/model/fleet.ts";
import type { BudgetJson, ChainJson, ParityJson, StatusJson, TargetJson } from "./api-schema.ts";
import { describeMissing, selectTargets } from "./selection.ts";

/**
 * The status of one protocol on one chain; null if there is no such pair. Shared budgets are kept, since this pair may
 * draw on them; so are the skipped indexers of the protocol.
 */
export function filterStatus(json: StatusJson, protocol: string, chain: string): StatusJson | null {
  const targets = selectTargets(json.targets, { protocol, chain });
  return targets.length === 0 ? null : keepTargets(json, targets);
}

/** Narrows a status to the targets that match every word of a query, such as `lockup base`, `stalled` or `testnet`. */
export function filterByWords(json: StatusJson, query: string): StatusJson {
  const words = query
    .toLowerCase()
    .split(/[\s/]+/)
    .filter((word) => word !== "");
  if (words.length === 0) {
    return json;
  }
  const chains = new Map(json.chains.map((chain) => [chain.slug, chain]));
  const matching = json.targets.filter((target) => {
    const text = searchText(target, chains.get(target.chain));
    return words.every((word) => text.includes(word));
  });
  return keepTargets(json, matching);
}

/** Narrows every list to what concerns `targets`, which are some of its own. */
export function keepTargets(json: StatusJson, targets: readonly TargetJson[]): StatusJson {
  const keys = new Set(targets.map(targetKey));
  const chains = new Set(targets.map((target) => target.chain));
  const protocols = new Set(targets.map((target) => target.protocol));
  return {
    generated_at: json.generated_at,
    replica: json.replica,
    chains: json.chains.filter(({ slug }) => chains.has(slug)),
    targets,
    gaps: json.gaps.filter((gap) => keys.has(targetKey(gap))),
    parity: json.parity.filter((one) => targets.some((target) => isCompared(one, target))),
    incidents: json.incidents
      .map((incident) => ({ ...incident, targets: incident.targets.filter((key) => keys.has(key)) }))
      .filter((incident) => incident.targets.length > 0),
    budgets: json.budgets.filter((budget) => concerns(budget, targets)),
    skipped: json.skipped.filter((skipped) => protocols.has(skipped.protocol)),
  };
}

/** Whether a target is one of the two that are compared. What another is compared with is of its own tier, or of production. */
export function isCompared(parity: ParityJson, target: TargetJson): boolean {
  const { against, chain, protocol, tier } = parity;
  const isAgainst = protocol === target.protocol && chain === target.chain && against === target.variant;
  return (
    (isAgainst && (target.tier === tier || isProduction(target))) || targetKey(parity) === targetKey(target)
  );
}

/** `protocol/variant/tier/chain`: the key of a target. */
export function targetKey(target: Pick<TargetJson, "protocol" | "variant" | "tier" | "chain">): string {
  return `${indexerKey(target)}/${target.chain}`;
}

/** The error for a pair that does not exist, which names those that do. */
export function describeMissingPair(json: StatusJson, protocol: string, chain: string): string {
  return describeMissing(json.targets, { protocol, chain });
}

/** The key of an endpoint ends in `all` or in the slug of its only chain; that of an RPC node is `rpc/chain/host/digest`. */
function concerns({ endpoint }: BudgetJson, targets: readonly TargetJson[]): boolean {
  return (
    endpoint === null ||
    targets.some(
      (target) =>
        endpoint === `${indexerKey(target)}/all` ||
        endpoint === targetKey(target) ||
        endpoint.startsWith(`rpc/${target.chain}/`),
    )
  );
}

function searchText(target: TargetJson, chain: ChainJson | undefined): string {
  const { protocol, variant, tier, status, reason, chain_id } = target;
  const network = chain?.testnet === true ? "testnet" : "mainnet";
  return [protocol, variant, tier, target.chain, chain?.name ?? "", chain_id, network, status, reason ?? ""]
    .join(" ")
    .toLowerCase();
}
