import { type ChainSummary, type GapReport, STATUSES } from "../../core/model/report.ts";
import { labelsText, type Sample } from "./exposition.ts";
import {
  CHAIN_LABELS,
  type MetricFamily,
  perTarget,
  type ReportSource,
  samplesOf,
  TARGET_LABELS,
  targetLabels,
  unixSeconds,
} from "./family.ts";
import { PARITY_METRICS } from "./parity.ts";

const STATUS_LABELS = STATUSES.map((status) => [status, labelsText({ status })] as const);

/**
 * The metrics of targets, gaps, parity, chains and incidents, all gauges: what `check --format prometheus` prints, and the first
 * part of `/metrics`.
 */
export const STATUS_METRICS: readonly MetricFamily<ReportSource>[] = [
  {
    name: "synclag_up",
    type: "gauge",
    help: "1 if the last poll returned a usable height; polled on its own schedule, not by the scrape",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ up }) => Number(up)),
  },
  {
    name: "synclag_block_number",
    type: "gauge",
    help: "Last indexed block; absent once the evidence is stale, and while the height is impossible",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ block_number: block }) => block),
  },
  {
    name: "synclag_block_timestamp_seconds",
    type: "gauge",
    help: "Timestamp of the last indexed block, when the indexer reports one",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, (target) => unixSeconds(target.block_timestamp)),
  },
  {
    name: "synclag_last_success_timestamp_seconds",
    type: "gauge",
    help: "Time of the last poll that returned a usable height",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, (target) => unixSeconds(target.last_success)),
  },
  {
    name: "synclag_last_advance_timestamp_seconds",
    type: "gauge",
    help: "Time at which the height of the target last increased",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, (target) => unixSeconds(target.last_advance)),
  },
  {
    name: "synclag_lag_blocks",
    type: "gauge",
    help: "Blocks behind the reference of the chain; absent when unknown",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, (target) => target.lag_blocks),
  },
  {
    name: "synclag_lag_seconds",
    type: "gauge",
    help: "Chain time behind the reference of the chain, or behind the clock where it has none; absent when unknown",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, (target) => target.lag_seconds),
  },
  {
    name: "synclag_status",
    type: "gauge",
    help: "1 for the status of the target, 0 for all others",
    labels: [...TARGET_LABELS, "status"],
    samples: statusSamples,
  },
  {
    name: "synclag_threshold_seconds",
    type: "gauge",
    help: "Threshold configured for the target",
    labels: [...TARGET_LABELS, "level"],
    samples: thresholdSamples,
  },
  {
    name: "synclag_maintenance",
    type: "gauge",
    help: "1 inside a maintenance window",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ maintenance }) => Number(maintenance)),
  },
  {
    name: "synclag_variant_gap_blocks",
    type: "gauge",
    help: "Blocks that the target is behind the other variant at one common instant; negative when ahead",
    labels: [...TARGET_LABELS, "against"],
    samples: (source) => perGap(source, ({ blocks }) => blocks),
  },
  {
    name: "synclag_variant_gap_seconds",
    type: "gauge",
    help: "Chain time that the target is behind the other variant; negative when ahead",
    labels: [...TARGET_LABELS, "against"],
    samples: (source) => perGap(source, (gap) => gap.seconds),
  },
  {
    name: "synclag_variant_gap_uncertainty_blocks",
    type: "gauge",
    help: "Half-width of the interval that contains the true gap",
    labels: [...TARGET_LABELS, "against"],
    samples: (source) => perGap(source, (gap) => gap.uncertainty_blocks),
  },
  {
    name: "synclag_reference_block_number",
    type: "gauge",
    help: "Corroborated head of the chain",
    labels: CHAIN_LABELS,
    samples: (source) => perChain(source, ({ reference }) => reference?.block_number ?? null),
  },
  {
    name: "synclag_reference_sources",
    type: "gauge",
    help: "Number of sources that agree with the reference of the chain",
    labels: CHAIN_LABELS,
    samples: (source) => perChain(source, ({ reference }) => reference?.sources ?? null),
  },
  {
    name: "synclag_block_interval_seconds",
    type: "gauge",
    help: "Measured time between blocks",
    labels: CHAIN_LABELS,
    samples: (source) => perChain(source, (chain) => chain.block_interval_seconds),
  },
  {
    name: "synclag_incident_active",
    type: "gauge",
    help: "1 while one cause explains the failures of many targets",
    labels: ["scope", "subject"],
    samples: ({ report }) =>
      report.incidents.map(({ scope, subject }): Sample => [labelsText({ scope, subject }), 1]),
  },
  ...PARITY_METRICS,
];

function perGap({ report }: ReportSource, pick: (gap: GapReport) => number | null): Iterable<Sample> {
  return samplesOf(
    report.gaps,
    pick,
    (gap) => `${targetLabels(gap)},${labelsText({ against: gap.against })}`,
  );
}

function perChain({ report }: ReportSource, pick: (chain: ChainSummary) => number | null): Iterable<Sample> {
  return samplesOf(report.chains, pick, ({ slug, chain_id: id }) =>
    labelsText({ chain: slug, chain_id: String(id) }),
  );
}

function* statusSamples({ report }: ReportSource): Iterable<Sample> {
  for (const target of report.targets) {
    const labels = targetLabels(target);
    for (const [known, label] of STATUS_LABELS) {
      yield [`${labels},${label}`, Number(target.status === known)];
    }
  }
}

function* thresholdSamples({ report }: ReportSource): Iterable<Sample> {
  const thresholds = new Map(report.chains.map((chain) => [chain.slug, chain.thresholds]));
  for (const target of report.targets) {
    const labels = targetLabels(target);
    const of = thresholds.get(target.chain);
    if (of !== undefined) {
      yield [`${labels},level="lagging"`, of.lagging_seconds];
      yield [`${labels},level="critical"`, of.critical_seconds];
      yield [`${labels},level="stalled"`, of.stalled_seconds];
    }
  }
}
