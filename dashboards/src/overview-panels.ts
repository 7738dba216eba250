import { BigValueColorMode, BigValueGraphMode } from "@grafana/grafana-foundation-sdk/common";
import {
  type DashboardBuilder,
  MappingType,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMap,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { PanelBuilder as StatPanelBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as TablePanelBuilder } from "@grafana/grafana-foundation-sdk/table";
import { column, DATASOURCE, now, SELECTED_INDEXERS, SELECTED_TARGETS } from "./panel-query.ts";
import { STATUSES_BY_URGENCY, statusRankQuery } from "./status-ranks.ts";

type AnyPanel = Parameters<DashboardBuilder["withPanel"]>[0];

/** What a tired person looks at first: how many are not well, which, and whether Synclag itself works. */
export function overviewPanels(): readonly AnyPanel[] {
  return [
    count({
      title: "Targets ok",
      description: "Indexers on chains that are up, advancing and within their limits.",
      expr: `sum(synclag_status{${SELECTED_TARGETS}, status="ok"})`,
      alarmFrom: null,
    }),
    count({
      title: "Targets not ok",
      description: "Everything else, back-filling included. The table below names them, worst first.",
      expr: `sum(synclag_status{${SELECTED_TARGETS}, status!="ok"})`,
      alarmFrom: 1,
    }),
    count({
      title: "Chains without an ok variant",
      description: "Pairs of protocol and chain where no variant is ok: users see old data there now.",
      expr: `count(max by (protocol, chain) (synclag_status{${SELECTED_TARGETS}, status="ok"}) == 0) or vector(0)`,
      alarmFrom: 1,
    }),
    count({
      title: "Shared causes",
      description: "Incidents: one cause that explains the trouble of many targets at once.",
      expr: "sum(synclag_incident_active) or vector(0)",
      alarmFrom: 1,
    }),
    count({
      title: "Failed polls",
      description: "Share of the requests of the last five minutes that gave no usable answer.",
      expr: `sum(rate(synclag_poll_failures_total{${SELECTED_INDEXERS}}[5m])) / sum(rate(synclag_polls_total{${SELECTED_INDEXERS}}[5m]))`,
      alarmFrom: 0.1,
    }).unit("percentunit"),
    count({
      title: "Last tick of the scheduler",
      description: "How long ago Synclag's own loop last ticked; it does so each second.",
      expr: "max(time() - synclag_scheduler_last_tick_timestamp_seconds)",
      alarmFrom: 60,
    }).unit("s"),
    statusTable(),
  ];
}

interface CountOptions {
  readonly title: string;
  readonly description: string;
  readonly expr: string;
  /** From this value on it is red; null for a number that is never bad by itself. */
  readonly alarmFrom: number | null;
}

function count({ title, description, expr, alarmFrom }: CountOptions): StatPanelBuilder {
  const steps: Threshold[] = [{ value: null, color: alarmFrom === null ? "text" : "green" }];
  if (alarmFrom !== null) {
    steps.push({ value: alarmFrom, color: "red" });
  }
  return new StatPanelBuilder()
    .title(title)
    .description(description)
    .datasource(DATASOURCE)
    .withTarget(now(expr, title))
    .unit("short")
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps))
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .height(4)
    .span(4);
}

function statusTable(): TablePanelBuilder {
  return new TablePanelBuilder()
    .title("Targets, worst first")
    .description(
      "Each indexer on each chain: its status, how far it is behind the corroborated head of the chain, and when it last moved. An empty cell is unknown, never zero.",
    )
    .datasource(DATASOURCE)
    .withTarget(column("status", statusRankQuery(SELECTED_TARGETS)))
    .withTarget(column("lag", `synclag_lag_seconds{${SELECTED_TARGETS}}`))
    .withTarget(column("blocks", `synclag_lag_blocks{${SELECTED_TARGETS}}`))
    .withTarget(column("height", `synclag_block_number{${SELECTED_TARGETS}}`))
    .withTarget(column("advance", `time() - synclag_last_advance_timestamp_seconds{${SELECTED_TARGETS}}`))
    .withTransformation({ id: "merge", options: {} })
    .withTransformation({
      id: "organize",
      options: {
        excludeByName: { Time: true },
        renameByName: {
          protocol: "Protocol",
          chain: "Chain",
          variant: "Variant",
          tier: "Tier",
          "Value #status": "Status",
          "Value #lag": "Behind",
          "Value #blocks": "Blocks behind",
          "Value #height": "Height",
          "Value #advance": "Last advance",
        },
      },
    })
    .withTransformation({ id: "sortBy", options: { sort: [{ field: "Status", desc: true }] } })
    .filterable(true)
    .overrideByName("Status", [
      { id: "mappings", value: [{ type: MappingType.ValueToText, options: statusMapping() }] },
      { id: "custom.cellOptions", value: { type: "color-text" } },
    ])
    .overrideByName("Behind", [{ id: "unit", value: "s" }])
    .overrideByName("Last advance", [{ id: "unit", value: "s" }])
    .unit("none")
    .height(14)
    .span(24);
}

function statusMapping(): ValueMap["options"] {
  return Object.fromEntries(
    STATUSES_BY_URGENCY.map(({ status, color }, rank) => [
      String(rank),
      { text: status, color, index: rank },
    ]),
  );
}
