import { endpointsOf, type Fleet } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { memoize } from "../core/model/memoize.ts";
import type { Counts, MetricsSource } from "../core/model/metrics-source.ts";
import { FAILURE_REASONS } from "../core/model/observation.ts";
import { type BudgetReport, type Report, type TargetReport, targetId } from "../core/model/report.ts";
import { STATUSES, statusRank } from "../core/model/statuses.ts";
import { PAIR_STATES } from "../core/report/pairs.ts";
import { judgeReport } from "../core/report/severity.ts";
import { family, labelsText, labelText, type MetricFamily, type MetricSample } from "./exposition.ts";
import { histogramSamples, queryDurationSamples, sumOf } from "./histograms.ts";
import { explainedKeys, INCIDENT_LABELS, incidentSeries } from "./incidents.ts";
import {
  budgetLabels,
  CHAIN_LABELS,
  ENDPOINT_LABELS,
  endpointLabels,
  INDEXER_LABELS,
  indexerLabels,
  keyLabels,
  labelsOfKey,
  TARGET_LABELS,
  targetLabels,
} from "./labels.ts";
import { thresholdsIn } from "./thresholds.ts";

/** What the metrics of the fleet are read from. `check` has only a report. */
type ReportSource = Pick<MetricsSource, "report">;

type Value = number | boolean | null;

/**
 * Metrics by name, each with the property that is read, and the help. A time in ISO 8601 becomes Unix seconds.
 */
type Rows<Part> = Readonly<
  Record<string, readonly [read: keyof Part | ((part: Part) => Value), help: string]>
>;

/** The items of a list of the report, each with the text of its labels. The texts are made once for each scrape. */
function labelled<Name extends "targets" | "parity" | "chains">(
  name: Name,
  labelsOf: (item: Report[Name][number]) => string,
) {
  return memoize(({ report }: ReportSource) => {
    const items: readonly Report[Name][number][] = report[name];
    return items.map((item) => [labelsOf(item), item] as const);
  });
}

/** Returns a function that makes families: each family has a sample for each part with a known value. */
function familiesOf<Source, Part>(
  labels: readonly string[],
  partsOf: (source: Source) => readonly (readonly [labels: string, part: Part])[],
) {
  return (rows: Rows<Part>): readonly MetricFamily<Source>[] =>
    Object.entries(rows).map(([name, [read, help]]) =>
      family(name, help, labels, function* (source: Source): Iterable<MetricSample> {
        for (const [text, part] of partsOf(source)) {
          const value = typeof read === "function" ? read(part) : part[read];
          if (value !== null) {
            yield [text, sampleOf(value)];
          }
        }
      }),
    );
}

function sampleOf(value: unknown): number {
  return typeof value === "string" ? Date.parse(value) / 1000 : Number(value);
}

