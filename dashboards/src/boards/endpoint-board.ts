import {
  PanelBuilder as HeatmapBuilder,
  HeatmapColorOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/heatmap";
import { PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";
import { BUDGET, INDEXER } from "../promql.ts";
import { type Board, PROTOCOL, RELOADS, SELECTED_JOBS, TIER, VARIANT } from "./board.ts";
import { type AnyPanel, bars, DATASOURCE, graph, headed, query, rising, stat, table } from "./panels.ts";

/** The selected indexers. */
const SELECTED_INDEXERS = `${SELECTED_JOBS}, protocol=~"$protocol", tier=~"$tier", variant=~"$variant"`;
const SELECTED = `${SELECTED_INDEXERS}, endpoint=~"$endpoint"`;
const ENDPOINT = "protocol, variant, tier, endpoint";
/** The selected budgets. A shared budget has no protocol, so it is always shown. */
const BUDGETS = `{${SELECTED_JOBS}, protocol=~"$protocol|", tier=~"$tier|", variant=~"$variant|"}`;
const USED = `max by (${BUDGET}) (synclag_budget_used${BUDGETS})`;
const LIMIT = `max by (${BUDGET}) (synclag_budget_limit${BUDGETS})`;
const BUDGET_LEGEND = "{{budget}}: {{whose}}";
const POLLS = `synclag_polls_total{${SELECTED}}`;
const FAILURES = `synclag_poll_failures_total{${SELECTED}}`;
/** Failures of requests. A poll that the budget holds back fails without a request. */
const FAILED_REQUESTS = `synclag_poll_failures_total{${SELECTED}, reason!="budget"}`;

/** Requests, failures, durations and budgets. */
export function endpointBoard(): Board {
  const ofPolls = { metric: "synclag_polls_total", choice: "any or none" } as const;
  return {
    uid: "synclag-endpoint",
    title: "Synclag: endpoint",
    description: "Polls of indexers and nodes: number, failures, duration, and budget use.",
    variables: [
      { ...PROTOCOL, ...ofPolls },
      { ...TIER, ...ofPolls },
      { ...VARIANT, ...ofPolls },
      { name: "endpoint", label: "Endpoint", ...ofPolls },
    ],
    annotations: [RELOADS],
    rows: [
      { title: "Now", panels: now() },
      { title: "Polls", panels: polls() },
      { title: "Budgets", panels: budgets() },
    ],
  };
}

function now(): readonly AnyPanel[] {
  return [
    stat(
      "Requests",
      "Requests sent in the chosen time, including retries, as providers count them.",
      "short",
      `sum(increase(${POLLS}[$__range]))`,
    ).decimals(0),
    stat(
      "Failed",
      "Share of the requests in the chosen time without a usable reply.",
      "percentunit",
      `sum(increase(${FAILED_REQUESTS}[$__range])) / sum(increase(${POLLS}[$__range]))`,
      rising(0.02, 0.1),
    ).decimals(1),
    stat(
      "Duration, 95th percentile",
      "95 % of the polls in the chosen time took no longer than this.",
      "s",
      quantile(0.95, "$__range", "le"),
    ).decimals(2),
    stat(
      "Failing endpoints",
      "Endpoints for which more than half of the requests in the chosen time had no usable reply. A poll that a budget held back sent none.",
      "short",
      `count(sum by (${ENDPOINT}) (increase(${FAILED_REQUESTS}[$__range])) > 0.5 * sum by (${ENDPOINT}) (increase(${POLLS}[$__range]))) or vector(0)`,
      [[1, "red"]],
    ),
    stat(
      "Lowest remaining budget",
      "Smallest remaining share of any budget. `auto` plans with nine tenths, so a tenth is normal at the end of a window.",
      "percentunit",
      `min(1 - ${USED} / ${LIMIT})`,
      [
        [0, "red"],
        [0.05, "yellow"],
        [0.1, "green"],
      ],
    ).decimals(1),
    stat(
      "Skipped rounds",
      "Rounds skipped in the chosen time because the previous round of the indexer was still running: its schedule is too frequent.",
      "short",
      `sum(increase(synclag_rounds_skipped_total{${SELECTED_INDEXERS}}[$__range]))`,
      [[1, "yellow"]],
    ).decimals(0),
    table(
      "Failures",
      "In the chosen time, by endpoint and reason, most frequent first. docs/METRICS.md explains the reasons. No row: no failure.",
      { failures: `topk(30, sum by (${ENDPOINT}, reason) (increase(${FAILURES}[$__range])) > 0)` },
      {
        ...headed("protocol", "variant", "tier", "endpoint", "reason"),
        Value: "Failures",
      },
      { unit: "short", sortBy: "Failures" },
    )
      .noValue("No failures")
      .decimals(0)
      .height(8),
  ];
}

function polls(): readonly AnyPanel[] {
  const line = (share: number) => withOwner(quantile(share, "$__rate_interval", `${INDEXER}, le`), INDEXER);
  return [
    graph("Requests over time", "Requests per second and indexer, including retries.", "reqps", [
      withOwner(`sum by (${INDEXER}) (rate(${POLLS}[$__rate_interval]))`, INDEXER),
      "{{whose}}",
    ]).min(0),
    bars("Failures by reason", "Polls per second without a usable reply, by reason.", "reqps", [
      `sum by (reason) (rate(${FAILURES}[$__rate_interval]))`,
      "{{reason}}",
    ]),
    graph(
      "Duration",
      "Median and 95th percentile of the time from request to reply.",
      "s",
      [line(0.5), "{{whose}} median"],
      [line(0.95), "{{whose}} 95th percentile"],
    ).min(0),
    graph(
      "Latency of probes",
      "Time from request to reply of the requests that carry the query of a probe: 95th percentile of the last hour. No line: no probes in chains.yaml.",
      "s",
      [
        withOwner(
          `histogram_quantile(0.95, sum by (${INDEXER}, probe, le) (rate(synclag_query_duration_seconds_bucket{${SELECTED}}[1h])))`,
          INDEXER,
        ),
        "{{whose}}: {{probe}}",
      ],
    ).min(0),
    new HeatmapBuilder()
      .title("Duration heat map")
      .description(
        "Distribution of poll durations. Each band is usually one provider; a rising band is a provider that gets slower.",
      )
      .datasource(DATASOURCE)
      .withTarget(
        query(
          `sum by (le) (increase(synclag_poll_duration_seconds_bucket{${SELECTED_INDEXERS}}[$__rate_interval]))`,
        )
          .legendFormat("{{le}}")
          .range()
          .format(PromQueryFormat.Heatmap),
      )
      .unit("s")
      .calculate(false)
      .color(new HeatmapColorOptionsBuilder().scheme("Turbo").steps(64))
      .height(10)
      .span(24),
  ];
}

function budgets(): readonly AnyPanel[] {
  const inTwoHours = `max by (${BUDGET}) (predict_linear(synclag_budget_used${BUDGETS}[6h], 7200))`;
  return [
    graph(
      "Budget used",
      "Used share of the ten most used budgets, in the calendar window or the rolling window, whichever leaves less.",
      "percentunit",
      [withOwner(`topk(10, ${USED} / ${LIMIT})`, ENDPOINT), BUDGET_LEGEND],
    )
      .min(0)
      .max(1),
    graph(
      "Budget forecast",
      "Share of each budget that will be left in two hours at the rate of the last six hours, if no window ends. Below zero: it runs out before then. The ten lowest.",
      "percentunit",
      [withOwner(`bottomk(10, 1 - ${inTwoHours} / ${LIMIT})`, ENDPOINT), BUDGET_LEGEND],
    ),
    table(
      "Budgets",
      "Limit, use and remainder of each budget, most used first. The endpoint `shared` means all endpoints of a budget.",
      {
        share: `${USED} / ${LIMIT}`,
        used: USED,
        remaining: `min by (${BUDGET}) (synclag_budget_remaining${BUDGETS})`,
        limit: LIMIT,
      },
      {
        ...headed("budget", "protocol", "variant", "tier", "endpoint"),
        "Value #share": "Used",
        "Value #used": "Requests",
        "Value #remaining": "Left",
        "Value #limit": "Limit",
      },
      { unit: "short", sortBy: "Used" },
    )
      .overrideByName("Used", [{ id: "unit", value: "percentunit" }])
      .height(9),
  ];
}

/**
 * Adds the label `whose` for a legend: the values of some labels, joined by spaces. Nodes have neither protocol nor tier, and
 * shared budgets have only an endpoint.
 */
function withOwner(expr: string, labels: string): string {
  const names = labels.split(", ").map((name) => `"${name}"`);
  const joined = `label_join(${expr}, "whose", " ", ${names.join(", ")})`;
  return `label_replace(${joined}, "whose", "$1", "whose", " *(.*?) *")`;
}

function quantile(share: number, window: string, by: string): string {
  return `histogram_quantile(${share}, sum by (${by}) (rate(synclag_poll_duration_seconds_bucket{${SELECTED_INDEXERS}}[${window}])))`;
}
