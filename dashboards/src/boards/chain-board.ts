import { GraphDrawStyle, StackingConfigBuilder, StackingMode } from "@grafana/grafana-foundation-sdk/common";
import { type Board, CHAIN, PROTOCOL, VARIANT } from "./board.ts";
import { type AnyPanel, graph, stat, statusTimeline, table } from "./panels.ts";
import { column, overTime, SELECTED_TARGETS } from "./query.ts";

const ROW = "protocol, variant, tier";
const LEGEND = "{{protocol}} {{variant}} {{tier}}";
const THIS_CHAIN = 'chain=~"$chain"';

/** One chain: the height of each indexer, and whether the chain itself advances. */
export function chainBoard(): Board {
  return {
    uid: "synclag-chain",
    title: "Synclag: chain",
    description: "One chain: heights, lag and gaps, and the reference that they are measured against.",
    variables: [{ ...CHAIN, choice: "one" }, PROTOCOL, VARIANT],
    page: "/chains/$" + "{chain}",
    rows: [
      { title: "Now", panels: [...facts(), timeline()] },
      { title: "Behind", panels: [lag(), gap(), heights(), sinceAdvance()] },
      { title: "The same data", panels: [parity(), parityDifference()] },
      {
        title: "The chain and its events",
        panels: [blockInterval(), sources(), regressions(), deployments()],
      },
    ],
  };
}

function facts(): readonly AnyPanel[] {
  return [
    stat({
      title: "Reference",
      description: "The corroborated head of the chain. Lag is measured against it.",
      unit: "none",
      expr: `max(synclag_reference_block_number{${THIS_CHAIN}})`,
    }),
    stat({
      title: "Agreeing sources",
      description:
        "Number of indexers and nodes that agree with the reference. With a single source there is no reference and no lag.",
      unit: "none",
      expr: `max(synclag_reference_sources{${THIS_CHAIN}})`,
      steps: [
        [0, "red"],
        [2, "green"],
      ],
    }),
    stat({
      title: "Block interval",
      description: "Measured time between two blocks.",
      unit: "s",
      expr: `max(synclag_block_interval_seconds{${THIS_CHAIN}})`,
    }),
    stat({
      title: "Variants ok",
      description: "Targets of the selected protocols on this chain that are ok.",
      unit: "none",
      expr: `sum(max by (${ROW}) (synclag_status{${SELECTED_TARGETS}, status="ok"}))`,
      steps: [
        [0, "red"],
        [1, "green"],
      ],
    }),
    stat({
      title: "Waiting for the chain",
      description: "Targets that do not advance because the chain has halted, as an independent node shows.",
      unit: "none",
      expr: `sum(max by (${ROW}) (synclag_status{${SELECTED_TARGETS}, status="chain_halted"}))`,
      steps: [[1, "purple"]],
    }),
    stat({
      title: "In maintenance",
      description: "Targets in a maintenance window. They raise no alert.",
      unit: "none",
      expr: `sum(max by (${ROW}) (synclag_maintenance{${SELECTED_TARGETS}})) or vector(0)`,
    }),
  ];
}

function timeline(): AnyPanel {
  return statusTimeline({
    title: "Status on $chain",
    description: "Status of each indexer over time. If all change at once, check the chain first.",
    selector: SELECTED_TARGETS,
    by: ROW,
    legend: LEGEND,
  }).height(9);
}

function lag(): AnyPanel {
  return graph({
    title: "Behind the reference",
    description:
      "Chain time between the target's block and the reference at its last poll. Dashed: the thresholds of chains.yaml. No line: unknown.",
    unit: "s",
  })
    .withTarget(overTime(`max by (${ROW}) (synclag_lag_seconds{${SELECTED_TARGETS}})`, LEGEND))
    .withTarget(
      overTime(
        `max by (level) (synclag_threshold_seconds{${SELECTED_TARGETS}, level=~"lagging|critical"})`,
        "threshold: {{level}}",
      ),
    )
    .overrideByRegexp("threshold: .*", [
      { id: "custom.lineStyle", value: { fill: "dash", dash: [8, 8] } },
      { id: "color", value: { mode: "fixed", fixedColor: "text" } },
    ])
    .min(0);
}

function gap(): AnyPanel {
  return graph({
    title: "Gap between variants",
    description:
      "Blocks by which a variant is behind the protocol's first variant, both at one instant. Negative: it is ahead. The true gap lies between the thin lines.",
    unit: "none",
  })
    .withTarget(
      overTime(
        `max by (${ROW}, against) (synclag_variant_gap_blocks{${SELECTED_TARGETS}})`,
        `${LEGEND} behind {{against}}`,
      ),
    )
    .withTarget(
      overTime(
        `max by (${ROW}, against) (synclag_variant_gap_blocks{${SELECTED_TARGETS}} + synclag_variant_gap_uncertainty_blocks{${SELECTED_TARGETS}})`,
        `${LEGEND} at most`,
      ),
    )
    .withTarget(
      overTime(
        `max by (${ROW}, against) (synclag_variant_gap_blocks{${SELECTED_TARGETS}} - synclag_variant_gap_uncertainty_blocks{${SELECTED_TARGETS}})`,
        `${LEGEND} at least`,
      ),
    )
    .overrideByRegexp(".* at (most|least)", [
      { id: "custom.lineWidth", value: 0.5 },
      { id: "custom.hideFrom", value: { legend: true, tooltip: false, viz: false } },
    ])
    .axisCenteredZero(true);
}

