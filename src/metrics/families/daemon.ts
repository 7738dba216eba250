import type { Endpoint } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { memoize } from "../../core/model/memoize.ts";
import {
  DURATION_BOUNDS_SECONDS,
  type EndpointCounters,
  type MetricsSource,
} from "../../core/model/metrics-source.ts";
import { FAILURE_REASONS, type FailureReason } from "../../core/model/observation.ts";
import type { BudgetReport } from "../../core/model/report.ts";
import { labelsText, type Sample } from "./exposition.ts";
import { ENDPOINT_LABELS, type MetricFamily, perTarget, TARGET_LABELS, targetLabels } from "./family.ts";

const REASON_LABELS = FAILURE_REASONS.map((reason) => [reason, labelsText({ reason })] as const);

/** What only a daemon knows of the fleet: its counters, its budgets, and the state of its poll loop. */
export const POLLING_METRICS: readonly MetricFamily[] = [
  {
    name: "synclag_indexing_errors",
    type: "gauge",
    help: "1 if the indexer reports indexing errors; 0 proves nothing",
    labels: TARGET_LABELS,
    samples: (source) =>
      perTarget(source, ({ indexing_errors: flag }) => (flag === null ? null : Number(flag))),
  },
  {
    name: "synclag_regressions_total",
    type: "counter",
    help: "Steps backward of the height",
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
    help: "Changes of the deployment that answers",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, (target) => target.deployment_changes),
  },
  {
    name: "synclag_preferred",
    type: "gauge",
    help: "1 on the freshest healthy production target of its protocol and chain",
    labels: TARGET_LABELS,
    samples: (source) => perTarget(source, ({ preferred }) => Number(preferred)),
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
    help: "Polls that returned no usable answer, by reason",
    labels: [...ENDPOINT_LABELS, "reason"],
    samples: failureSamples,
  },
  {
    name: "synclag_poll_duration_seconds",
    type: "histogram",
    help: "Time from sending a request to the head of its reply, or to its failure",
    labels: ["protocol", "variant", "tier"],
    samples: durationSamples,
  },
  {
    name: "synclag_rounds_skipped_total",
    type: "counter",
    help: "Rounds skipped because the previous round of the indexer was still running",
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
    help: "Requests spent from the budget, by the stricter of the calendar and the rolling window",
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
  {
    name: "synclag_scheduler_last_tick_timestamp_seconds",
    type: "gauge",
    help: "Time of the last tick of the scheduler, which ticks every second",
    labels: [],
    samples: ({ loop }) => (loop.lastTickMs === null ? [] : [["", loop.lastTickMs / 1000]]),
  },
  {
    name: "synclag_polls_in_flight",
    type: "gauge",
    help: "Polls in flight",
    labels: [],
    samples: ({ loop }) => [["", loop.inFlight]],
  },
  {
    name: "synclag_polls_queued",
    type: "gauge",
    help: "Polls waiting for a free slot",
    labels: [],
    samples: ({ loop }) => [["", loop.queued]],
  },
];

/** The metrics of the process, whether or not it polls. */
export const PROCESS_METRICS: readonly MetricFamily[] = [
  {
    name: "synclag_leader",
    type: "gauge",
    help: "1 if this replica holds the lease of the leader; absent without a store",
    labels: [],
    samples: ({ replica }) => (replica === null ? [] : [["", Number(replica.isLeader)]]),
  },
  {
    name: "synclag_store_up",
    type: "gauge",
    help: "1 if the store answers and can be written to; absent without a store",
    labels: [],
    samples: ({ replica }) => (replica === null ? [] : [["", Number(replica.isStoreUp)]]),
  },
  {
    name: "synclag_log_lines_lost_total",
    type: "counter",
    help: "Lines of the log that could not be written",
    labels: [],
    samples: ({ lostLogLines }) => [["", lostLogLines]],
  },
  {
    name: "synclag_http_errors_total",
    type: "counter",
    help: "HTTP requests answered with 500 because of a bug; the log has the stack",
    labels: [],
    samples: ({ httpErrors }) => [["", httpErrors]],
  },
  {
    name: "synclag_config_last_reload_successful",
    type: "gauge",
    help: "1 if the last load of the configuration succeeded",
    labels: [],
    samples: ({ reload }) => [["", Number(reload.successful)]],
  },
  {
    name: "synclag_config_last_reload_success_timestamp_seconds",
    type: "gauge",
    help: "Time of the last successful load of the configuration",
    labels: [],
    samples: ({ reload }) => [["", reload.lastSuccessMs / 1000]],
  },
];

function* regressionSamples({ report }: MetricsSource): Iterable<Sample> {
  for (const target of report.targets) {
    const labels = targetLabels(target);
    yield [`${labels},kind="reorg"`, target.regressions.reorg];
    yield [`${labels},kind="reindex"`, target.regressions.reindex];
  }
}

function* deploymentSamples({ report }: MetricsSource): Iterable<Sample> {
  for (const target of report.targets) {
    if (target.deployment !== null) {
      yield [`${targetLabels(target)},${labelsText({ deployment: target.deployment })}`, 1];
    }
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

function* durationSamples({ durations }: MetricsSource): Iterable<Sample> {
  for (const { indexer, counts, sumSeconds } of durations) {
    const { protocol, variant, tier } = indexer;
    const labels = labelsText({ protocol, variant, tier });
    let count = 0;
    for (const [index, inClass] of counts.entries()) {
      count += inClass;
      yield [`le="${DURATION_BOUNDS_SECONDS[index] ?? "+Inf"}",${labels}`, count, "_bucket"];
    }
    yield [labels, sumSeconds, "_sum"];
    yield [labels, count, "_count"];
  }
}

function* perBudget({ report }: MetricsSource, pick: (budget: BudgetReport) => number): Iterable<Sample> {
  for (const budget of report.budgets) {
    yield [budgetLabels(budget), pick(budget)];
  }
}

/** A shared budget has `endpoint="shared"`, and the other labels of E empty. */
function budgetLabels({ budget, endpoint }: BudgetReport): string {
  const [protocol = "", variant = "", tier = "", name = ""] = (endpoint ?? "///shared").split("/");
  const labels =
    protocol === "rpc"
      ? { protocol: "", variant: "rpc", tier: "", endpoint: variant }
      : { protocol, variant, tier, endpoint: name };
  return labelsText({ budget, ...labels });
}

/** The text of E. */
const endpointLabels = memoize(({ protocol, variant, tier, name }: Endpoint) =>
  labelsText({ protocol, variant, tier, endpoint: name }),
);

/** Several RPC nodes of one chain have the same labels, so their counts are one series. */
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
