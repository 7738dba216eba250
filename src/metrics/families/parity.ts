import type { MeasuredParity, StatusSource } from "../../core/model/metrics-source.ts";
import { labelsText, type Sample } from "./exposition.ts";
import { type MetricFamily, seconds, TARGET_LABELS, targetLabels } from "./family.ts";

const PAIR_LABELS = [...TARGET_LABELS, "against", "probe"] as const;
const RESULTS = { equal: 1, different: 0, unknown: null } as const;

/** Whether variants have the same data: no samples where chains.yaml configures no parity. */
export const PARITY_METRICS: readonly MetricFamily<StatusSource>[] = [
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
    samples: (source) => perPair(source, ({ compared }) => compared?.difference ?? null),
  },
  {
    name: "synclag_parity_compared_block",
    type: "gauge",
    help: "Block at which the data were found to be equal or different",
    labels: PAIR_LABELS,
    samples: (source) => perPair(source, ({ compared }) => compared?.block ?? null),
  },
  {
    name: "synclag_parity_last_comparison_timestamp_seconds",
    type: "gauge",
    help: "Time of the last comparison, whatever it showed",
    labels: PAIR_LABELS,
    samples: (source) => perPair(source, ({ lastComparisonMs }) => seconds(lastComparisonMs)),
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
          `${targetLabels(target)},${labelsText({ probe })}`,
          failures,
        ],
      ),
  },
];

function* perPair({ report }: StatusSource, pick: (pair: MeasuredParity) => number | null): Iterable<Sample> {
  for (const { parity } of report.chains) {
    for (const pair of parity) {
      const value = pick(pair);
      if (value !== null) {
        const labels = labelsText({ against: pair.against.variant, probe: pair.probe });
        yield [`${targetLabels(pair.target)},${labels}`, value];
      }
    }
  }
}
