import type { ChainJson, StatusJson, TargetJson } from "../api/api-schema.ts";
import { keepTargets } from "../api/filter-status.ts";

/** Narrows the status to the targets that every word of the query speaks of: `lockup base`, `stalled`, `testnet`. */
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

function searchText(target: TargetJson, chain: ChainJson | undefined): string {
  const { protocol, variant, tier, status, reason, chain_id } = target;
  const network = chain?.testnet === true ? "testnet" : "mainnet";
  return [protocol, variant, tier, target.chain, chain?.name ?? "", chain_id, network, status, reason ?? ""]
    .join(" ")
    .toLowerCase();
}
