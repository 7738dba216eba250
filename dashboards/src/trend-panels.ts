import { GraphDrawStyle, StackingConfigBuilder, StackingMode } from "@grafana/grafana-foundation-sdk/common";
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import { DATASOURCE, overTime, SELECTED_INDEXERS, SELECTED_TARGETS } from "./panel-query.ts";

const TARGET_LEGEND = "{{protocol}} {{chain}} {{variant}} {{tier}}";

/** Since when, and how it goes on: heights, lag and gaps of the selected targets. */
export function heightPanels(): readonly PanelBuilder[] {
  return [
    graph({
      title: "Behind the reference",
      description:
        "Chain time between a target's block and the corroborated head of its chain. No line: unknown.",
      unit: "s",
    })
      .withTarget(overTime(`synclag_lag_seconds{${SELECTED_TARGETS}}`, TARGET_LEGEND))
      .min(0),
    graph({
      title: "Gap between variants",
      description:
        "How much chain time a variant is behind the protocol's first one, both asked at the same instant. Below zero: it is ahead.",
      unit: "s",
    })
      .withTarget(
        overTime(`synclag_variant_gap_seconds{${SELECTED_TARGETS}}`, `${TARGET_LEGEND} behind {{against}}`),
      )
      .axisCenteredZero(true),
    graph({
      title: "Heights",
      description:
        "Last indexed block of each target, and the reference. Select one chain to compare its variants.",
      unit: "none",
    })
      .withTarget(overTime(`synclag_block_number{${SELECTED_TARGETS}}`, TARGET_LEGEND))
      .withTarget(overTime('synclag_reference_block_number{chain=~"$chain"}', "{{chain}} reference")),
    graph({
      title: "Gap between variants, in blocks",
      description: "The same gap in blocks; the true one lies within the uncertainty on either side.",
      unit: "none",
    })
      .withTarget(
        overTime(`synclag_variant_gap_blocks{${SELECTED_TARGETS}}`, `${TARGET_LEGEND} behind {{against}}`),
      )
      .withTarget(
        overTime(
          `synclag_variant_gap_uncertainty_blocks{${SELECTED_TARGETS}}`,
          `${TARGET_LEGEND} uncertainty`,
        ),
      )
      .axisCenteredZero(true),
  ];
}

/** How the polling itself goes. */
export function pollPanels(): readonly PanelBuilder[] {
  return [
    graph({
      title: "Poll failures by reason",
      description: "Polls a second that gave no usable answer. The reasons are listed in docs/METRICS.md.",
      unit: "reqps",
    })
      .withTarget(
        overTime(
          `sum by (reason) (rate(synclag_poll_failures_total{${SELECTED_INDEXERS}}[$__rate_interval]))`,
          "{{reason}}",
        ),
      )
      .drawStyle(GraphDrawStyle.Bars)
      .fillOpacity(60)
      .stacking(new StackingConfigBuilder().mode(StackingMode.Normal)),
    graph({
      title: "Poll duration",
      description: "Median and 95th percentile of the time from sending a request to its complete answer.",
      unit: "s",
    })
      .withTarget(overTime(pollDuration(0.5), "{{variant}} median"))
      .withTarget(overTime(pollDuration(0.95), "{{variant}} p95"))
      .min(0),
    graph({
      title: "Requests sent",
      description: "Requests a second by variant, retries included: what the providers count.",
      unit: "reqps",
    })
      .withTarget(
        overTime(
          `sum by (protocol, variant, tier) (rate(synclag_polls_total{${SELECTED_INDEXERS}}[$__rate_interval]))`,
          "{{protocol}} {{variant}} {{tier}}",
        ),
      )
      .min(0),
  ];
}

interface GraphOptions {
  readonly title: string;
  readonly description: string;
  /** A unit id of Grafana. */
  readonly unit: string;
}

function graph({ title, description, unit }: GraphOptions): PanelBuilder {
  return new PanelBuilder()
    .title(title)
    .description(description)
    .datasource(DATASOURCE)
    .unit(unit)
    .height(9)
    .span(12);
}

function pollDuration(quantile: number): string {
  const rates = `rate(synclag_poll_duration_seconds_bucket{${SELECTED_INDEXERS}}[$__rate_interval])`;
  return `histogram_quantile(${quantile}, sum by (variant, le) (${rates}))`;
}