function parity(): AnyPanel {
  return graph({
    title: "Parity between variants",
    description:
      "1: the data of two variants were equal at the height compared last, 0: they differed. No line: unknown, or no parity in chains.yaml.",
    unit: "none",
  })
    .withTarget(
      overTime(
        `min by (${ROW}, against, probe) (synclag_parity{${SELECTED_TARGETS}})`,
        `${LEGEND} against {{against}}: {{probe}}`,
      ),
    )
    .min(0)
    .max(1);
}

function parityDifference(): AnyPanel {
  return graph({
    title: "Difference of their values",
    description:
      "Value of the variant that is compared with, minus that of the target, where both are numbers. Positive: the target has less.",
    unit: "none",
  })
    .withTarget(
      overTime(
        `max by (${ROW}, against, probe) (synclag_parity_difference{${SELECTED_TARGETS}})`,
        `${LEGEND} against {{against}}: {{probe}}`,
      ),
    )
    .axisCenteredZero(true);
}

function heights(): AnyPanel {
  return graph({
    title: "Heights",
    description:
      "Last indexed block of each target, and the reference. Flat: not advancing. A large step down: re-indexing.",
    unit: "none",
  })
    .withTarget(overTime(`max by (${ROW}) (synclag_block_number{${SELECTED_TARGETS}})`, LEGEND))
    .withTarget(overTime(`max(synclag_reference_block_number{${THIS_CHAIN}})`, "reference"))
    .overrideByName("reference", [
      { id: "custom.lineStyle", value: { fill: "dash", dash: [8, 8] } },
      { id: "color", value: { mode: "fixed", fixedColor: "text" } },
    ]);
}

function sinceAdvance(): AnyPanel {
  return graph({
    title: "Since the last advance",
    description:
      "Time since each target's height last grew, and the age of its last block. With a poll every 30 minutes it rises to 30 minutes between two polls.",
    unit: "s",
  })
    .withTarget(
      overTime(
        `max by (${ROW}) (time() - synclag_last_advance_timestamp_seconds{${SELECTED_TARGETS}})`,
        LEGEND,
      ),
    )
    .withTarget(
      overTime(
        `max by (${ROW}) (time() - synclag_block_timestamp_seconds{${SELECTED_TARGETS}})`,
        `${LEGEND} age of its block`,
      ),
    )
    .min(0);
}

function blockInterval(): AnyPanel {
  return graph({
    title: "Block interval over time",
    description: "Measured time between blocks. Indexers keep up more easily when it rises.",
    unit: "s",
  })
    .withTarget(overTime(`max by (chain) (synclag_block_interval_seconds{${THIS_CHAIN}})`, "{{chain}}"))
    .min(0);
}

function sources(): AnyPanel {
  return graph({
    title: "Sources of the reference over time",
    description:
      "Number of sources that agree with the reference. Every indexer and every node of the chain can be a source.",
    unit: "none",
  })
    .withTarget(overTime(`max by (chain) (synclag_reference_sources{${THIS_CHAIN}})`, "{{chain}}"))
    .min(0);
}

function regressions(): AnyPanel {
  return graph({
    title: "Steps back",
    description:
      "Small steps back, by a reorg or a gateway that switches between indexers (`reorg`), and large ones that last (`reindex`); one bar an hour.",
    unit: "none",
  })
    .withTarget(
      overTime(
        `sum by (${ROW}, kind) (increase(synclag_regressions_total{${SELECTED_TARGETS}}[1h]))`,
        `${LEGEND} {{kind}}`,
      ),
    )
    .drawStyle(GraphDrawStyle.Bars)
    .fillOpacity(60)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal))
    .interval("1h");
}

function deployments(): AnyPanel {
  return table({
    title: "Deployments",
    description: "Deployment of the last answer, and how often it has changed.",
    unit: "none",
    headings: {
      protocol: "Protocol",
      variant: "Variant",
      tier: "Tier",
      deployment: "Deployment",
      Value: "Changes",
    },
    sortBy: "Changes",
  })
    .withTarget(
      column(
        "changes",
        `max by (${ROW}, deployment) (synclag_deployment_info{${SELECTED_TARGETS}} * on (${ROW}, chain) group_left () synclag_deployment_changes_total{${SELECTED_TARGETS}})`,
      ),
    )
    .height(9)
    .span(12);
}
