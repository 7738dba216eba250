import { FAILURE_REASONS } from "../core/observation.ts";
import {
  budgetLabels,
  CHAIN_LABELS,
  ENDPOINT_LABELS,
  endpointLabels,
  type MetricFamily,
  type MetricsSource,
  perChain,
  type Sample,
} from "./metric-family.ts";

/** What is said of chains, incidents, endpoints and budgets. */
export const FLEET_METRICS: readonly MetricFamily[] = [
  {
    name: "synclag_reference_block_number",
    type: "gauge",
    help: "Corroborated head of the chain",
    labels: CHAIN_LABELS,
    samples: (source) => perChain(source, ({ reference }) => reference?.block ?? null),
  },
  {
    name: "synclag_reference_sources",
    type: "gauge",
    help: "How many sources agree with the reference of the chain",
    labels: CHAIN_LABELS,
    samples: (source) => perChain(source, ({ reference }) => reference?.sources ?? null),
  },
  {
    name: "synclag_block_interval_seconds",
    type: "gauge",
    help: "Measured time between blocks",
    labels: CHAIN_LABELS,
    samples: (source) =>
      perChain(source, ({ blockIntervalMs }) => (blockIntervalMs === null ? null : blockIntervalMs / 1000)),
  },
  {
    name: "synclag_incident_active",
    type: "gauge",
    help: "1 while one cause explains the trouble of many targets",
    labels: ["scope", "subject"],
    samples: ({ report }) => report.incidents.map(({ scope, subject }): Sample => [{ scope, subject }, 1]),
  },
  {
    name: "synclag_polls_total",
    type: "counter",
    help: "Requests sent to the endpoint, retries included",
    labels: ENDPOINT_LABELS,
    samples: ({ endpoints }) => summed(endpoints, ({ requests }) => requests),
  },
  {
    name: "synclag_poll_failures_total",
    type: "counter",
    help: "Polls that gave no usable answer, by reason",
    labels: [...ENDPOINT_LABELS, "reason"],
    samples: failureSamples,
  },
  {
    name: "synclag_rounds_skipped_total",
    type: "counter",
    help: "Ticks that found the former round of the indexer still under way",
    labels: ["protocol", "variant", "tier"],
    samples: ({ indexers }) =>
      indexers.map(
        ({ indexer: { protocol, variant, tier }, roundsSkipped }): Sample => [
          { protocol, variant, tier },
          roundsSkipped,
        ],
      ),
  },
  {
    name: "synclag_budget_limit",
    type: "gauge",
    help: "Requests that the budget allows in its window",
    labels: ["budget", ...ENDPOINT_LABELS],
    samples: ({ report }) => report.budgets.map((budget): Sample => [budgetLabels(budget), budget.limit]),
  },
  {
    name: "synclag_budget_used",
    type: "gauge",
    help: "Requests drawn from the budget, by the stricter of the calendar and the rolling window",
    labels: ["budget", ...ENDPOINT_LABELS],
    samples: ({ report }) => report.budgets.map((budget): Sample => [budgetLabels(budget), budget.used]),
  },
  {
    name: "synclag_budget_remaining",
    type: "gauge",
    help: "Requests that are left, by the stricter of the calendar and the rolling window",
    labels: ["budget", ...ENDPOINT_LABELS],
    samples: ({ report }) => report.budgets.map((budget): Sample => [budgetLabels(budget), budget.remaining]),
  },
];

/** Several RPC nodes of one chain share their labels: their counts are one series. */
function summed(
  endpoints: MetricsSource["endpoints"],
  pick: (tally: Parameters<typeof endpointLabels>[0]) => number,
): Iterable<Sample> {
  const series = new Map<string, Sample>();
  for (const tally of endpoints) {
    const labels = endpointLabels(tally);
    const key = Object.values(labels).join("/");
    series.set(key, [labels, (series.get(key)?.[1] ?? 0) + pick(tally)]);
  }
  return series.values();
}

function* failureSamples({ endpoints }: MetricsSource): Iterable<Sample> {
  for (const reason of FAILURE_REASONS) {
    for (const [labels, value] of summed(endpoints, ({ failures }) => failures[reason])) {
      yield [{ ...labels, reason }, value];
    }
  }
}
