import { INSTANCE } from "../promql.ts";
import {
  type Board,
  CHAIN,
  EVENTS,
  PROTOCOL,
  SELECTED_JOBS,
  SELECTED_TARGETS,
  TIER,
  VARIANT,
  variable,
} from "./board.ts";
import {
  type AnyPanel,
  bars,
  DASHED,
  graph,
  headed,
  redBelow,
  stat,
  statusTimeline,
  table,
} from "./panels.ts";

const ROW = "protocol, variant, tier";
const LEGEND = "{{protocol}} {{variant}} {{tier}}";
/** The maximum of a metric for each target. */
const perRow = (metric: string) => `max by (${ROW}) (${metric}{${SELECTED_TARGETS}})`;
const THIS_CHAIN = `${SELECTED_JOBS}, chain=~"$chain"`;

/** One chain: where each indexer is, and whether the chain itself advances. */
export function chainBoard(): Board {
  return {
    uid: "synclag-chain",
    title: "Synclag: chain",
    description: "One chain: heights, lag and gaps, and the reference that they are measured against.",
    variables: [{ ...CHAIN, choice: "one" }, PROTOCOL, TIER, VARIANT],
    page: `/chains/${variable("chain")}`,
    annotations: EVENTS,
    rows: [
      { title: "Now", panels: now() },
      { title: "Behind", panels: lagPanels() },
      { title: "The same data", panels: parity() },
      { title: "The chain and its events", panels: chainAndEvents() },
    ],
  };
}

function now(): readonly AnyPanel[] {
  const count = (status: string) =>
    `sum(max by (${ROW}) (synclag_status{${SELECTED_TARGETS}, status="${status}"}))`;
  return [
    stat(
      "Reference",
      "The corroborated head of the chain. Lag is measured against it.",
      "none",
      `max(synclag_reference_block_number{${THIS_CHAIN}})`,
    ),
    stat(
      "Agreeing sources",
      "Number of indexers and nodes that agree with the reference. With a single source there is no reference, and lag is measured against the clock.",
      "none",
      `max(synclag_reference_sources{${THIS_CHAIN}})`,
      redBelow(2),
    ),
    stat(
      "Block interval",
      "Measured time between two blocks.",
      "s",
      `max(synclag_block_interval_seconds{${THIS_CHAIN}})`,
    ),
    stat(
      "Variants ok",
      "Targets of the selected protocols on this chain that are ok.",
      "none",
      count("ok"),
      redBelow(1),
    ),
    stat(
      "Waiting for the chain",
      "Targets that do not advance because the chain has halted, as an independent node shows.",
      "none",
      count("chain_halted"),
      [[1, "purple"]],
    ),
    stat(
      "In maintenance",
      "Targets in a maintenance window, or that have ended (`until` in chains.yaml). They raise no alert.",
      "none",
      `sum(max by (${ROW}) (synclag_maintenance{${SELECTED_TARGETS}})) or vector(0)`,
    ),
    statusTimeline(
      "Status on $chain",
      "Status of each indexer over time. If all indexers change at once, check the chain first.",
      [perRow("synclag_status_rank"), LEGEND],
    ).height(9),
  ];
}

