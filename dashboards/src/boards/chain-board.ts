import { GraphDrawStyle, StackingConfigBuilder, StackingMode } from "@grafana/grafana-foundation-sdk/common";
import {
  type Board,
  CHAIN,
  DEPLOYMENTS,
  JOB,
  PROTOCOL,
  RELOADS,
  SELECTED_TARGETS,
  STATUS_CHANGES,
  TIER,
  VARIANT,
} from "./board.ts";
import { type AnyPanel, DASHED, graph, type Steps, stat, statusTimeline, table } from "./panels.ts";

const ROW = "protocol, variant, tier";
const LEGEND = "{{protocol}} {{variant}} {{tier}}";
const THIS_CHAIN = 'job=~"$job", chain=~"$chain"';

/** One chain: where each indexer is, and whether the chain itself advances. */
export function chainBoard(): Board {
  return {
    uid: "synclag-chain",
    title: "Synclag: chain",
    description: "One chain: heights, lag and gaps, and the reference that they are measured against.",
    variables: [JOB, { ...CHAIN, choice: "one" }, PROTOCOL, TIER, VARIANT],
    page: "/chains/$" + "{chain}",
    annotations: [RELOADS, DEPLOYMENTS, STATUS_CHANGES],
    rows: [
      { title: "Now", panels: [...facts(), timeline()] },
      { title: "Behind", panels: [lag(), gap(), heights(), sinceAdvance()] },
      { title: "The same data", panels: parity() },
      { title: "The chain and its events", panels: [...chain(), regressions(), deployments()] },
    ],
  };
}

function facts(): readonly AnyPanel[] {
  const count = (status: string) =>
    `sum(max by (${ROW}) (synclag_status{${SELECTED_TARGETS}, status="${status}"}))`;
  const redBelow = (least: number): Steps => [
    [0, "red"],
    [least, "green"],
  ];
  const unit = "none";
  return [
    stat({
      title: "Reference",
      description: "The corroborated head of the chain. Lag is measured against it.",
      unit,
      expr: `max(synclag_reference_block_number{${THIS_CHAIN}})`,
    }),
    stat({
      title: "Agreeing sources",
      description:
        "Number of indexers and nodes that agree with the reference. With a single source there is no reference, and lag is measured by the clock.",
      unit,
      expr: `max(synclag_reference_sources{${THIS_CHAIN}})`,
      steps: redBelow(2),
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
      unit,
      expr: count("ok"),
      steps: redBelow(1),
    }),
    stat({
      title: "Waiting for the chain",
      description: "Targets that do not advance because the chain has halted, as an independent node shows.",
      unit,
      expr: count("chain_halted"),
      steps: [[1, "purple"]],
    }),
    stat({
      title: "In maintenance",
      description: "Targets in a maintenance window. They raise no alert.",
      unit,
      expr: `sum(max by (${ROW}) (synclag_maintenance{${SELECTED_TARGETS}})) or vector(0)`,
    }),
  ];
}

function timeline(): AnyPanel {
  return statusTimeline({
    title: "Status on $chain",
    description: "Status of each indexer over time. If all change at once, check the chain first.",
    line: [`max by (${ROW}) (synclag_status_rank{${SELECTED_TARGETS}})`, LEGEND],
  }).height(9);
}

function lag(): AnyPanel {
  return graph({
    title: "Behind the reference",
    description:
      "Chain time between the target's block and the reference at its last poll. Dashed: the thresholds of chains.yaml. No line: unknown.",
    unit: "s",
    lines: [
      [`max by (${ROW}) (synclag_lag_seconds{${SELECTED_TARGETS}})`, LEGEND],
      [
        `max by (level) (synclag_threshold_seconds{${SELECTED_TARGETS}, level=~"lagging|critical"})`,
        "threshold: {{level}}",
      ],
    ],
    min: 0,
  }).overrideByRegexp("threshold: .*", DASHED);
}

