import { indexerKey } from "../../core/model/fleet.ts";
import type { Plan } from "../../core/model/plan.ts";
import type { ChainSummary, Report, TargetId, TargetReport } from "../../core/model/report.ts";
import { didYouMean } from "../../core/text/near-miss.ts";

/** Selects the targets of a protocol, of one of its chains, or of one variant or tier there. */
export interface Selection {
  readonly protocol: string;
  readonly chain?: string | undefined;
  readonly variant?: string | undefined;
  readonly tier?: string | undefined;
}

const PARTS = ["protocol", "chain", "variant", "tier"] as const;

/** The targets of a selection, in their order; none if it names something that does not exist. */
export function selectTargets<T extends TargetId>(targets: readonly T[], selection: Selection): readonly T[] {
  return targets.filter((target) =>
    PARTS.every((part) => selection[part] === undefined || selection[part] === target[part]),
  );
}

/** The error for a selection without targets: which part of it is unknown, and the known values. */
export function describeMissing(targets: readonly TargetId[], selection: Selection): string {
  const found: string[] = [];
  let left = targets;
  for (const part of PARTS) {
    const typed = selection[part];
    if (typed === undefined) {
      continue;
    }
    const known = [...new Set(left.map((target) => target[part]))];
    left = left.filter((target) => target[part] === typed);
    if (left.length === 0) {
      const inside = found.length === 0 ? "" : ` of ${found.join("/")}`;
      const listed = known.length === 0 ? "none" : known.join(", ");
      return `Cannot find ${part} '${typed}'${inside}: available are ${listed}${didYouMean(typed, known)}`;
    }
    found.push(typed);
  }
  return `Cannot find ${found.join("/")}`;
}

/** Narrows a report to the targets that match every word of a filter, such as `lockup base`, `stalled` or `testnet`. */
export function filterByWords(report: Report, filter: string): Report {
  const words = wordsOf(filter);
  if (words.length === 0) {
    return report;
  }
  const chains = new Map(report.chains.map((chain) => [chain.slug, chain]));
  const matching = report.targets.filter((target) => {
    const text = searchText(target, chains.get(target.chain));
    return words.every((word) => text.includes(word));
  });
  return keepTargets(report, matching);
}

/** Narrows a plan to the indexers of these targets. RPC nodes stay unless `targets` is empty: their heads count for every indexer. */
export function filterPlan(plan: Plan, targets: readonly TargetReport[]): Plan {
  const shown = new Set(targets.map(indexerKey));
  const indexers = plan.indexers.filter(
    (row) => shown.has(indexerKey(row)) || (row.protocol === "" && shown.size > 0),
  );
  const budgets = new Set(indexers.map(({ budget }) => budget));
  return {
    ...plan,
    indexers,
    budgets: plan.budgets.filter(({ budget }) => budgets.has(budget)),
    totals: {
      endpoints: indexers.reduce((total, row) => total + row.endpoints, 0),
      requests_per_day: indexers.reduce((total, row) => total + row.requests_per_day, 0),
    },
  };
}

/** The words of a filter. */
export function wordsOf(filter: string): readonly string[] {
  return filter
    .toLowerCase()
    .split(/[\s/]+/)
    .filter((word) => word !== "");
}

function searchText(target: TargetReport, chain: ChainSummary | undefined): string {
  const { protocol, variant, tier, status, reason, chain_id } = target;
  const network = chain?.testnet === true ? "testnet" : "mainnet";
  return [protocol, variant, tier, target.chain, chain?.name ?? "", chain_id, network, status, reason ?? ""]
    .join(" ")
    .toLowerCase();
}

/**
 * Narrows every list of a report to what belongs to some of its targets (`targets`). Shared budgets stay, because these targets
 * may draw on them; skipped indexers of the same protocols stay, too.
 */
export function keepTargets(report: Report, targets: readonly TargetReport[]): Report {
  const keys = new Set(targets.map(({ key }) => key));
  // The key of an endpoint ends in `all`, or in the slug of its only chain.
  const endpoints = new Set([...keys, ...targets.map((target) => `${indexerKey(target)}/all`)]);
  const chains = new Set(targets.map(({ chain }) => chain));
  const protocols = new Set(targets.map(({ protocol }) => protocol));
  return {
    ...report,
    chains: report.chains.filter(({ slug }) => chains.has(slug)),
    targets,
    gaps: report.gaps.filter(({ key }) => keys.has(key)),
    parity: report.parity.filter((one) => keys.has(one.key) || keys.has(one.against_key)),
    incidents: report.incidents
      .map((incident) => ({ ...incident, targets: incident.targets.filter((key) => keys.has(key)) }))
      .filter((incident) => incident.targets.length > 0),
    budgets: report.budgets.filter(({ endpoint }) => {
      const [protocol, chain = ""] = endpoint?.split("/") ?? [];
      return endpoint === null || endpoints.has(endpoint) || (protocol === "rpc" && chains.has(chain));
    }),
    skipped: report.skipped.filter(({ protocol }) => protocols.has(protocol)),
    unlisted: report.unlisted.filter(({ endpoint }) => endpoints.has(endpoint)),
  };
}