const labelledTargets = labelled("targets", targetLabels);
const targets = familiesOf(TARGET_LABELS, labelledTargets);
const gaps = familiesOf(
  [...TARGET_LABELS, "against"],
  memoize((source: ReportSource) => {
    const labelsOf = new Map(labelledTargets(source).map(([text, { key }]) => [key, text]));
    return source.report.gaps.map(
      (gap) => [`${labelsOf.get(gap.key)},${labelText("against", gap.against)}`, gap] as const,
    );
  }),
);
const parity = familiesOf(
  [...TARGET_LABELS, "against", "probe"],
  labelled("parity", (pair) => {
    return `${targetLabels(pair)},${labelsText({ against: pair.against, probe: pair.probe })}`;
  }),
);
const chains = familiesOf(
  CHAIN_LABELS,
  labelled("chains", (one) => labelsText({ chain: one.slug, chain_id: String(one.chain_id) })),
);
/** The RPC nodes that have replied lately, of all chains. */
const nodes = familiesOf(["chain", "endpoint"], ({ report }: ReportSource) =>
  report.chains.flatMap(({ slug: chain, standings }) =>
    standings
      .filter(({ source }) => source.startsWith("rpc/"))
      .map((one) => [labelsText({ chain, endpoint: one.source }), one] as const),
  ),
);
/** Several RPC nodes of one chain have the same labels. The highest use and the fewest requests left are exported. */
const budgets = familiesOf(["budget", ...ENDPOINT_LABELS], ({ report }: ReportSource) =>
  Array.from(
    groupBy(report.budgets, budgetLabels),
    ([text, group]) => [text, group.reduce(scarcerOf)] as const,
  ),
);
const incidents = familiesOf(
  INCIDENT_LABELS,
  memoize(({ report }: ReportSource) => incidentSeries(report)),
);
const countsOfEndpoints = countsBy(keyLabels);
const countsOfIndexers = countsBy((key) => indexerLabels(labelsOfKey(key)));
const counters = familiesOf(ENDPOINT_LABELS, endpointCounts);
const indexers = familiesOf(INDEXER_LABELS, ({ fleet, counts }: MetricsSource) =>
  fleet.indexers.map(indexerLabels).map((text) => [text, countsOfIndexers(counts)(text)] as const),
);
const probes = familiesOf([...TARGET_LABELS, "probe"], (source: MetricsSource) =>
  endpointsOf(source.fleet).flatMap((endpoint) => {
    const compared = new Set(source.fleet.parity.map(({ name }) => name));
    const own = (endpoint.selections ?? []).filter(({ probe }) => compared.has(probe));
    if (own.length === 0) {
      return [];
    }
    const labelsOf = new Map(endpoint.targets.map((one) => [one.key, targetLabels(targetId(one))]));
    return own.map(({ probe, target }) => {
      const failures = source.counts.get(endpoint.key)?.[`parity: ${probe} ${target}`] ?? 0;
      return [`${labelsOf.get(target)},${labelText("probe", probe)}`, { failures }] as const;
    });
  }),
);
const singles = familiesOf([], (source: MetricsSource) => [["", source] as const]);

/** A family of targets with one more label: a target has a sample for each value of that label. */
function targetsBy(
  label: string,
  name: string,
  help: string,
  readerOf: (report: Report) => (target: TargetReport) => Iterable<readonly [value: string, sample: number]>,
): MetricFamily<ReportSource> {
  return family(name, help, [...TARGET_LABELS, label], function* (source): Iterable<MetricSample> {
    const read = readerOf(source.report);
    for (const [text, target] of labelledTargets(source)) {
      for (const [value, sample] of read(target)) {
        yield [`${text},${labelText(label, value)}`, sample];
      }
    }
  });
}

const STATUS_LABELS = STATUSES.map((status) => [status, labelsText({ status })] as const);
const REASONS = FAILURE_REASONS.map((reason) => [`failed: ${reason}`, labelsText({ reason })] as const);
const RESULTS = { equal: 1, different: 0, failing: null, unknown: null } as const;

/**
 * The metrics of targets, gaps, parity, chains and incidents. All are gauges. `check --format prometheus` prints them, and
 * `/metrics` begins with them.
 */
