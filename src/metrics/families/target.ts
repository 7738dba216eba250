import type { MetricsSource } from "../../core/model/metrics-source.ts";
import { STATUSES } from "../../core/model/report.ts";
import { labelsText, type Sample } from "../exposition.ts";
import { type MetricFamily, perTarget, seconds, TARGET_LABELS, targetLabels } from "./family.ts";

const STATUS_LABELS = STATUSES.map((status) => [status, labelsText({ status })] as const);

/** What is said of each target. Polled on a schedule of its own: a scrape asks no indexer. */
export const TARGET_METRICS: readonly MetricFamily[] = [
  {
    name: "synclag_up",
    type: "gauge",
    help: "1 if the last poll gave a usable height; polled on its own schedule, not by the scrape",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ up }) => (up ? 1 : 0)),
  },
  {
    name: "synclag_block_number",
    type: "gauge",
    help: "Last indexed block; absent once the evidence is stale",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ block }) => block),
  },
  {
    name: "synclag_block_timestamp_seconds",
    type: "gauge",
    help: "Timestamp of the last indexed block, when the indexer reports one",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ blockTimestampSec }) => blockTimestampSec),
  },
  {
    name: "synclag_last_success_timestamp_seconds",
    type: "gauge",
    help: "When the target last gave a usable height",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ lastSuccessMs }) => seconds(lastSuccessMs)),
  },
  {
    name: "synclag_last_advance_timestamp_seconds",
    type: "gauge",
    help: "When the height of the target last grew",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ lastAdvanceMs }) => seconds(lastAdvanceMs)),
  },
  {
    name: "synclag_lag_blocks",
    type: "gauge",
    help: "Blocks behind the reference of the chain; absent when unknown",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ lagBlocks }) => lagBlocks),
  },
  {
    name: "synclag_lag_seconds",
    type: "gauge",
    help: "Chain time behind the reference of the chain; absent when unknown",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ lagMs }) => seconds(lagMs)),
  },
  {
    name: "synclag_status",
    type: "gauge",
    help: "1 for the status that the target has, 0 for the others",
    labels: [...TARGET_LABELS, "status"],
    samples: statusSamples,
  },
  {
    name: "synclag_threshold_seconds",
    type: "gauge",
    help: "Limit that the configuration sets for this target",
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
    name: "synclag_indexing_errors",
    type: "gauge",
    help: "1 if the indexer flags indexing errors; 0 proves nothing",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ indexingErrors }) => flag(indexingErrors)),
  },
  {
    name: "synclag_regressions_total",
    type: "counter",
    help: "Steps backward of the height, counted once each",
    labels: [...TARGET_LABELS, "kind"],
    samples: regressionSamples,
  },
  {
    name: "synclag_deployment_info",
    type: "gauge",
    help: "1 for the deployment that answered last",
    labels: [...TARGET_LABELS, "deployment"],
    samples: deploymentSamples,
  },
  {
    name: "synclag_deployment_changes_total",
    type: "counter",
    help: "How often another deployment answered than before",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ deploymentChanges }) => deploymentChanges),
  },
  {
    name: "synclag_preferred",
    type: "gauge",
    help: "1 on the freshest healthy production target of its protocol and chain",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ preferred }) => (preferred ? 1 : 0)),
  },
  {
    name: "synclag_variant_gap_blocks",
    type: "gauge",
    help: "Blocks that the target is behind the other variant at one common instant; negative when ahead",
    labels: [...TARGET_LABELS, "against"],
    samples: (source) => gapSamples(source, ({ blocks }) => blocks),
  },
  {
    name: "synclag_variant_gap_seconds",
    type: "gauge",
    help: "Chain time that the target is behind the other variant; negative when ahead",
    labels: [...TARGET_LABELS, "against"],
    samples: (source) => gapSamples(source, (gap) => gap.seconds),
  },
  {
    name: "synclag_variant_gap_uncertainty_blocks",
    type: "gauge",
    help: "Half-width of the interval that the true gap lies in",
    labels: [...TARGET_LABELS, "against"],
    samples: (source) => gapSamples(source, ({ uncertaintyBlocks }) => uncertaintyBlocks),
  },
];

function flag(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}

function* statusSamples({ report }: MetricsSource): Iterable<Sample> {
  for (const { target, status } of report.chains.flatMap((chain) => chain.targets)) {
    const labels = targetLabels(target);
    for (const [known, label] of STATUS_LABELS) {
      yield [`${labels},${label}`, status === known ? 1 : 0];
    }
  }
}

function* thresholdSamples({ report }: MetricsSource): Iterable<Sample> {
  for (const { chain, targets } of report.chains) {
    const { laggingMs, criticalMs, stalledMs } = chain.thresholds;
    for (const { target } of targets) {
      const labels = targetLabels(target);
      yield [`${labels},level="lagging"`, laggingMs / 1000];
      yield [`${labels},level="critical"`, criticalMs / 1000];
      yield [`${labels},level="stalled"`, stalledMs / 1000];
    }
  }
}

function* regressionSamples({ report }: MetricsSource): Iterable<Sample> {
  for (const { target, regressions } of report.chains.flatMap((chain) => chain.targets)) {
    const labels = targetLabels(target);
    yield [`${labels},kind="reorg"`, regressions.reorg];
    yield [`${labels},kind="reindex"`, regressions.reindex];
  }
}

function* deploymentSamples({ report }: MetricsSource): Iterable<Sample> {
  for (const { target, deployment } of report.chains.flatMap((chain) => chain.targets)) {
    if (deployment !== null) {
      yield [`${targetLabels(target)},${labelsText({ deployment })}`, 1];
    }
  }
}

function* gapSamples(
  { report }: MetricsSource,
  pick: (gap: MetricsSource["report"]["chains"][number]["gaps"][number]) => number | null,
): Iterable<Sample> {
  for (const gap of report.chains.flatMap((chain) => chain.gaps)) {
    const value = pick(gap);
    if (value !== null) {
      yield [`${targetLabels(gap.target)},${labelsText({ against: gap.against })}`, value];
    }
  }
}
