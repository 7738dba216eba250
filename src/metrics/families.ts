import type { Endpoint, IndexerId } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { memoize } from "../core/model/memoize.ts";
import {
  DURATION_BOUNDS_SECONDS,
  type EndpointCounters,
  type MetricsSource,
} from "../core/model/metrics-source.ts";
import { FAILURE_REASONS, type FailureReason } from "../core/model/observation.ts";
import {
  type BudgetReport,
  type ChainSummary,
  type GapReport,
  type ParityReport,
  type Report,
  STATUSES,
  statusRank,
  type TargetId,
  type TargetReport,
  targetId,
} from "../core/model/report.ts";
import { PAIR_STATES, pairState, pairsOf } from "../core/report/pairs.ts";
import { family, labelsText, type MetricFamily, type Sample, single } from "./exposition.ts";
import { INCIDENT_LABELS, incidentSeries } from "./incidents.ts";
import { PROCESS_METRICS } from "./process-metrics.ts";

/** What the metrics of the fleet are read from: a daemon, or the report of `check`. */
type ReportSource = Pick<MetricsSource, "report">;

/** Labels of a target: T of the documentation. */
export const TARGET_LABELS = ["protocol", "variant", "tier", "chain", "chain_id"] as const;
/** Labels of a chain: C. */
export const CHAIN_LABELS = ["chain", "chain_id"] as const;
/** Labels of an endpoint: E. */
export const ENDPOINT_LABELS = ["protocol", "variant", "tier", "endpoint"] as const;
const INDEXER_LABELS = ["protocol", "variant", "tier"] as const;
const GAP_LABELS = [...TARGET_LABELS, "against"] as const;
const PARITY_LABELS = [...TARGET_LABELS, "against", "probe"] as const;

/** Makes families with one sample for each known value in the report. */
function familiesOf<Part>(
  labels: readonly string[],
  partsOf: (report: Report) => readonly Part[],
  labelsOf: (part: Part) => string,
) {
  return (name: string, help: string, read: (part: Part) => number | boolean | null) =>
    family(name, help, labels, function* ({ report }: ReportSource): Iterable<Sample> {
      for (const part of partsOf(report)) {
        const value = read(part);
        if (value !== null) {
          yield [labelsOf(part), Number(value)];
        }
      }
    });
}

/** A family with a sample for each value of one more label of each target. */
function targetsBy(
  label: string,
  name: string,
  help: string,
  readerOf: (
    report: Report,
  ) => (target: TargetReport) => Iterable<readonly [value: string, sample: number | boolean]>,
): MetricFamily<ReportSource> {
  const texts = new Map<string, string>();
  return family(name, help, [...TARGET_LABELS, label], function* ({ report }): Iterable<Sample> {
    const read = readerOf(report);
    for (const target of report.targets) {
      for (const [value, sample] of read(target)) {
        const text = texts.get(value) ?? `,${labelsText({ [label]: value })}`;
        texts.set(value, text);
        yield [`${targetLabels(target)}${text}`, Number(sample)];
      }
    }
  });
}

const targets = familiesOf<TargetReport>(TARGET_LABELS, (report) => report.targets, targetLabels);
const chains = familiesOf<ChainSummary>(
  CHAIN_LABELS,
  (report) => report.chains,
  ({ slug, chain_id }) => labelsText({ chain: slug, chain_id: String(chain_id) }),
);
/** The RPC nodes of all chains that have said something lately. */
const nodes = familiesOf<ChainSummary["standings"][number] & { readonly chain: string }>(
  ["chain", "endpoint"],
  (report) =>
    report.chains.flatMap(({ slug: chain, standings }) =>
      standings.flatMap((one) => (one.source.startsWith("rpc/") ? [{ ...one, chain }] : [])),
    ),
  ({ chain, source }) => labelsText({ chain, endpoint: source }),
);
const gaps = familiesOf<GapReport>(
  GAP_LABELS,
  (report) => report.gaps,
  (gap) => `${targetLabels(gap)},${labelsText({ against: gap.against })}`,
);
const parity = familiesOf<ParityReport>(
  PARITY_LABELS,
  (report) => report.parity,
  (pair) => `${targetLabels(pair)},${labelsText({ against: pair.against, probe: pair.probe })}`,
);
const budgets = familiesOf<BudgetReport>(
  ["budget", ...ENDPOINT_LABELS],
  (report) => [...groupBy(report.budgets, budgetLabels).values()].map((group) => group.reduce(scarcer)),
  budgetLabels,
);

