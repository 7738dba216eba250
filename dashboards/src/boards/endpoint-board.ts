import { GraphDrawStyle, StackingConfigBuilder, StackingMode } from "@grafana/grafana-foundation-sdk/common";
import {
  PanelBuilder as HeatmapBuilder,
  HeatmapColorOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/heatmap";
import { PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";
import { BUDGET, INDEXER } from "../promql.ts";
import { type Board, PROTOCOL, VARIANT } from "./board.ts";
import { type AnyPanel, graph, stat, table } from "./panels.ts";
import { column, DATASOURCE, overTime } from "./query.ts";

const SELECTED = 'protocol=~"$protocol", variant=~"$variant", endpoint=~"$endpoint"';
const SELECTED_INDEXERS = 'protocol=~"$protocol", variant=~"$variant"';
const ENDPOINT = "protocol, variant, tier, endpoint";
/** A shared budget has no protocol: it is shown whatever is selected. */
const BUDGETS = `{protocol=~"$protocol|", variant=~"$variant|"}`;
const BUDGET_LEGEND = "{{budget}}: {{whose}}";

/** Requests, failures, durations and budgets. */
export function endpointBoard(): Board {
  return {
    uid: "synclag-endpoint",
    title: "Synclag: endpoint",
    description: "Polls of indexers and nodes: number, failures, duration, and budget use.",
    variables: [
      { ...PROTOCOL, metric: "synclag_polls_total" },
      { ...VARIANT, metric: "synclag_polls_total" },
      { name: "endpoint", label: "Endpoint", metric: "synclag_polls_total", choice: "any" },
    ],
    rows: [
      { title: "Now", panels: [...counts(), failing()] },
      { title: "Polls", panels: [requests(), failures(), durations(), durationMap()] },
      { title: "Budgets", panels: [budgetUse(), budgetForecast(), budgetTable()] },
    ],
  };
}

function counts(): readonly AnyPanel[] {
  return [
    stat({
      title: "Requests, last hour",
      description: "Requests sent, including retries, as providers count them.",
      unit: "short",
      expr: `sum(increase(synclag_polls_total{${SELECTED}}[1h]))`,
    }).decimals(0),
    stat({
      title: "Failed, last hour",
      description: "Share of the requests of the last hour without a usable answer.",
      unit: "percentunit",
      expr: `sum(increase(synclag_poll_failures_total{${SELECTED}}[1h])) / sum(increase(synclag_polls_total{${SELECTED}}[1h]))`,
      steps: [
        [0.02, "yellow"],
        [0.1, "red"],
      ],
    }).decimals(1),
    stat({
      title: "Duration, 95th percentile",
      description: "95 % of the polls of the last hour took no longer than this.",
      unit: "s",
      expr: quantile(0.95, "1h", "le"),
    }).decimals(2),
    stat({
      title: "Failing endpoints",
      description: "Endpoints with more than half of the polls of the last hour failed.",
      unit: "short",
      expr: `count(sum by (${ENDPOINT}) (increase(synclag_poll_failures_total{${SELECTED}}[1h])) > 0.5 * sum by (${ENDPOINT}) (increase(synclag_polls_total{${SELECTED}}[1h]))) or vector(0)`,
      steps: [[1, "red"]],
    }),
    stat({
      title: "Lowest remaining budget",
      description:
        "Smallest remaining share of any budget. `auto` plans with nine tenths, so a tenth is normal at the end of a window.",
      unit: "percentunit",
      expr: `min(1 - max by (${BUDGET}) (synclag_budget_used${BUDGETS}) / max by (${BUDGET}) (synclag_budget_limit${BUDGETS}))`,
      steps: [
        [0, "red"],
        [0.05, "yellow"],
        [0.1, "green"],
      ],
    }).decimals(1),
    stat({
      title: "Skipped rounds, last hour",
      description:
        "Rounds skipped because the previous round of the indexer was still running: its schedule is too frequent.",
      unit: "short",
      expr: `sum(increase(synclag_rounds_skipped_total{${SELECTED_INDEXERS}}[1h]))`,
      steps: [[1, "yellow"]],
    }).decimals(0),
  ];
}

function failing(): AnyPanel {
  return table({
    title: "Failures of the last hour",
    description:
      "By endpoint and reason, most frequent first. docs/METRICS.md explains the reasons. No row: no failure.",
    unit: "short",
    headings: {
      protocol: "Protocol",
      variant: "Variant",
      tier: "Tier",
      endpoint: "Endpoint",
      reason: "Reason",
      Value: "Failures",
    },
    sortBy: "Failures",
  })
    .withTarget(
      column(
        "failures",
        `topk(30, sum by (${ENDPOINT}, reason) (increase(synclag_poll_failures_total{${SELECTED}}[1h])) > 0)`,
      ),
    )
    .noValue("No failures")
    .decimals(0)
    .height(8)
    .span(24);
}

function requests(): AnyPanel {
  return graph({
    title: "Requests",
    description: "Requests per second and indexer, including retries.",
    unit: "reqps",
  })
    .withTarget(
      overTime(
        withOwner(`sum by (${INDEXER}) (rate(synclag_polls_total{${SELECTED}}[$__rate_interval]))`, INDEXER),
        "{{whose}}",
      ),
    )
    .min(0);
}

function failures(): AnyPanel {
  return graph({
    title: "Failures by reason",
    description: "Polls per second without a usable answer, by reason.",
    unit: "reqps",
  })
    .withTarget(
      overTime(
        `sum by (reason) (rate(synclag_poll_failures_total{${SELECTED}}[$__rate_interval]))`,
        "{{reason}}",
      ),
    )
    .drawStyle(GraphDrawStyle.Bars)
    .fillOpacity(60)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
}

function durations(): AnyPanel {
  return graph({
    title: "Duration",
    description: "Median and 95th percentile of the time from request to answer.",
    unit: "s",
  })
    .withTarget(
      overTime(withOwner(quantile(0.5, "$__rate_interval", `${INDEXER}, le`), INDEXER), "{{whose}} median"),
    )
    .withTarget(
      overTime(
        withOwner(quantile(0.95, "$__rate_interval", `${INDEXER}, le`), INDEXER),
        "{{whose}} 95th percentile",
      ),
    )
    .min(0);
}

function durationMap(): AnyPanel {
  return new HeatmapBuilder()
    .title("Duration heat map")
    .description(
      "Distribution of poll durations. Each band is usually one provider; a rising band is one that is getting slower.",
    )
    .datasource(DATASOURCE)
    .withTarget(
      overTime(
        `sum by (le) (increase(synclag_poll_duration_seconds_bucket{${SELECTED_INDEXERS}}[$__rate_interval]))`,
        "{{le}}",
      ).format(PromQueryFormat.Heatmap),
    )
    .unit("s")
    .calculate(false)
    .color(new HeatmapColorOptionsBuilder().scheme("Turbo").steps(64))
    .height(9)
    .span(12);
}

function budgetUse(): AnyPanel {
  return graph({
    title: "Budget used",
    description:
      "Used share of each budget, by the stricter of the calendar and the rolling window. The ten highest.",
    unit: "percentunit",
  })
    .withTarget(
      overTime(
        withOwner(
          `topk(10, max by (${BUDGET}) (synclag_budget_used${BUDGETS}) / max by (${BUDGET}) (synclag_budget_limit${BUDGETS}))`,
          ENDPOINT,
        ),
        BUDGET_LEGEND,
      ),
    )
    .min(0)
    .max(1);
}

function budgetForecast(): AnyPanel {
  return graph({
    title: "Budget forecast",
    description:
      "Share of each budget that will be left in a day at the rate of the last six hours, if no window ends. Below zero: it runs out before then. The ten lowest.",
    unit: "percentunit",
  }).withTarget(
    overTime(
      withOwner(
        `bottomk(10, 1 - max by (${BUDGET}) (predict_linear(synclag_budget_used${BUDGETS}[6h], 86400)) / max by (${BUDGET}) (synclag_budget_limit${BUDGETS}))`,
        ENDPOINT,
      ),
      BUDGET_LEGEND,
    ),
  );
}

function budgetTable(): AnyPanel {
  return table({
    title: "Budgets",
    description:
      "Limit, use and remainder of each budget, most used first. Several endpoints use a `shared` one.",
    unit: "short",
    headings: {
      budget: "Budget",
      protocol: "Protocol",
      variant: "Variant",
      tier: "Tier",
      endpoint: "Endpoint",
      "Value #share": "Used",
      "Value #used": "Requests",
      "Value #remaining": "Left",
      "Value #limit": "Limit",
    },
    sortBy: "Used",
  })
    .withTarget(
      column(
        "share",
        `max by (${BUDGET}) (synclag_budget_used${BUDGETS}) / max by (${BUDGET}) (synclag_budget_limit${BUDGETS})`,
      ),
    )
    .withTarget(column("used", `max by (${BUDGET}) (synclag_budget_used${BUDGETS})`))
    .withTarget(column("remaining", `min by (${BUDGET}) (synclag_budget_remaining${BUDGETS})`))
    .withTarget(column("limit", `max by (${BUDGET}) (synclag_budget_limit${BUDGETS})`))
    .overrideByName("Used", [{ id: "unit", value: "percentunit" }])
    .height(9)
    .span(24);
}

/**
 * Adds the label `whose` for a legend: the values of some labels with single spaces, although nodes have neither protocol nor
 * tier, and shared budgets only an endpoint.
 */
function withOwner(expr: string, labels: string): string {
  const names = labels.split(", ").map((name) => `"${name}"`);
  const joined = `label_join(${expr}, "whose", " ", ${names.join(", ")})`;
  return `label_replace(${joined}, "whose", "$1", "whose", " *(.*?) *")`;
}

function quantile(share: number, window: string, by: string): string {
  return `histogram_quantile(${share}, sum by (${by}) (rate(synclag_poll_duration_seconds_bucket{${SELECTED_INDEXERS}}[${window}])))`;
}
