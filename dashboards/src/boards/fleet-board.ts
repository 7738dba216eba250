import { VisibilityMode } from "@grafana/grafana-foundation-sdk/common";
import { FieldColorBuilder, FieldColorModeId } from "@grafana/grafana-foundation-sdk/dashboard";
import { PanelBuilder as StatusHistoryBuilder } from "@grafana/grafana-foundation-sdk/statushistory";
import { FLEET_FRESHNESS, protocolFreshness } from "../freshness.ts";
import type { Settings } from "../settings.ts";
import {
  type Board,
  CHAIN,
  EVENTS,
  PROTOCOL,
  SELECTED_JOBS,
  SELECTED_TARGETS,
  SYNCLAG_PAGE,
  TIER,
  VARIANT,
  variable,
} from "./board.ts";
import {
  type AnyPanel,
  columnLink,
  DATASOURCE,
  graph,
  headed,
  query,
  redBelow,
  STATUS_MAPPINGS,
  stat,
  statusTimeline,
  table,
  thresholds,
} from "./panels.ts";

const ROW = "protocol, variant, tier, chain";
const SELECTED_PAIRS = `${SELECTED_JOBS}, protocol=~"$protocol", chain=~"$chain"`;
const SELECTED_PROTOCOLS = `${SELECTED_JOBS}, protocol=~"$protocol"`;
const TO_CHAIN = [
  `/d/synclag-chain?${variable("datasource:queryparam")}&${variable("cluster:queryparam")}`,
  `${variable("job:queryparam")}&var-chain=${cell("Chain")}&var-protocol=${cell("Protocol")}`,
  variable("__url_time_range"),
].join("&");
/** The path to a target's entry on the page of its chain. */
const TARGET_OF_ROW = `${cell("Chain")}#${cell("Protocol")}-${cell("Variant")}-${cell("Tier")}`;
const STATUS_OF_CELL = variable("__value.text");

/** The dashboard of the fleet: current problems, worst first, and how fresh the fleet has been. */
export function fleetBoard(settings: Settings): Board {
  return {
    uid: "synclag-fleet",
    title: "Synclag: fleet",
    description: "What is wrong now, worst first, since when, and whether another variant is ok.",
    variables: [PROTOCOL, TIER, CHAIN, VARIANT],
    annotations: EVENTS,
    rows: [
      { title: "Now", panels: now(settings) },
      { title: "Since when", panels: sinceWhen() },
      { title: "Lag and freshness", panels: lagAndFreshness(settings) },
    ],
  };
}

function now({ objective: share }: Settings): readonly AnyPanel[] {
  const ok = `max by (${ROW}) (synclag_status{${SELECTED_TARGETS}, status="ok"})`;
  const wrong = `max by (${ROW}) (synclag_status_rank{${SELECTED_TARGETS}}) > 0`;
  const ofWrong = (expr: string): string => `max by (${ROW}) (${expr})\nand on (${ROW})\n  ${wrong}`;
  return [
    stat("Targets ok", "Targets that advance and are within their thresholds.", "short", `sum(${ok})`),
    stat(
      "Targets not ok",
      "All other targets, including back-filling and unknown ones. The table below lists them.",
      "short",
      `count(${ok} == 0) or vector(0)`,
      [[1, "orange"]],
    ),
    stat(
      "Down",
      "Protocols on chains without a usable variant: users see old data, wrong data or errors.",
      "short",
      `count(max by (protocol, chain) (synclag_pair_state{${SELECTED_PAIRS}, state="down"}) == 1) or vector(0)`,
      [[1, "red"]],
    ),
    stat(
      "Shared causes",
      "Active incidents: one cause that affects many targets at once. The status page names them.",
      "short",
      `count(max by (scope, subject) (synclag_incident_active{${SELECTED_JOBS}}) == 1) or vector(0)`,
      [[1, "red"]],
    ),
    stat(
      "In maintenance",
      "Targets in a maintenance window, or that have ended (`until` in chains.yaml): still polled and shown, but without alerts.",
      "short",
      `sum(max by (${ROW}) (synclag_maintenance{${SELECTED_TARGETS}})) or vector(0)`,
    ),
    stat(
      "Freshness, 30 days",
      `Share of the time in which at least one variant that serves users was ok, averaged over all protocols and chains without testnets. The objective is ${share * 100} %. Needs the recording rules.`,
      "percentunit",
      `min(${FLEET_FRESHNESS}{${SELECTED_JOBS}})`,
      redBelow(share),
    ).decimals(2),
    table(
      "Targets not ok now",
      "Each target that is not ok, worst first: its status, its lag behind the reference of its chain, the time since it last advanced, and how many other variants of its pair are ok. An empty cell is unknown, never zero. No row: all targets are ok. The status links to its meaning and what to do, the chain to its dashboard, the variant to its entry on Synclag's own page.",
      {
        status: wrong,
        lag: ofWrong(`synclag_lag_seconds{${SELECTED_TARGETS}}`),
        blocks: ofWrong(`synclag_lag_blocks{${SELECTED_TARGETS}}`),
        advance: ofWrong(`time() - synclag_last_advance_timestamp_seconds{${SELECTED_TARGETS}}`),
        others: `0 * (${wrong})\n+ on (protocol, chain) group_left ()\nsum by (protocol, chain) (max by (${ROW}) (synclag_status{${SELECTED_PAIRS}, status="ok"}))`,
      },
      {
        "Value #status": "Status",
        ...headed("protocol", "chain", "variant", "tier"),
        "Value #lag": "Behind",
        "Value #blocks": "Blocks behind",
        "Value #advance": "Last advance",
        "Value #others": "Variants ok",
      },
      { unit: "none", sortBy: "Status" },
    )
      .noValue("All targets are ok")
      .overrideByName("Status", [
        { id: "mappings", value: STATUS_MAPPINGS },
        { id: "custom.cellOptions", value: { type: "color-background", mode: "basic" } },
        columnLink(
          "What this status means, and what to do",
          `${SYNCLAG_PAGE}/docs/statuses#${STATUS_OF_CELL}`,
        ),
      ])
      .overrideByName("Chain", [columnLink("Dashboard of this chain", TO_CHAIN)])
      .overrideByName("Variant", [
        columnLink("Explorers and playgrounds on Synclag's page", `${SYNCLAG_PAGE}/chains/${TARGET_OF_ROW}`),
      ])
      .overrideByName("Behind", [{ id: "unit", value: "s" }])
      .overrideByName("Last advance", [{ id: "unit", value: "s" }])
      .height(12),
  ];
}