const endpoints = familiesOf<Report["unlisted"][number]>(
  ENDPOINT_LABELS,
  (report) => report.unlisted,
  ({ endpoint }) => {
    const [protocol = "", variant = "", tier = "", name = ""] = endpoint.split("/");
    return labelsText({ protocol, variant, tier, endpoint: name });
  },
);

const STATUS_LABELS = STATUSES.map((status) => [status, labelsText({ status })] as const);
const REASON_LABELS = FAILURE_REASONS.map((reason) => [reason, labelsText({ reason })] as const);
const RESULTS = { equal: 1, different: 0, unknown: null } as const;

/**
 * The metrics of targets, gaps, parity, chains and incidents, all gauges: what `check --format prometheus` prints, and the first
 * part of `/metrics`.
 */
export const STATUS_METRICS: readonly MetricFamily<ReportSource>[] = [
  targets(
    "synclag_up",
    "1 if the last poll returned a usable height; polled on its own schedule, not by the scrape",
    ({ up }) => up,
  ),
  targets(
    "synclag_block_number",
    "Last indexed block; absent once the evidence is stale, and while the height is impossible",
    (target) => target.block_number,
  ),
  targets(
    "synclag_block_timestamp_seconds",
    "Timestamp of the last indexed block, when the indexer reports one",
    (target) => unixSeconds(target.block_timestamp),
  ),
  targets(
    "synclag_last_success_timestamp_seconds",
    "Time of the last poll that returned a usable height",
    (target) => unixSeconds(target.last_success),
  ),
  targets(
    "synclag_last_advance_timestamp_seconds",
    "Time at which the height of the target last increased",
    (target) => unixSeconds(target.last_advance),
  ),
  targets(
    "synclag_lag_blocks",
    "Blocks behind the reference of the chain; absent when unknown",
    (target) => target.lag_blocks,
  ),
  targets(
    "synclag_lag_seconds",
    "Chain time behind the reference of the chain, or behind the clock where it has none; absent when unknown",
    (target) => target.lag_seconds,
  ),
  targets(
    "synclag_catch_up_blocks_per_second",
    "Blocks per second at which a lagging or syncing target catches up; negative while it falls further behind",
    (target) => target.catch_up?.blocks_per_second ?? null,
  ),
  targets(
    "synclag_eta_seconds",
    "Time until a lagging or syncing target reaches the head, at its pace of the last ten minutes; absent if unknown or never",
    (target) => target.catch_up?.eta_seconds ?? null,
  ),
  family(
    "synclag_status",
    "1 for the status of the target, 0 for all others",
    [...TARGET_LABELS, "status", "testnet"],
    statusSamples,
  ),
  targets(
    "synclag_status_rank",
    "How urgent the status of the target is, from 0 for ok to 12 for diverged",
    ({ status }) => statusRank(status),
  ),
  family(
    "synclag_pair_state",
    "1 for how well the protocol is served on the chain, 0 for all other states",
    ["protocol", ...CHAIN_LABELS, "state", "testnet"],
    pairSamples,
  ),
  targetsBy("level", "synclag_threshold_seconds", "Threshold configured for the target", (report) => {
    const levels = new Map(
      report.chains.map(({ slug, thresholds: { lagging_seconds, critical_seconds, stalled_seconds } }) => [
        slug,
        Object.entries({ lagging: lagging_seconds, critical: critical_seconds, stalled: stalled_seconds }),
      ]),
    );
    return ({ chain }) => levels.get(chain) ?? [];
  }),
  targets("synclag_maintenance", "1 inside a maintenance window", ({ maintenance }) => maintenance),
  gaps(
    "synclag_variant_gap_blocks",
    "Blocks that the target is behind the other variant at one common instant; negative when ahead",
    ({ blocks }) => blocks,
  ),
  gaps(
    "synclag_variant_gap_seconds",
    "Chain time that the target is behind the other variant; negative when ahead",
    ({ seconds }) => seconds,
  ),
  gaps(
    "synclag_variant_gap_uncertainty_blocks",
    "Half-width of the interval that contains the true gap",
    (gap) => gap.uncertainty_blocks,
  ),
  chains(
    "synclag_reference_block_number",
    "Corroborated head of the chain",
    ({ reference }) => reference?.block_number ?? null,
  ),
  chains(
    "synclag_reference_sources",
    "Number of sources that agree with the reference of the chain",
    ({ reference }) => reference?.sources ?? null,
  ),
  chains(
    "synclag_block_interval_seconds",
    "Measured time between blocks",
    (chain) => chain.block_interval_seconds,
  ),
  nodes(
    "synclag_rpc_chain_mismatch",
    "1 for an RPC node that is of another chain, 0 for one whose blocks are believed; absent before it answers",
    ({ stands }) => stands === "rejected",
  ),
  family(
    "synclag_incident_active",
    "1 while one cause explains the failures of many targets; of an indexer or a host once for each indexer that is affected",
    INCIDENT_LABELS,
    ({ report }) => incidentSeries(report).map(({ labels }): Sample => [labels, 1]),
  ),
  family(
    "synclag_incident_targets",
    "Targets that the cause explains, without those in maintenance",
    INCIDENT_LABELS,
    ({ report }) =>
      incidentSeries(report).map(({ labels, explained }): Sample => {
        return [labels, explained.filter(({ maintenance }) => !maintenance).length];
      }),
  ),
  parity(
    "synclag_parity",
    "1 if the data of the target equal those of the other variant, 0 if they differ; absent while unknown",
    ({ result }) => RESULTS[result],
  ),
  parity(
    "synclag_parity_difference",
    "Value of the other variant minus that of the target, where both are numbers",
    ({ difference }) => difference,
  ),
  parity(
    "synclag_parity_compared_block",
    "Block at which the data were found to be equal or different",
    ({ block }) => block,
  ),
  parity(
    "synclag_parity_last_comparison_timestamp_seconds",
    "Time of the last comparison, whatever it showed",
    (pair) => unixSeconds(pair.last_comparison),
  ),
];

