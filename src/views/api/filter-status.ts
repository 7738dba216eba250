import type { BudgetJson, StatusJson, TargetJson } from "./api-schema.ts";
import { describeMissing, selectTargets } from "./selection.ts";

/**
 * What concerns one protocol on one chain, every list filtered; null where no such pair is watched.
 * A budget that many endpoints share stays, since this pair may draw on it; so do the skipped indexers of the protocol.
 */
export function filterStatus(json: StatusJson, protocol: string, chain: string): StatusJson | null {
  const targets = selectTargets(json.targets, { protocol, chain });
  return targets.length === 0 ? null : keepTargets(json, targets);
}

/** Narrows every list to what concerns these of its targets. */
export function keepTargets(json: StatusJson, targets: readonly TargetJson[]): StatusJson {
  const keys = new Set(targets.map(targetKey));
  const chains = new Set(targets.map((target) => target.chain));
  const protocols = new Set(targets.map((target) => target.protocol));
  return {
    generated_at: json.generated_at,
    chains: json.chains.filter(({ slug }) => chains.has(slug)),
    targets,
    gaps: json.gaps.filter((gap) => keys.has(targetKey(gap))),
    incidents: json.incidents
      .map((incident) => ({ ...incident, targets: incident.targets.filter((key) => keys.has(key)) }))
      .filter((incident) => incident.targets.length > 0),
    budgets: json.budgets.filter((budget) => concerns(budget, targets)),
    skipped: json.skipped.filter((skipped) => protocols.has(skipped.protocol)),
  };
}

/** `protocol/variant/tier/chain`, as everywhere. */
export function targetKey(target: Pick<TargetJson, "protocol" | "variant" | "tier" | "chain">): string {
  return `${target.protocol}/${target.variant}/${target.tier}/${target.chain}`;
}

/** One sentence for a 404 that names what exists instead. */
export function describeMissingPair(json: StatusJson, protocol: string, chain: string): string {
  return describeMissing(json.targets, { protocol, chain });
}

/** An endpoint's key ends in `all` or in the slug of its one chain; an RPC node's is `rpc/chain/n`. */
function concerns({ endpoint }: BudgetJson, targets: readonly TargetJson[]): boolean {
  return (
    endpoint === null ||
    targets.some(
      ({ protocol, variant, tier, chain }) =>
        endpoint === `${protocol}/${variant}/${tier}/all` ||
        endpoint === `${protocol}/${variant}/${tier}/${chain}` ||
        endpoint.startsWith(`rpc/${chain}/`),
    )
  );
}
