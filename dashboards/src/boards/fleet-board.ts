import { VisibilityMode } from "@grafana/grafana-foundation-sdk/common";
import { FieldColorBuilder, FieldColorModeId } from "@grafana/grafana-foundation-sdk/dashboard";
import { PanelBuilder as StatusHistoryBuilder } from "@grafana/grafana-foundation-sdk/statushistory";
import { FLEET_FRESHNESS, protocolFreshness } from "../freshness.ts";
import { PAIR } from "../promql.ts";
import type { Settings } from "../settings.ts";
import { type Board, CHAIN, PROTOCOL, SYNCLAG_PAGE, VARIANT } from "./board.ts";
import { type AnyPanel, columnLink, graph, stat, statusTimeline, table, thresholds } from "./panels.ts";
import { column, DATASOURCE, overTime, SELECTED_TARGETS } from "./query.ts";
import { statusMappings, statusRankQuery } from "./status-ranks.ts";

const ROW = "protocol, variant, tier, chain";
const SELECTED_PAIRS = 'protocol=~"$protocol", chain=~"$chain"';
const TO_CHAIN =
  "/d/synclag-chain?$" +
  "{datasource:queryparam}&var-chain=$" +
  "{__data.fields.Chain}&var-protocol=$" +
  "{__data.fields.Protocol}&$" +
  "{__url_time_range}";

/** A target on the page of its chain. */
const TARGET_OF_ROW =
  "$" +
  "{__data.fields.Chain}#$" +
  "{__data.fields.Protocol}-$" +
  "{__data.fields.Variant}-$" +
  "{__data.fields.Tier}";

/** What is wrong now, worst first; since when; and how fresh the fleet has been. */
export function fleetBoard(settings: Settings): Board {
  return {
    uid: "synclag-fleet",
    title: "Synclag: fleet",
    description: "What is wrong now, worst first, since when, and whether another variant is ok.",
    variables: [PROTOCOL, CHAIN, VARIANT],
    rows: [
      { title: "Now", panels: [...counts(settings), wrongNow()] },
      { title: "Since when", panels: [stateOfProtocol(), gapsOfProtocol()] },
      { title: "Lag and freshness", panels: [mostBehind(), freshness(settings), objective()] },
    ],
  };
}

function counts({ objective: objectiveShare }: Settings): readonly AnyPanel[] {
  const red = [[1, "red"]] as const;
  return [
    stat({
      title: "Targets ok",
      description: "Targets that advance and are within their thresholds.",
      unit: "short",
      expr: `sum(max by (${ROW}) (synclag_status{${SELECTED_TARGETS}, status="ok"}))`,
    }),
    stat({
      title: "Targets not ok",
      description: "All other targets, including back-filling and unknown ones. The table below lists them.",
      unit: "short",
      expr: `count(max by (${ROW}) (synclag_status{${SELECTED_TARGETS}, status="ok"}) == 0) or vector(0)`,
      steps: [[1, "orange"]],
    }),
    stat({
      title: "Chains without an ok variant",
      description:
        "Pairs of protocol and chain where no variant that users are served from is ok, so they see old data or errors.",
      unit: "short",
      expr: `count(max by (${PAIR}) (synclag_status{${SELECTED_PAIRS}, tier="production", status="ok"}) == 0) or vector(0)`,
      steps: red,
    }),
    stat({
      title: "Shared causes",
      description:
        "Active incidents: one cause that affects many targets at once. The status page names them.",
      unit: "short",
      expr: "count(max by (scope, subject) (synclag_incident_active) == 1) or vector(0)",
      steps: red,
    }),
    stat({
      title: "In maintenance",
      description: "Targets in a maintenance window: still polled and shown, but without alerts.",
      unit: "short",
      expr: `sum(max by (${ROW}) (synclag_maintenance{${SELECTED_TARGETS}})) or vector(0)`,
    }),
    stat({
      title: "Freshness, 30 days",
      description: `Share of chain time in which at least one variant that users are served from was ok. The objective is ${objectiveShare * 100} %. Needs the recording rules.`,
      unit: "percentunit",
      expr: FLEET_FRESHNESS,
      steps: [
        [0, "red"],
        [objectiveShare, "green"],
      ],
    }).decimals(2),
  ];
}

