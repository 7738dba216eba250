import type { BudgetReport, ChainReport, Report, TargetReport } from "../core/report.ts";
import type { EndpointTally, IndexerTally } from "../daemon/tally.ts";

/** What the metrics are read from at a scrape: memory only, never an indexer. */
export interface MetricsSource {
  readonly report: Report;
  // Lists: several families read them, and an iterator would be used up by the first.
  readonly endpoints: readonly EndpointTally[];
  readonly indexers: readonly IndexerTally[];
  readonly loop: {
    readonly lastTickMs: number | null;
    readonly inFlight: number;
    readonly queued: number;
  };
  readonly reload: {
    readonly successful: boolean;
    readonly lastSuccessMs: number;
  };
}

export type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

/** One metric: its public name, and how its samples are read. */
export interface MetricFamily {
  readonly name: string;
  readonly type: "gauge" | "counter";
  /** Without a full stop, as Prometheus' own. */
  readonly help: string;
  readonly labels: readonly string[];
  /** A sample for each series that exists now: what is unknown is absent, never 0. */
  samples(source: MetricsSource): Iterable<Sample>;
}

/** Labels of a target: T of the documentation. */
export const TARGET_LABELS = ["protocol", "variant", "tier", "chain", "chain_id"] as const;
/** Labels of a chain: C. */
export const CHAIN_LABELS = ["chain", "chain_id"] as const;
/** Labels of an endpoint: E. */
export const ENDPOINT_LABELS = ["protocol", "variant", "tier", "endpoint"] as const;

export function targetLabels({ target }: Pick<TargetReport, "target">): Labels {
  const { protocol, variant, tier, chain, chainId } = target;
  return { protocol, variant, tier, chain, chain_id: String(chainId) };
}

function chainLabels({ chain }: Pick<ChainReport, "chain">): Labels {
  return { chain: chain.slug, chain_id: String(chain.id) };
}

export function endpointLabels({ endpoint }: EndpointTally): Labels {
  const { protocol, variant, tier, name } = endpoint;
  return { protocol, variant, tier, endpoint: name };
}

/** A shared budget has `endpoint="shared"` and the rest empty. */
export function budgetLabels({ budget, endpoint }: BudgetReport): Labels {
  if (endpoint === null) {
    return { budget: budget.name, protocol: "", variant: "", tier: "", endpoint: "shared" };
  }
  const { protocol, variant, tier, name } = endpoint;
  return { budget: budget.name, protocol, variant, tier, endpoint: name };
}

/** One sample for each target whose value is known. */
export function* perTarget(
  { report }: MetricsSource,
  pick: (target: TargetReport) => number | null,
): Iterable<Sample> {
  for (const chain of report.chains) {
    for (const target of chain.targets) {
      const value = pick(target);
      if (value !== null) {
        yield [targetLabels(target), value];
      }
    }
  }
}

/** One sample for each chain whose value is known. */
export function* perChain(
  { report }: MetricsSource,
  pick: (chain: ChainReport) => number | null,
): Iterable<Sample> {
  for (const chain of report.chains) {
    const value = pick(chain);
    if (value !== null) {
      yield [chainLabels(chain), value];
    }
  }
}

/** Milliseconds as the seconds that Prometheus wants. */
export function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}