/** What only a daemon knows of the fleet: its counters, its budgets, and the state of its poll loop. */
const POLLING_METRICS: readonly MetricFamily[] = [
  targets(
    "synclag_indexing_errors",
    "1 if the indexer reports indexing errors; 0 does not mean that it is healthy",
    (target) => target.indexing_errors,
  ),
  family(
    "synclag_incidents_total",
    "Incidents that began since the start of this process",
    ["scope"],
    (source) => Array.from(source.incidents, ([scope, count]) => [labelsText({ scope }), count] as const),
  ),
  targetsBy(
    "kind",
    "synclag_regressions_total",
    "Number of times that the reported height went backward",
    () =>
      ({ regressions }) =>
        Object.entries(regressions),
  ),
  targetsBy(
    "deployment",
    "synclag_deployment_info",
    "1 for the deployment that answered last",
    () =>
      ({ deployment }) =>
        deployment === null ? [] : [[deployment, 1]],
  ),
  targets(
    "synclag_status_changes_total",
    "Changes of the status of a target",
    (target) => target.status_changes,
  ),
  targets(
    "synclag_deployment_changes_total",
    "Changes of the deployment that answers",
    (target) => target.deployment_changes,
  ),
  targets(
    "synclag_preferred",
    "1 on the freshest healthy production target of its protocol and chain",
    ({ preferred }) => preferred,
  ),
  family(
    "synclag_polls_total",
    "Requests sent to the endpoint, retries included",
    ENDPOINT_LABELS,
    ({ endpoints }) =>
      seriesOf(endpoints).map(({ endpoint, requests }): Sample => [endpointLabels(endpoint), requests]),
  ),
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
  endpoints(
    "synclag_unlisted_chains",
    "Chains that the endpoint serves and chains.yaml does not list for it; absent where its replies name no chains",
    (one) => one.chain_ids.length,
  ),
  family(
    "synclag_rounds_skipped_total",
    "Rounds skipped because the previous round of the indexer was still running",
    INDEXER_LABELS,
    ({ indexers }) =>
      indexers.map(({ indexer, roundsSkipped }): Sample => [indexerLabels(indexer), roundsSkipped]),
  ),
  budgets("synclag_budget_limit", "Requests that the budget allows in its window", ({ limit }) => limit),
  budgets(
    "synclag_budget_used",
    "Requests spent from the budget, by the stricter of the calendar and the rolling window",
    ({ used }) => used,
  ),
  budgets(
    "synclag_budget_remaining",
    "Requests that are left, by the stricter of the calendar and the rolling window",
    ({ remaining }) => remaining,
  ),
  single(
    "synclag_scheduler_last_tick_timestamp_seconds",
    "Time of the last tick of the scheduler, which ticks every second",
    ({ loop }) => (loop.lastTickMs === null ? null : loop.lastTickMs / 1000),
  ),
  single("synclag_polls_in_flight", "Polls in flight", ({ loop }) => loop.inFlight),
  single("synclag_polls_queued", "Polls waiting for a free slot", ({ loop }) => loop.queued),
  family(
    "synclag_parity_failures_total",
    "Requests whose selection for the probe could not be answered or read",
    [...TARGET_LABELS, "probe"],
    (source) =>
      source.parity.map(({ target, probe, failures }): Sample => {
        return [`${targetLabels(targetId(target))},${labelsText({ probe })}`, failures];
      }),
  ),
];

