import { type ParityReport, targetId } from "../../core/model/report.ts";
import { labelsText, type Sample } from "./exposition.ts";
import {
  type MetricFamily,
  type ReportSource,
  samplesOf,
  TARGET_LABELS,
  targetLabels,
  unixSeconds,
} from "./family.ts";

const PAIR_LABELS = [...TARGET_LABELS, "against", "probe"] as const;
const RESULTS = { equal: 1, different: 0, unknown: null } as const;

/** Whether variants have the same data: no samples where chains.yaml configures no parity. */
export const PARITY_METRICS: readonly MetricFamily<ReportSource>[] = [
  {
    name: "synclag_parity",
    type: "gauge",
    help: "1 if the data of the target equal those of the other variant, 0 if they differ; absent while unknown",
    labels: PAIR_LABELS,
    samples: (source) => perPair(source, ({ result }) => RESULTS[result]),
  },
  {
    name: "synclag_parity_difference",
    type: "gauge",
    help: "Value of the other variant minus that of the target, where both are numbers",
    labels: PAIR_LABELS,
    samples: (source) => perPair(source, ({ difference }) => difference),
  },
  {
    name: "synclag_parity_compared_block",
    type: "gauge",
    help: "Block at which the data were found to be equal or different",
    labels: PAIR_LABELS,
    samples: (source) => perPair(source, ({ block }) => block),
  },
  {
    name: "synclag_parity_last_comparison_timestamp_seconds",
    type: "gauge",
    help: "Time of the last comparison, whatever it showed",
    labels: PAIR_LABELS,
    samples: (source) => perPair(source, (pair) => unixSeconds(pair.last_comparison)),
  },
];

/** The counter that only a running daemon has. */
export const PARITY_COUNTERS: readonly MetricFamily[] = [
  {
    name: "synclag_parity_failures_total",
    type: "counter",
    help: "Requests whose selection for the probe could not be answered or read",
    labels: [...TARGET_LABELS, "probe"],
    samples: ({ parity }) =>
      parity.map(
        ({ target, probe, failures }): Sample => [
          `${targetLabels(targetId(target))},${labelsText({ probe })}`,
          failures,
        ],
      ),
  },
];

function perPair({ report }: ReportSource, pick: (pair: ParityReport) => number | null): Iterable<Sample> {
  return samplesOf(
    report.parity,
    pick,
    (pair) => `${targetLabels(pair)},${labelsText({ against: pair.against, probe: pair.probe })}`,
  );
}