export const STATUS_METRICS: readonly MetricFamily<ReportSource>[] = [
  ...targets({
    synclag_up: ["up", "1 if the last poll returned a usable height; a scrape starts no poll"],
    synclag_block_number: ["block_number", "Last indexed block; absent while stale or impossible"],
    synclag_block_timestamp_seconds: [
      "block_timestamp",
      "Timestamp of the last indexed block, if the indexer reports one",
    ],
    synclag_last_success_timestamp_seconds: ["last_success", "Time of the last poll with a usable height"],
    synclag_last_advance_timestamp_seconds: ["last_advance", "Time of the last increase of the height"],
    synclag_lag_blocks: ["lag_blocks", "Blocks behind the reference of the chain; absent when unknown"],
    synclag_lag_seconds: [
      "lag_seconds",
      "How long the block after the target's own has existed; 0 at the reference",
    ],
    synclag_catch_up_blocks_per_second: [
      (target) => target.catch_up?.blocks_per_second ?? null,
      "Pace at which a lagging or syncing target catches up; negative while it falls further behind",
    ],
    synclag_eta_seconds: [
      (target) => target.catch_up?.eta_seconds ?? null,
      "Time until a lagging or syncing target reaches the head at its present pace; absent if unknown or never",
    ],
  }),
  family(
    "synclag_status",
    "1 for the status of the target, 0 for all others",
    [...TARGET_LABELS, "status", "testnet"],
    statusSamples,
  ),
  ...targets({
    synclag_status_rank: [({ status }) => statusRank(status), "How urgent the status is, from 0 (ok) to 12"],
  }),
  family(
    "synclag_pair_state",
    "1 for the state of the protocol on the chain, 0 for all other states",
    ["protocol", ...CHAIN_LABELS, "state", "testnet"],
    pairSamples,
  ),
  targetsBy(
    "level",
    "synclag_threshold_seconds",
    "Threshold of the target; if configured in blocks, converted at the pace of the chain",
    thresholdsIn("seconds"),
  ),
  targetsBy(
    "level",
    "synclag_threshold_blocks",
    "Threshold of the target, if configured in blocks",
    thresholdsIn("blocks"),
  ),
  ...targets({
    synclag_maintenance: [
      "maintenance",
      "1 inside a maintenance window, or if the target has ended and no longer advances or replies",
    ],
  }),
  ...gaps({
    synclag_variant_gap_blocks: ["blocks", "Blocks behind the other variant at one instant; negative: ahead"],
    synclag_variant_gap_seconds: ["seconds", "Chain time behind the other variant; negative when ahead"],
    synclag_variant_gap_uncertainty_blocks: [
      "uncertainty_blocks",
      "Half-width of the interval that contains the true gap",
    ],
  }),
  ...chains({
    synclag_reference_block_number: [
      ({ reference }) => reference?.block_number ?? null,
      "Corroborated head of the chain",
    ],
    synclag_reference_sources: [
      ({ reference }) => reference?.sources ?? null,
      "Number of sources that agree with the reference of the chain",
    ],
    synclag_reference_disputed: [
      ({ dispute }) => dispute !== null,
      "1 while sources of the chain contradict each other and nothing decides between them, else 0",
    ],
    synclag_block_interval_seconds: ["block_interval_seconds", "Measured time between blocks"],
  }),
  ...nodes({
    synclag_rpc_chain_mismatch: [
      ({ stands }) => stands === "rejected",
      "1 if the RPC node serves another chain, 0 if its blocks are trusted; absent without a reply",
    ],
  }),
  ...incidents({
    synclag_incident_active: [() => 1, "1 while one cause explains the failures of many targets"],
    synclag_incident_targets: [
      (explained) => explained.filter(({ maintenance }) => !maintenance).length,
      "Targets that the cause explains, without those in maintenance",
    ],
  }),
  family(
    "synclag_shared_cause",
    "1 while the shared cause of the target's failure is its indexer or host; else absent",
    TARGET_LABELS,
    function* (source): Iterable<MetricSample> {
      const explained = explainedKeys(source.report);
      for (const [text, { key }] of explained.size === 0 ? [] : labelledTargets(source)) {
        if (explained.has(key)) {
          yield [text, 1];
        }
      }
    },
  ),
  ...parity({
    synclag_parity: [
      ({ result }) => RESULTS[result],
      "1 if the data equal those of the other variant, else 0",
    ],
    synclag_parity_difference: ["difference", "Value of the other variant minus the value of the target"],
    synclag_parity_compared_block: ["block", "Block at which the data were compared"],
    synclag_parity_last_comparison_timestamp_seconds: ["last_comparison", "Time of the last comparison"],
  }),
  targetsBy(
    "probe",
    "synclag_query_failing",
    "1 while the target reports its height but does not answer the query of the probe as expected, else 0",
    () =>
      ({ probes: own }) =>
        own.flatMap(({ last, probe, result }) =>
          last === null ? [] : [[probe, Number(result === "failing")] as const],
        ),
  ),
];