function wrongNow(): AnyPanel {
  const wrong = `max by (${ROW}) (synclag_status{${SELECTED_TARGETS}, status="ok"}) == 0`;
  const ofWrong = (expr: string): string => `max by (${ROW}) (${expr})\nand on (${ROW})\n  ${wrong}`;
  return table({
    title: "Targets not ok now",
    description:
      "Worst first: status, lag behind the reference of its chain, time since it last advanced, and number of other variants that are ok there. An empty cell is unknown, never zero. No row: all targets are ok. The chain links to its dashboard, the variant to its entry on Synclag's own page.",
    unit: "none",
    headings: {
      "Value #status": "Status",
      protocol: "Protocol",
      chain: "Chain",
      variant: "Variant",
      tier: "Tier",
      "Value #lag": "Behind",
      "Value #blocks": "Blocks behind",
      "Value #advance": "Last advance",
      "Value #others": "Variants ok",
    },
    sortBy: "Status",
  })
    .withTarget(column("status", `${statusRankQuery(SELECTED_TARGETS, ROW)} > 0`))
    .withTarget(column("lag", ofWrong(`synclag_lag_seconds{${SELECTED_TARGETS}}`)))
    .withTarget(column("blocks", ofWrong(`synclag_lag_blocks{${SELECTED_TARGETS}}`)))
    .withTarget(
      column("advance", ofWrong(`time() - synclag_last_advance_timestamp_seconds{${SELECTED_TARGETS}}`)),
    )
    .withTarget(
      column(
        "others",
        `(${wrong})\n+ on (protocol, chain) group_left ()\nsum by (protocol, chain) (max by (${ROW}) (synclag_status{${SELECTED_PAIRS}, status="ok"}))`,
      ),
    )
    .noValue("All targets are ok")
    .overrideByName("Status", [
      { id: "mappings", value: statusMappings() },
      { id: "custom.cellOptions", value: { type: "color-background", mode: "basic" } },
    ])
    .overrideByName("Chain", [columnLink("Dashboard of this chain", TO_CHAIN)])
    .overrideByName("Variant", [
      columnLink("Explorers and playgrounds on Synclag's page", `${SYNCLAG_PAGE}/chains/${TARGET_OF_ROW}`),
    ])
    .overrideByName("Behind", [{ id: "unit", value: "s" }])
    .overrideByName("Last advance", [{ id: "unit", value: "s" }])
    .height(12)
    .span(24);
}

function stateOfProtocol(): AnyPanel {
  return statusTimeline({
    title: "Status of $protocol by chain",
    description:
      "Worst status of the variants of each chain over time. Rows that change at the same moment usually have one cause.",
    selector: SELECTED_TARGETS,
    by: "protocol, chain, variant, tier",
    legend: "{{chain}}",
  })
    .targets([overTime(worstRank(), "{{chain}}")])
    .repeat("protocol")
    .repeatDirection("h")
    .maxPerRow(2)
    .height(20)
    .span(12);
}

function worstRank(): string {
  return `max by (protocol, chain) (${statusRankQuery(SELECTED_TARGETS, ROW)})`;
}

function gapsOfProtocol(): AnyPanel {
  return new StatusHistoryBuilder()
    .title("Gaps of $protocol by chain")
    .description(
      "Largest gap between the variants of each chain, in chain time. The same colour in all rows points to a variant, a single coloured row to its chain. Grey: no known gap.",
    )
    .datasource(DATASOURCE)
    .withTarget(
      overTime(
        `max by (protocol, chain) (abs(synclag_variant_gap_seconds{${SELECTED_TARGETS}}))`,
        "{{chain}}",
      ),
    )
    .unit("s")
    .min(0)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .thresholds(
      thresholds(
        [
          [5, "light-green"],
          [30, "yellow"],
          [120, "light-orange"],
          [300, "orange"],
          [600, "red"],
          [1800, "dark-red"],
        ],
        "green",
      ),
    )
    .showValue(VisibilityMode.Never)
    .rowHeight(0.85)
    .colWidth(0.95)
    .maxDataPoints(120)
    .repeat("protocol")
    .repeatDirection("h")
    .maxPerRow(2)
    .height(20)
    .span(12);
}

function mostBehind(): AnyPanel {
  return graph({
    title: "Most behind",
    description: "The ten targets furthest behind the reference of their chain, in chain time.",
    unit: "s",
  })
    .withTarget(
      overTime(
        `topk(10, max by (${ROW}) (synclag_lag_seconds{${SELECTED_TARGETS}}))`,
        "{{protocol}} {{chain}} {{variant}} {{tier}}",
      ),
    )
    .min(0);
}

function freshness({ objective: share }: Settings): AnyPanel {
  return graph({
    title: "Fresh chains",
    description: `Share of a protocol's chains with an ok variant that users are served from, now and over the last hour. Below the red line (${share * 100} %) it misses the objective. Needs the recording rules.`,
    unit: "percentunit",
  })
    .withTarget(overTime('synclag:protocol_fresh:ratio{protocol=~"$protocol"}', "{{protocol}}"))
    .withTarget(overTime(`${protocolFreshness("1h")}{protocol=~"$protocol"}`, "{{protocol}}, last hour"))
    .max(1)
    .thresholds(thresholds([[share, "transparent"]], "red"));
}

function objective(): AnyPanel {
  const windows = ["1h", "6h", "3d", "30d"] as const;
  const panel = table({
    title: "Freshness by protocol",
    description:
      "Share of chain time in which at least one variant was ok, worst first. Needs the recording rules and a history as long as each window.",
    unit: "percentunit",
    headings: {
      protocol: "Protocol",
      ...Object.fromEntries(windows.map((window) => [`Value #w${window}`, window])),
    },
    sortBy: "30d",
    first: "lowest",
  })
    .decimals(3)
    .height(7)
    .span(24);
  for (const window of windows) {
    panel.withTarget(
      column(`w${window}`, `max by (protocol) (${protocolFreshness(window)}{protocol=~"$protocol"})`),
    );
  }
  return panel;
}
