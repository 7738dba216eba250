import type { Endpoint, Target } from "../../core/model/fleet.ts";
import { memoize } from "../../core/model/memoize.ts";
import type { MetricsSource } from "../../core/model/metrics-source.ts";
import type { BudgetReport, ChainReport, TargetReport } from "../../core/model/report.ts";
import { labelsText, type Sample } from "../exposition.ts";

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

/** The text of T, made once for each: most of what a scrape says is labels, which are always the same. */
export const targetLabels = memoize(({ protocol, variant, tier, chain, chainId }: Target) =>
  labelsText({ protocol, variant, tier, chain, chain_id: String(chainId) }),
);

/** The text of E. */
export const endpointLabels = memoize(({ protocol, variant, tier, name }: Endpoint) =>
  labelsText({ protocol, variant, tier, endpoint: name }),
);

/** A shared budget has `endpoint="shared"` and the rest empty. */
export function budgetLabels({ budget, endpoint }: BudgetReport): string {
  const name = labelsText({ budget: budget.name });
  return endpoint === null
    ? `${name},${labelsText({ protocol: "", variant: "", tier: "", endpoint: "shared" })}`
    : `${name},${endpointLabels(endpoint)}`;
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
        yield [targetLabels(target.target), value];
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
      const { slug, id } = chain.chain;
      yield [labelsText({ chain: slug, chain_id: String(id) }), value];
    }
  }
}

/** Milliseconds as the seconds that Prometheus wants. */
export function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}