function lagPanels(): readonly AnyPanel[] {
  const blocks = `synclag_variant_gap_blocks{${SELECTED_TARGETS}}`;
  const uncertainty = `synclag_variant_gap_uncertainty_blocks{${SELECTED_TARGETS}}`;
  const most = (expr: string) => `max by (${ROW}, against) (${expr})`;
  return [
    graph(
      "Behind the reference",
      "Age, at the last poll, of the first block that the target has not indexed; 0 at the reference. Dashed: the thresholds of chains.yaml. No line: unknown.",
      "s",
      [perRow("synclag_lag_seconds"), LEGEND],
      [
        `max by (level) (synclag_threshold_seconds{${SELECTED_TARGETS}, level=~"lagging|critical"})`,
        "threshold: {{level}}",
      ],
    )
      .min(0)
      .overrideByRegexp("threshold: .*", DASHED),
    graph(
      "Gap between variants",
      "Blocks by which a variant is behind the protocol's first variant, both at one instant. Negative: it is ahead. The true gap lies between the thin lines.",
      "none",
      [most(blocks), `${LEGEND} behind {{against}}`],
      [most(`${blocks} + ${uncertainty}`), `${LEGEND} at most`],
      [most(`${blocks} - ${uncertainty}`), `${LEGEND} at least`],
    )
      .overrideByRegexp(".* at (most|least)", [
        { id: "custom.lineWidth", value: 0.5 },
        { id: "custom.hideFrom", value: { legend: true, tooltip: false, viz: false } },
      ])
      .axisCenteredZero(true),
    graph(
      "Heights against the reference",
      "Last indexed block of each target minus the reference. If a line falls at the pace of the chain, the target does not advance. If it makes a large step down, the target re-indexes.",
      "none",
      [
        `max by (${ROW}, chain) (synclag_block_number{${SELECTED_TARGETS}})\n- on (chain) group_left ()\nmax by (chain) (synclag_reference_block_number{${THIS_CHAIN}})`,
        LEGEND,
      ],
    ),
    graph(
      "Since the last advance",
      "Time since each target's height last grew, and the age of its last block. For a target that is polled every 30 minutes, both rise to 30 minutes between two polls.",
      "s",
      [`max by (${ROW}) (time() - synclag_last_advance_timestamp_seconds{${SELECTED_TARGETS}})`, LEGEND],
      [
        `max by (${ROW}) (time() - synclag_block_timestamp_seconds{${SELECTED_TARGETS}})`,
        `${LEGEND} age of its block`,
      ],
    ).min(0),
  ];
}

function parity(): readonly AnyPanel[] {
  const legend = `${LEGEND} against {{against}}: {{probe}}`;
  return [
    graph(
      "Parity between variants",
      "1: the data of two variants were equal at the last compared height, 0: they differed. No line: unknown, or no parity in chains.yaml.",
      "none",
      [`min by (${ROW}, against, probe) (synclag_parity{${SELECTED_TARGETS}})`, legend],
    )
      .min(0)
      .max(1),
    graph(
      "Difference of values",
      "Value of the other variant minus the value of the target, if both are numbers. Positive: the target has less.",
      "none",
      [`max by (${ROW}, against, probe) (synclag_parity_difference{${SELECTED_TARGETS}})`, legend],
    ).axisCenteredZero(true),
  ];
}

function chainAndEvents(): readonly AnyPanel[] {
  const perChain = (metric: string) => [`max by (chain) (${metric}{${THIS_CHAIN}})`, "{{chain}}"] as const;
  return [
    graph(
      "Block interval over time",
      "Measured time between blocks. The longer it is, the more easily indexers keep up.",
      "s",
      perChain("synclag_block_interval_seconds"),
    ).min(0),
    graph(
      "Sources of the reference over time",
      "Number of sources that agree with the reference. Every indexer and every node of the chain can be a source.",
      "none",
      perChain("synclag_reference_sources"),
    ).min(0),
    bars(
      "Steps back",
      "Steps back of heights. `reorg`: small ones, because of a reorg or a gateway that switches between indexers. `reindex`: large ones that last.",
      "none",
      [
        `sum by (${ROW}, kind) (increase(synclag_regressions_total{${SELECTED_TARGETS}}[$__rate_interval]))`,
        `${LEGEND} {{kind}}`,
      ],
    ),
    table(
      "Deployments",
      "Deployment of the last reply, and how often it has changed.",
      {
        changes: `max by (${ROW}, deployment) (synclag_deployment_info{${SELECTED_TARGETS}} * on (${INSTANCE}, ${ROW}, chain) group_left () synclag_deployment_changes_total{${SELECTED_TARGETS}})`,
      },
      {
        ...headed("protocol", "variant", "tier", "deployment"),
        Value: "Changes",
      },
      { unit: "none", sortBy: "Changes" },
    )
      .height(10)
      .span(12),
  ];
}
