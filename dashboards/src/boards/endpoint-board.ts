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

/** What is asked, how it goes, and what it takes of the budgets. */
export function endpointBoard(): Board {
  return {
    uid: "synclag-endpoint",
    title: "Synclag: endpoint",
    description:
      "Polls of the indexers and nodes: how many, how they fail, how long they take, what they cost.",
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
      description: "Requests sent, retries included: what the providers count.",
      unit: "short",
      expr: `sum(increase(synclag_polls_total{${SELECTED}}[1h]))`,
    }).decimals(0),
    stat({
      title: "Failed, last hour",
      description: "Share of the requests of the last hour that gave no usable answer.",
      unit: "percentunit",
      expr: `sum(increase(synclag_poll_failures_total{${SELECTED}}[1h])) / sum(increase(synclag_polls_total{${SELECTED}}[1h]))`,
      steps: [
        [0.02, "yellow"],
        [0.1, "red"],
      ],
    }).decimals(1),
    stat({
      title: "Slow answers",
      description: "The time within which 95 % of the polls of the last hour were answered.",
      unit: "s",
      expr: quantile(0.95, "1h", "le"),
    }).decimals(2),
    stat({
      title: "Endpoints that fail",
      description: "Endpoints of which more than half of the polls of the last hour failed.",
      unit: "short",
      expr: `count(sum by (${ENDPOINT}) (increase(synclag_poll_failures_total{${SELECTED}}[1h])) > 0.5 * sum by (${ENDPOINT}) (increase(synclag_polls_total{${SELECTED}}[1h]))) or vector(0)`,
      steps: [[1, "red"]],
    }),
    stat({
      title: "Least budget left",
      description:
        "Of all budgets, the smallest share that is left. `auto` plans with nine tenths, so a tenth is normal at the end of a window.",
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
        "Ticks that found the former round of the indexer still under way: it is polled too often.",
      unit: "short",
      expr: `sum(increase(synclag_rounds_skipped_total{${SELECTED_INDEXERS}}[1h]))`,
      steps: [[1, "yellow"]],
    }).decimals(0),
  ];
}

function failing(): AnyPanel {
  return table({
    title: "Failures of the last hour, most first",
    description: "Endpoint and reason. The reasons are explained in docs/METRICS.md. No row: nothing failed.",
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
    .noValue("Nothing failed")
    .decimals(0)
    .height(8)
    .span(24);
}

function requests(): AnyPanel {
  return graph({
    title: "Requests",
    description: "Requests a second by indexer, retries included.",
    unit: "reqps",
  })
    .withTarget(
      overTime(
        `sum by (${INDEXER}) (rate(synclag_polls_total{${SELECTED}}[$__rate_interval]))`,
        "{{protocol}} {{variant}} {{tier}}",
      ),
    )
    .min(0);
}

function failures(): AnyPanel {
  return graph({
    title: "Failures by reason",
    description: "Polls a second that gave no usable answer, by the reason why.",
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
    description: "Median and 95th percentile of the time from sending a request to its answer.",
    unit: "s",
  })
    .withTarget(
      overTime(
        quantile(0.5, "$__rate_interval", `${INDEXER}, le`),
        "{{protocol}} {{variant}} {{tier}} median",
      ),
    )
    .withTarget(
      overTime(quantile(0.95, "$__rate_interval", `${INDEXER}, le`), "{{protocol}} {{variant}} {{tier}} p95"),
    )
    .min(0);
}

function durationMap(): AnyPanel {
  return new HeatmapBuilder()
    .title("Durations, heat map")
    .description(
      "How many polls took how long: two bands are two providers, a band that climbs is one that tires.",
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
    description: "Share of each budget that is used, by the stricter of the calendar and the rolling window.",
    unit: "percentunit",
  })
    .withTarget(
      overTime(
        withOwner(
          `topk(10, max by (${BUDGET}) (synclag_budget_used${BUDGETS}) / max by (${BUDGET}) (synclag_budget_limit${BUDGETS}))`,
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
      "Share of each budget that will be left in a day at the pace of the last six hours, if nothing is given back. Below zero it runs out before.",
    unit: "percentunit",
  }).withTarget(
    overTime(
      withOwner(
        `bottomk(10, 1 - max by (${BUDGET}) (predict_linear(synclag_budget_used${BUDGETS}[6h], 86400)) / max by (${BUDGET}) (synclag_budget_limit${BUDGETS}))`,
      ),
      BUDGET_LEGEND,
    ),
  );
}

function budgetTable(): AnyPanel {
  return table({
    title: "Budgets, most used first",
    description:
      "What each budget allows, what is used and what is left. `shared` is drawn on by many endpoints.",
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
      "Value #limit": "Allowed",
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

/** Adds the label `whose`: `airdrops subgraph testing base`, or `shared`, whose other labels are empty. */
function withOwner(budgets: string): string {
  const joined = `label_join(${budgets}, "whose", " ", "protocol", "variant", "tier", "endpoint")`;
  return `label_replace(${joined}, "whose", "$1", "whose", " *(.*?) *")`;
}

function quantile(share: number, window: string, by: string): string {
  return `histogram_quantile(${share}, sum by (${by}) (rate(synclag_poll_duration_seconds_bucket{${SELECTED_INDEXERS}}[${window}])))`;
}
