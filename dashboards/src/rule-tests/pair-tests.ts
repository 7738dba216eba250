import {
  type Firing,
  fires,
  inMaintenance,
  metric,
  type RuleTest,
  silent,
  statuses,
  target,
} from "./rule-test.ts";

const SUBGRAPH = target("subgraph");
const MULTICHAIN = target("multichain");
const BASE = "synclag-chain?var-chain=base&var-protocol=airdrops";
const PAIR = { protocol: "airdrops", chain: "base", chain_id: "8453" };
const LOST = "SynclagNoVariantOk";
const CRITICAL = [SUBGRAPH, MULTICHAIN].map((labels) =>
  metric("synclag_threshold_seconds", { ...labels, level: "critical" }, 1800),
);

/** Alerts of a protocol on a chain, and of a chain. */
export function pairTests(): readonly RuleTest[] {
  return [...noVariantOk(), ...allVariantsStalled(), ...chainHalted()];
}

function noVariantOk(): readonly RuleTest[] {
  const lost: Firing = {
    severity: "critical",
    labels: PAIR,
    summary: "airdrops on base: no usable variant",
    description:
      "No variant of airdrops on base is ok, and none is merely late or throttled, so there is no variant to move the traffic to. multichain (production): failed, 20m 0s behind. subgraph (production): unreachable.",
    dashboard: BASE,
  };
  return [
    {
      name: "SynclagNoVariantOk fires when the last one is gone, names each, and resolves when one is back",
      series: [
        ...statuses(SUBGRAPH, "ok 5, unreachable 20, ok"),
        ...statuses(MULTICHAIN, "failed"),
        metric("synclag_lag_seconds", MULTICHAIN, 1200),
        ...CRITICAL,
      ],
      expect: [...silent(LOST, "4m", "5m"), fires(LOST, "8m", lost), ...silent(LOST, "32m")],
    },
    {
      name: "SynclagNoVariantOk fires when all are beyond their critical limit",
      series: [
        ...statuses(SUBGRAPH, "lagging"),
        ...statuses(MULTICHAIN, "syncing"),
        metric("synclag_lag_seconds", SUBGRAPH, "1700x9 1900x20"),
        metric("synclag_lag_seconds", MULTICHAIN, 9000),
        ...CRITICAL,
      ],
      expect: [
        ...silent(LOST, "9m"),
        fires(LOST, "13m", {
          ...lost,
          description:
            "No variant of airdrops on base is ok, and none is merely late or throttled, so there is no variant to move the traffic to. multichain (production): syncing, 2h 30m 0s behind. subgraph (production): lagging, 31m 40s behind.",
        }),
      ],
    },
    {
      name: "SynclagNoVariantOk is silent while one is merely late",
      series: [
        ...statuses(SUBGRAPH, "unreachable"),
        ...statuses(MULTICHAIN, "lagging"),
        metric("synclag_lag_seconds", MULTICHAIN, 900),
        ...CRITICAL,
      ],
      expect: silent(LOST, "20m"),
    },
    {
      name: "SynclagNoVariantOk is silent when the chain has halted, when a budget is spent, and when nothing is known",
      series: [
        ...statuses(SUBGRAPH, "chain_halted"),
        ...statuses(MULTICHAIN, "stalled"),
        ...statuses(target("subgraph", { protocol: "lockup" }), "throttled"),
        ...statuses(target("multichain", { protocol: "lockup" }), "unreachable"),
        ...statuses(target("subgraph", { protocol: "flow" }), "unknown"),
        ...statuses(target("multichain", { protocol: "flow" }), "unknown"),
      ],
      expect: silent(LOST, "20m"),
    },
    {
      name: "SynclagNoVariantOk is silent while all are stalled, and fires when one of the two no longer answers",
      series: [
        ...statuses(SUBGRAPH, "stalled 20, unreachable"),
        ...statuses(MULTICHAIN, "stalled"),
        ...CRITICAL,
      ],
      expect: [
        ...silent(LOST, "2m", "10m", "19m"),
        fires(LOST, "22m", {
          ...lost,
          description:
            "No variant of airdrops on base is ok, and none is merely late or throttled, so there is no variant to move the traffic to. multichain (production): stalled. subgraph (production): unreachable.",
        }),
      ],
    },
    {
      name: "SynclagNoVariantOk is silent when all are in maintenance, and fires when only one of them is",
      series: [
        ...statuses(SUBGRAPH, "unreachable"),
        ...statuses(MULTICHAIN, "unreachable"),
        inMaintenance(SUBGRAPH),
        metric("synclag_maintenance", MULTICHAIN, "1x19 0x30"),
        metric("synclag_up", SUBGRAPH, 0),
        metric("synclag_up", MULTICHAIN, 0),
      ],
      expect: [
        ...silent(LOST, "15m"),
        fires(LOST, "25m", {
          ...lost,
          description:
            "No variant of airdrops on base is ok, and none is merely late or throttled, so there is no variant to move the traffic to. multichain (production): unreachable. subgraph (production): unreachable.",
        }),
      ],
    },
  ];
}

