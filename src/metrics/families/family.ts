import type { MetricsSource } from "../../core/model/metrics-source.ts";
import type { TargetId, TargetReport } from "../../core/model/report.ts";
import { labelsText, type Sample } from "./exposition.ts";

/** What the metrics of the fleet are read from: a daemon, or the report of `check`. */
export type ReportSource = Pick<MetricsSource, "report">;

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

const targetTexts = new Map<string, string>();

/** The text of T, made once for each target: labels are most of the text of a scrape, and never change. */
export function targetLabels({ key, protocol, variant, tier, chain, chain_id: id }: TargetId): string {
  const known = targetTexts.get(key);
  if (known !== undefined) {
    return known;
  }
  const text = labelsText({ protocol, variant, tier, chain, chain_id: String(id) });
  targetTexts.set(key, text);
  return text;
}

/** One sample for each of these whose value is known. */
export function* samplesOf<One>(
  all: readonly One[],
  pick: (one: One) => number | null,
  labelsOf: (one: One) => string,
): Iterable<Sample> {
  for (const one of all) {
    const value = pick(one);
    if (value !== null) {
      yield [labelsOf(one), value];
    }
  }
}

/** One sample for each target whose value is known. */
export function perTarget(
  { report }: ReportSource,
  pick: (target: TargetReport) => number | null,
): Iterable<Sample> {
  return samplesOf(report.targets, pick, targetLabels);
}

/** The unix time of a sample. */
export function unixSeconds(time: string | null): number | null {
  return time === null ? null : Date.parse(time) / 1000;
}
