import { memoize } from "../../core/model/memoize.ts";
import type {
  MeasuredChain,
  MeasuredGap,
  MeasuredTarget,
  MetricsSource,
  StatusSource,
  TargetId,
} from "../../core/model/metrics-source.ts";
import { labelsText, type Sample } from "./exposition.ts";

/** One metric: its public name, and how its samples are read. */
export interface MetricFamily<Source = MetricsSource> {
  readonly name: string;
  readonly type: "gauge" | "counter" | "histogram";
  /** Without a full stop, as Prometheus' own. */
  readonly help: string;
  readonly labels: readonly string[];
  /** A sample for each series that exists now: what is unknown is absent, never 0. */
  readonly samples: (source: Source) => Iterable<Sample>;
}

/** Labels of a target: T of the documentation. */
export const TARGET_LABELS = ["protocol", "variant", "tier", "chain", "chain_id"] as const;
/** Labels of a chain: C. */
export const CHAIN_LABELS = ["chain", "chain_id"] as const;
/** Labels of an endpoint: E. */
export const ENDPOINT_LABELS = ["protocol", "variant", "tier", "endpoint"] as const;

/** The text of T, made once for each target: labels are most of the text of a scrape, and never change. */
export const targetLabels = memoize(({ protocol, variant, tier, chain, chainId }: TargetId) =>
  labelsText({ protocol, variant, tier, chain, chain_id: String(chainId) }),
);

/** One sample for each target whose value is known. */
export function* perTarget<Target extends Pick<MeasuredTarget, "target">>(
  { report }: { readonly report: { readonly chains: readonly { readonly targets: readonly Target[] }[] } },
  pick: (target: Target) => number | null,
): Iterable<Sample> {
  for (const { targets } of report.chains) {
    for (const target of targets) {
      const value = pick(target);
      if (value !== null) {
        yield [targetLabels(target.target), value];
      }
    }
  }
}

/** One sample for each gap whose value is known. */
export function* perGap(
  { report }: StatusSource,
  pick: (gap: MeasuredGap) => number | null,
): Iterable<Sample> {
  for (const { gaps } of report.chains) {
    for (const gap of gaps) {
      const value = pick(gap);
      if (value !== null) {
        yield [`${targetLabels(gap.target)},${labelsText({ against: gap.against })}`, value];
      }
    }
  }
}

/** One sample for each chain whose value is known. */
export function* perChain(
  { report }: StatusSource,
  pick: (chain: MeasuredChain) => number | null,
): Iterable<Sample> {
  for (const chain of report.chains) {
    const value = pick(chain);
    if (value !== null) {
      const { slug, id } = chain.chain;
      yield [labelsText({ chain: slug, chain_id: String(id) }), value];
    }
  }
}

/** Milliseconds as the seconds of Prometheus. */
export function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}