function allVariantsStalled(): readonly RuleTest[] {
  const alert = "SynclagAllVariantsStalled";
  const firing: Firing = {
    severity: "critical",
    labels: PAIR,
    summary: "airdrops on base: all 2 responding variants have stopped advancing",
    description:
      "All 2 responding variants of airdrops on base have stopped advancing. No node of the chain is polled, so the chain itself may have halted. multichain (production): stalled. subgraph (production): stalled.",
    dashboard: BASE,
  };
  return [
    {
      name: "SynclagAllVariantsStalled fires, says that a halt cannot be told apart, and resolves",
      series: [
        ...statuses(SUBGRAPH, "ok 5, stalled 20, ok"),
        ...statuses(MULTICHAIN, "ok 5, stalled 30, ok"),
      ],
      expect: [...silent(alert, "5m"), fires(alert, "8m", firing), ...silent(alert, "32m")],
    },
    {
      name: "SynclagAllVariantsStalled says that a node of the chain is asked, too",
      series: [
        ...statuses(SUBGRAPH, "stalled"),
        ...statuses(MULTICHAIN, "stalled"),
        metric("synclag_polls_total", { variant: "rpc", endpoint: "base" }, 7),
      ],
      expect: [
        fires(alert, "8m", {
          ...firing,
          description:
            "All 2 responding variants of airdrops on base have stopped advancing. A node of the chain is polled as well and shows no halt: look for what the variants have in common. multichain (production): stalled. subgraph (production): stalled.",
        }),
      ],
    },
    {
      name: "SynclagAllVariantsStalled is silent while one advances, when the chain has halted, for one alone, and in maintenance",
      series: [
        ...statuses(SUBGRAPH, "stalled"),
        ...statuses(MULTICHAIN, "stalled"),
        ...statuses(target("subgraph", { tier: "testing" }), "lagging"),
        ...statuses(target("subgraph", { protocol: "lockup" }), "chain_halted"),
        ...statuses(target("multichain", { protocol: "lockup" }), "chain_halted"),
        ...statuses(target("subgraph", { protocol: "flow" }), "stalled"),
        ...statuses(target("multichain", { protocol: "flow" }), "unreachable"),
        ...statuses(target("subgraph", { protocol: "merkle" }), "stalled"),
        ...statuses(target("multichain", { protocol: "merkle" }), "stalled"),
        inMaintenance(target("subgraph", { protocol: "merkle" })),
        inMaintenance(target("multichain", { protocol: "merkle" })),
      ],
      expect: silent(alert, "20m"),
    },
  ];
}

function chainHalted(): readonly RuleTest[] {
  const alert = "SynclagChainHalted";
  const blamed = ["SynclagIndexerStalled", LOST, "SynclagAllVariantsStalled", "SynclagIndexerLagging"];
  return [
    {
      name: "SynclagChainHalted fires once for the chain, blames no indexer, and resolves",
      series: [
        ...statuses(SUBGRAPH, "ok 5, chain_halted 20, ok"),
        ...statuses(MULTICHAIN, "ok 5, chain_halted 20, ok"),
        ...statuses(target("multichain", { protocol: "lockup" }), "ok 5, chain_halted 20, ok"),
      ],
      expect: [
        ...silent(alert, "6m"),
        fires(alert, "8m", {
          severity: "warning",
          labels: { chain: "base", chain_id: "8453" },
          summary: "Chain base has halted",
          description:
            "An independent node shows that chain base (id 8453) produces no blocks; 3 indexers are waiting for it and are not at fault.",
          dashboard: "synclag-chain?var-chain=base",
        }),
        ...blamed.flatMap((name) => silent(name, "15m")),
        ...silent(alert, "32m"),
      ],
    },
    {
      name: "SynclagChainHalted is silent for an indexer that stalls, and for a chain in maintenance",
      series: [
        ...statuses(SUBGRAPH, "stalled"),
        metric("synclag_up", SUBGRAPH, 1),
        ...statuses(target("multichain", { chain: "sepolia" }), "chain_halted"),
        inMaintenance(target("multichain", { chain: "sepolia" })),
      ],
      expect: silent(alert, "20m"),
    },
  ];
}