function sinceWhen(): readonly AnyPanel[] {
  return [
    statusTimeline(
      "Status of $protocol by chain",
      "Worst status of the variants of each chain over time. Rows that change at the same moment usually have one cause.",
      [`max by (protocol, chain) (synclag_status_rank{${SELECTED_TARGETS}})`, "{{chain}}"],
    )
      .repeat("protocol")
      .repeatDirection("v"),
    new StatusHistoryBuilder()
      .title("Gaps of $protocol by chain")
      .description(
        "Largest gap between the variants of each chain, in time. If all rows have the same colour, a variant is at fault; if a single row is coloured, its chain is at fault. Grey: the gap is unknown.",
      )
      .datasource(DATASOURCE)
      .withTarget(
        query(`max by (protocol, chain) (abs(synclag_variant_gap_seconds{${SELECTED_TARGETS}}))`)
          .legendFormat("{{chain}}")
          .range(),
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
      .repeatDirection("v")
      .height(14)
      .span(24),
  ];
}

function lagAndFreshness({ objective: share }: Settings): readonly AnyPanel[] {
  const windows = ["1h", "6h", "3d", "30d"] as const;
  return [
    graph("Most behind", "The ten targets furthest behind the reference of their chain, in time.", "s", [
      `topk(10, max by (${ROW}) (synclag_lag_seconds{${SELECTED_TARGETS}}))`,
      "{{protocol}} {{chain}} {{variant}} {{tier}}",
    ]).min(0),
    graph(
      "Fresh chains",
      `Share of a protocol's chains, without testnets, on which a variant that serves users is ok, now and over the last hour. Below the red line (${share * 100} %), the protocol misses the objective. Needs the recording rules.`,
      "percentunit",
      [`min by (protocol) (synclag:protocol_fresh:ratio{${SELECTED_PROTOCOLS}})`, "{{protocol}}"],
      [`min by (protocol) (${protocolFreshness("1h")}{${SELECTED_PROTOCOLS}})`, "{{protocol}}, last hour"],
    )
      .max(1)
      .thresholds(thresholds([[share, "transparent"]], "red")),
    table(
      "Freshness by protocol",
      "Share of the time in which at least one variant was ok, averaged over the protocol's chains without testnets, worst first. Needs the recording rules, and a history that is as long as the window.",
      Object.fromEntries(
        windows.map((window) => [
          `w${window}`,
          `min by (protocol) (${protocolFreshness(window)}{${SELECTED_PROTOCOLS}})`,
        ]),
      ),
      {
        protocol: "Protocol",
        ...Object.fromEntries(windows.map((window) => [`Value #w${window}`, window])),
      },
      { unit: "percentunit", sortBy: "30d", first: "lowest" },
    )
      .decimals(3)
      .height(7),
  ];
}

/** The value of a column in the same row. */
function cell(heading: string): string {
  return variable(`__data.fields.${heading}`);
}