function gap(): AnyPanel {
  const blocks = `synclag_variant_gap_blocks{${SELECTED_TARGETS}}`;
  const uncertainty = `synclag_variant_gap_uncertainty_blocks{${SELECTED_TARGETS}}`;
  const most = (expr: string) => `max by (${ROW}, against) (${expr})`;
  return graph({
    title: "Gap between variants",
    description:
      "Blocks by which a variant is behind the protocol's first variant, both at one instant. Negative: it is ahead. The true gap lies between the thin lines.",
    unit: "none",
    lines: [
      [most(blocks), `${LEGEND} behind {{against}}`],
      [most(`${blocks} + ${uncertainty}`), `${LEGEND} at most`],
      [most(`${blocks} - ${uncertainty}`), `${LEGEND} at least`],
    ],
  })
    .overrideByRegexp(".* at (most|least)", [
      { id: "custom.lineWidth", value: 0.5 },
      { id: "custom.hideFrom", value: { legend: true, tooltip: false, viz: false } },
    ])
    .axisCenteredZero(true);
}

function heights(): AnyPanel {
  return graph({
    title: "Heights against the reference",
    description:
      "Last indexed block of each target less the reference. Falling with the pace of the chain: not advancing. A large step down: re-indexing.",
    unit: "none",
    lines: [
      [
        `max by (${ROW}, chain) (synclag_block_number{${SELECTED_TARGETS}})\n- on (chain) group_left ()\nmax by (chain) (synclag_reference_block_number{${THIS_CHAIN}})`,
        LEGEND,
      ],
    ],
  });
}

function sinceAdvance(): AnyPanel {
  return graph({
    title: "Since the last advance",
    description:
      "Time since each target's height last grew, and the age of its last block. With a poll every 30 minutes it rises to 30 minutes between two polls.",
    unit: "s",
    lines: [
      [`max by (${ROW}) (time() - synclag_last_advance_timestamp_seconds{${SELECTED_TARGETS}})`, LEGEND],
      [
        `max by (${ROW}) (time() - synclag_block_timestamp_seconds{${SELECTED_TARGETS}})`,
        `${LEGEND} age of its block`,
      ],
    ],
    min: 0,
  });
}

function parity(): readonly AnyPanel[] {
  const legend = `${LEGEND} against {{against}}: {{probe}}`;
  return [
    graph({
      title: "Parity between variants",
      description:
        "1: the data of two variants were equal at the height compared last, 0: they differed. No line: unknown, or no parity in chains.yaml.",
      unit: "none",
      lines: [[`min by (${ROW}, against, probe) (synclag_parity{${SELECTED_TARGETS}})`, legend]],
      min: 0,
      max: 1,
    }),
    graph({
      title: "Difference of their values",
      description:
        "Value of the variant that is compared with, minus that of the target, where both are numbers. Positive: the target has less.",
      unit: "none",
      lines: [[`max by (${ROW}, against, probe) (synclag_parity_difference{${SELECTED_TARGETS}})`, legend]],
    }).axisCenteredZero(true),
  ];
}

function chain(): readonly AnyPanel[] {
  const perChain = (metric: string) =>
    [[`max by (chain) (${metric}{${THIS_CHAIN}})`, "{{chain}}"] as const] as const;
  return [
    graph({
      title: "Block interval over time",
      description: "Measured time between blocks. Indexers keep up more easily when it rises.",
      unit: "s",
      lines: perChain("synclag_block_interval_seconds"),
      min: 0,
    }),
    graph({
      title: "Sources of the reference over time",
      description:
        "Number of sources that agree with the reference. Every indexer and every node of the chain can be a source.",
      unit: "none",
      lines: perChain("synclag_reference_sources"),
      min: 0,
    }),
  ];
}

function regressions(): AnyPanel {
  return graph({
    title: "Steps back",
    description:
      "Small steps back, by a reorg or a gateway that switches between indexers (`reorg`), and large ones that last (`reindex`).",
    unit: "none",
    lines: [
      [
        `sum by (${ROW}, kind) (increase(synclag_regressions_total{${SELECTED_TARGETS}}[$__rate_interval]))`,
        `${LEGEND} {{kind}}`,
      ],
    ],
  })
    .drawStyle(GraphDrawStyle.Bars)
    .fillOpacity(60)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
}

function deployments(): AnyPanel {
  return table({
    title: "Deployments",
    description: "Deployment of the last answer, and how often it has changed.",
    unit: "none",
    columns: {
      changes: `max by (${ROW}, deployment) (synclag_deployment_info{${SELECTED_TARGETS}} * on (job, instance, ${ROW}, chain) group_left () synclag_deployment_changes_total{${SELECTED_TARGETS}})`,
    },
    headings: {
      protocol: "Protocol",
      variant: "Variant",
      tier: "Tier",
      deployment: "Deployment",
      Value: "Changes",
    },
    sortBy: "Changes",
  })
    .height(10)
    .span(12);
}