/** Metrics that only a daemon has: its counters, its budgets, and the state of its poll loop. */
const POLLING_METRICS: readonly MetricFamily[] = [
  ...targets({
    synclag_indexing_errors: [
      "indexing_errors",
      "1 if the indexer reports indexing errors; 0 proves nothing",
    ],
  }),
  family(
    "synclag_incidents_total",
    "Shared causes that began since the start of this process",
    ["scope"],
    (source) => Array.from(source.incidents, ([scope, count]) => [labelsText({ scope }), count] as const),
  ),
  targetsBy(
    "kind",
    "synclag_regressions_total",
    "Number of times that the reported height went backward",
    () => (target) => Object.entries(target.regressions),
  ),
  targetsBy(
    "deployment",
    "synclag_deployment_info",
    "1 for the deployment of the last reply",
    () => (target) => (target.deployment === null ? [] : [[target.deployment, 1]]),
  ),
  ...targets({
    synclag_status_changes_total: ["status_changes", "Changes of the status of a target"],
    synclag_deployment_changes_total: ["deployment_changes", "Changes of the deployment"],
    synclag_preferred: ["preferred", "1 on the freshest healthy production target of its protocol and chain"],
  }),
  ...counters({
    synclag_polls_total: [
      (counts) => sumOf(counts, "requests"),
      "Requests sent to the endpoint, retries included",
    ],
  }),
  family(
    "synclag_poll_failures_total",
    "Polls that returned no usable reply, by reason",
    [...ENDPOINT_LABELS, "reason"],
    failureSamples,
  ),
  {
    ...family(
      "synclag_poll_duration_seconds",
      "Time from sending a request to the response headers, or to the failure",
      INDEXER_LABELS,
      durationSamples,
    ),
    type: "histogram",
  },
  {
    ...family(
      "synclag_query_duration_seconds",
      "Time from sending a request that carries the query of the probe to its response headers",
      [...ENDPOINT_LABELS, "probe"],
      queryDurationSamples,
    ),
    type: "histogram",
  },
  family(
    "synclag_unlisted_chains",
    "Chains that the endpoint serves and chains.yaml does not list for it; absent if its replies name no chains",
    ENDPOINT_LABELS,
    ({ report }) =>
      report.unlisted.map((one): MetricSample => [keyLabels(one.endpoint), one.chain_ids.length]),
  ),
  ...indexers({
    synclag_rounds_skipped_total: [
      (counts) => sumOf(counts, "skipped rounds"),
      "Rounds skipped while the previous one was running",
    ],
  }),
  ...budgets({
    synclag_budget_limit: ["limit", "Requests that the budget allows in its window"],
    synclag_budget_used: ["used", "Requests spent, by the stricter of the calendar and the rolling window"],
    synclag_budget_remaining: [
      "remaining",
      "Requests left, by the stricter of the calendar and the rolling window",
    ],
  }),
  ...singles({
    synclag_scheduler_last_tick_timestamp_seconds: [
      ({ loop }) => loop.lastTickMs && loop.lastTickMs / 1000,
      "Time of the last tick of the scheduler, which ticks every second",
    ],
    synclag_polls_in_flight: [({ loop }) => loop.inFlight, "Polls in flight"],
    synclag_polls_queued: [({ loop }) => loop.queued, "Polls waiting for a free slot"],
  }),
  ...probes({
    synclag_parity_failures_total: ["failures", "Requests whose value for the probe could not be read"],
  }),
];

/** The metrics that every process has, whether or not it polls. */
const PROCESS_METRICS: readonly MetricFamily[] = [
  ...singles({
    synclag_leader: [({ replica }) => replica?.isLeader ?? null, "1 if this replica is the leader"],
    synclag_store_up: [({ replica }) => replica?.isStoreUp ?? null, "1 if the store can be read and written"],
    synclag_http_errors_total: [
      "httpErrors",
      "HTTP requests answered with 500 because of a bug; see the log",
    ],
  }),
  family(
    "synclag_notifications_total",
    "Messages to the webhook, by result",
    ["result"],
    ({ notifications }) =>
      Object.entries(notifications).map(([result, count]): MetricSample => [labelsText({ result }), count]),
  ),
  ...singles({
    synclag_config_last_reload_successful: [
      ({ reload }) => reload.error === null,
      "1 if the last load of the configuration succeeded",
    ],
    synclag_config_last_reload_success_timestamp_seconds: [
      ({ reload }) => reload.lastSuccessMs / 1000,
      "Time of the last successful load of the configuration",
    ],
  }),
];

