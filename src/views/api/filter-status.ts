import { indexerKey } from "../../core/model/fleet.ts";
import type { ChainSummary, Report, TargetReport } from "../../core/model/report.ts";
import { selectTargets } from "./selection.ts";

/**
 * The status of one protocol on one chain; null if there is no such pair. Shared budgets are kept, since this pair may
 * draw on them; so are the skipped indexers of the protocol.
 */
export function filterStatus(json: Report, protocol: string, chain: string): Report | null {
  const targets = selectTargets(json.targets, { protocol, chain });
  return targets.length === 0 ? null : keepTargets(json, targets);
}

/** Narrows a status to the targets that match every word of a query, such as `lockup base`, `stalled` or `testnet`. */
export function filterByWords(json: Report, query: string): Report {
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
export function keepTargets(json: Report, targets: readonly TargetReport[]): Report {
  const keys = new Set(targets.map(({ key }) => key));
  // The key of an endpoint ends in `all`, or in the slug of its only chain.
  const endpoints = new Set([...keys, ...targets.map((target) => `${indexerKey(target)}/all`)]);
  const chains = new Set(targets.map((target) => target.chain));
  const protocols = new Set(targets.map((target) => target.protocol));
  return {
    generated_at: json.generated_at,
    replica: json.replica,
    chains: json.chains.filter(({ slug }) => chains.has(slug)),
    targets,
    gaps: json.gaps.filter((gap) => keys.has(gap.key)),
    parity: json.parity.filter((one) => keys.has(one.key) || keys.has(one.against_key)),
    incidents: json.incidents
      .map((incident) => ({ ...incident, targets: incident.targets.filter((key) => keys.has(key)) }))
      .filter((incident) => incident.targets.length > 0),
    budgets: json.budgets.filter(({ endpoint }) => endpoint === null || endpoints.has(endpoint)),
    skipped: json.skipped.filter((skipped) => protocols.has(skipped.protocol)),
  };
}

function searchText(target: TargetReport, chain: ChainSummary | undefined): string {
  const { protocol, variant, tier, status, reason, chain_id } = target;
  const network = chain?.testnet === true ? "testnet" : "mainnet";
  return [protocol, variant, tier, target.chain, chain?.name ?? "", chain_id, network, status, reason ?? ""]
    .join(" ")
    .toLowerCase();
}
