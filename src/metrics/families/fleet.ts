import { groupBy } from "../../core/model/group-by.ts";
import type { EndpointCounters, MetricsSource } from "../../core/model/metrics-source.ts";
import { FAILURE_REASONS, type FailureReason } from "../../core/model/observation.ts";
import type { BudgetReport } from "../../core/model/report.ts";
import { labelsText, type Sample } from "../exposition.ts";
import {
  budgetLabels,
  CHAIN_LABELS,
  ENDPOINT_LABELS,
  endpointLabels,
  type MetricFamily,
  perChain,
} from "./family.ts";

const REASON_LABELS = FAILURE_REASONS.map((reason) => [reason, labelsText({ reason })] as const);

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
    samples: ({ report }) =>
      report.incidents.map(({ scope, subject }): Sample => [labelsText({ scope, subject }), 1]),
  },
  {
    name: "synclag_polls_total",
    type: "counter",
    help: "Requests sent to the endpoint, retries included",
    labels: ENDPOINT_LABELS,
    samples: ({ endpoints }) =>
      seriesOf(endpoints).map(({ endpoint, requests }): Sample => [endpointLabels(endpoint), requests]),
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
          labelsText({ protocol, variant, tier }),
          roundsSkipped,
        ],
      ),
  },
  {
    name: "synclag_budget_limit",
    type: "gauge",
    help: "Requests that the budget allows in its window",
    labels: ["budget", ...ENDPOINT_LABELS],
    samples: (source) => perBudget(source, ({ limit }) => limit),
  },
  {
    name: "synclag_budget_used",
    type: "gauge",
    help: "Requests drawn from the budget, by the stricter of the calendar and the rolling window",
    labels: ["budget", ...ENDPOINT_LABELS],
    samples: (source) => perBudget(source, ({ used }) => used),
  },
  {
    name: "synclag_budget_remaining",
    type: "gauge",
    help: "Requests that are left, by the stricter of the calendar and the rolling window",
    labels: ["budget", ...ENDPOINT_LABELS],
    samples: (source) => perBudget(source, ({ remaining }) => remaining),
  },
];

function* perBudget({ report }: MetricsSource, pick: (budget: BudgetReport) => number): Iterable<Sample> {
  for (const budget of report.budgets) {
    yield [budgetLabels(budget), pick(budget)];
  }
}

function* failureSamples({ endpoints }: MetricsSource): Iterable<Sample> {
  for (const { endpoint, failures } of seriesOf(endpoints)) {
    const labels = endpointLabels(endpoint);
    for (const [reason, label] of REASON_LABELS) {
      yield [`${labels},${label}`, failures[reason]];
    }
  }
}

/** Several RPC nodes of one chain share their labels: their counts are one series. */
function seriesOf(endpoints: readonly EndpointCounters[]): readonly EndpointCounters[] {
  const nodes = endpoints.filter(({ endpoint }) => endpoint.kind === "rpc");
  return [
    ...endpoints.filter(({ endpoint }) => endpoint.kind === "indexer"),
    ...[...groupBy(nodes, ({ endpoint }) => endpoint.name).values()].map((group) => group.reduce(add)),
  ];
}

function add(one: EndpointCounters, other: EndpointCounters): EndpointCounters {
  const failures = FAILURE_REASONS.map((reason) => [reason, one.failures[reason] + other.failures[reason]]);
  return {
    endpoint: one.endpoint,
    requests: one.requests + other.requests,
    // Object.fromEntries widens its keys to string; these are the list's own.
    failures: Object.fromEntries(failures) as Record<FailureReason, number>,
  };
}