/**
 * All metrics that a scrape reads, except those of prom-client in `registry.ts`. A replica that does not poll omits the metrics
 * of the fleet.
 */
export const METRIC_FAMILIES: readonly MetricFamily[] = [
  ...[...STATUS_METRICS, ...POLLING_METRICS].map((one: MetricFamily): MetricFamily => {
    return { ...one, samples: (source) => (source.replica?.isPolling === false ? [] : one.samples(source)) };
  }),
  ...PROCESS_METRICS,
];

function* statusSamples(source: ReportSource): Iterable<MetricSample> {
  const testnets = new Map(source.report.chains.map(({ slug, testnet }) => [slug, testnet]));
  for (const [text, target] of labelledTargets(source)) {
    const testnet = `testnet="${testnets.get(target.chain) ?? false}"`;
    for (const [status, label] of STATUS_LABELS) {
      yield [`${text},${label},${testnet}`, Number(target.status === status)];
    }
  }
}

function* pairSamples({ report }: ReportSource): Iterable<MetricSample> {
  for (const { protocol, chain, state: current } of judgeReport(report).pairs) {
    for (const state of PAIR_STATES) {
      const labels = { protocol, chain: chain.slug, chain_id: String(chain.chain_id), state };
      yield [labelsText({ ...labels, testnet: String(chain.testnet) }), Number(state === current)];
    }
  }
}

function* failureSamples(source: MetricsSource): Iterable<MetricSample> {
  for (const [labels, counts] of endpointCounts(source)) {
    for (const [failed, label] of REASONS) {
      yield [`${labels},${label}`, sumOf(counts, failed)];
    }
  }
}

/** The histograms of request durations: one for each indexer, and one for the nodes of all chains. */
function* durationSamples(source: MetricsSource): Iterable<MetricSample> {
  const { indexers: own, rpcEndpoints } = source.fleet;
  const rpc = rpcEndpoints.length === 0 ? [] : [{ protocol: "", variant: "rpc", tier: "" }];
  for (const labels of [...own, ...rpc].map(indexerLabels)) {
    const counts = countsOfIndexers(source.counts)(labels);
    if (sumOf(counts, "requests") > 0) {
      yield* histogramSamples(labels, counts, "");
    }
  }
}

function scarcerOf(one: BudgetReport, other: BudgetReport): BudgetReport {
  return {
    ...one,
    used: Math.max(one.used, other.used),
    remaining: Math.min(one.remaining, other.remaining),
  };
}

/** The label texts of all endpoints, without duplicates. */
const endpointsOfFleet = memoize((fleet: Fleet) => [...new Set(endpointsOf(fleet).map(endpointLabels))]);

/** The counts of endpoints by the text of their labels. Several RPC nodes of one chain share one text. */
function endpointCounts({ fleet, counts }: MetricsSource) {
  return endpointsOfFleet(fleet).map((text) => [text, countsOfEndpoints(counts)(text)] as const);
}

/** Groups counts by labels. `labelsOf` is called once for each key of an endpoint. */
function countsBy(labelsOf: (key: string) => string) {
  const texts = new Map<string, string>();
  const textOf = (key: string): string => {
    const text = texts.get(key) ?? labelsOf(key);
    texts.set(key, text);
    return text;
  };
  return memoize((counts: MetricsSource["counts"]) => {
    const groups = groupBy([...counts], ([key]) => textOf(key));
    return (text: string): readonly Counts[] => (groups.get(text) ?? []).map(([, own]) => own);
  });
}