/**
 * All metrics read at a scrape. A replica that does not poll omits the metrics of the fleet.
 * Those that prom-client keeps itself are in `registry.ts`.
 */
export const METRIC_FAMILIES: readonly MetricFamily[] = [
  ...[...STATUS_METRICS, ...POLLING_METRICS].map((one: MetricFamily): MetricFamily => {
    return { ...one, samples: (source) => (source.replica?.isPolling === false ? [] : one.samples(source)) };
  }),
  ...PROCESS_METRICS,
];

function* statusSamples({ report }: ReportSource): Iterable<Sample> {
  const testnets = new Map(report.chains.map(({ slug, testnet }) => [slug, testnet]));
  for (const target of report.targets) {
    const labels = targetLabels(target);
    const testnet = `testnet="${testnets.get(target.chain) ?? false}"`;
    for (const [status, label] of STATUS_LABELS) {
      yield [`${labels},${label},${testnet}`, Number(target.status === status)];
    }
  }
}

function* pairSamples({ report }: ReportSource): Iterable<Sample> {
  for (const { protocol, chain, targets: own } of pairsOf(report, report.targets)) {
    const current = pairState({ chain, targets: own });
    for (const state of PAIR_STATES) {
      const labels = { protocol, chain: chain.slug, chain_id: String(chain.chain_id), state };
      yield [labelsText({ ...labels, testnet: String(chain.testnet) }), Number(state === current)];
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
    const labels = indexerLabels(indexer);
    let count = 0;
    for (const [index, inClass] of counts.entries()) {
      count += inClass;
      yield [`le="${DURATION_BOUNDS_SECONDS[index] ?? "+Inf"}",${labels}`, count, "_bucket"];
    }
    yield [labels, sumSeconds, "_sum"];
    yield [labels, count, "_count"];
  }
}

const targetTexts = new Map<string, string>();

/** The text of T, made once for each target: labels are most of the text of a scrape, and never change. */
function targetLabels({ key, protocol, variant, tier, chain, chain_id: id }: TargetId): string {
  const known = targetTexts.get(key) ?? labelsText({ protocol, variant, tier, chain, chain_id: String(id) });
  targetTexts.set(key, known);
  return known;
}

function indexerLabels({ protocol, variant, tier }: IndexerId): string {
  return labelsText({ protocol, variant, tier });
}

/** The text of E. */
const endpointLabels = memoize(({ protocol, variant, tier, name }: Endpoint) =>
  labelsText({ protocol, variant, tier, endpoint: name }),
);

/** A shared budget has `endpoint="shared"`, and the other labels of E empty. */
function budgetLabels({ budget, endpoint }: BudgetReport): string {
  const [protocol = "", variant = "", tier = "", name = ""] = (endpoint ?? "///shared").split("/");
  const labels =
    protocol === "rpc"
      ? { protocol: "", variant: "rpc", tier: "", endpoint: variant }
      : { protocol, variant, tier, endpoint: name };
  return labelsText({ budget, ...labels });
}

/** Several RPC nodes of one chain have the same labels: the budget with the fewest requests left is exported. */
function scarcer(one: BudgetReport, other: BudgetReport): BudgetReport {
  return {
    ...one,
    used: Math.max(one.used, other.used),
    remaining: Math.min(one.remaining, other.remaining),
  };
}

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

function unixSeconds(time: string | null): number | null {
  return time === null ? null : Date.parse(time) / 1000;
}
