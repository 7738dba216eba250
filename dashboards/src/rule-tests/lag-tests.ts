import {
  fires,
  inMaintenance,
  metric,
  preferred,
  type RuleTest,
  silent,
  statuses,
  target,
} from "./rule-test.ts";

const SUBGRAPH = target("subgraph");
const STUDIO = target("subgraph", { tier: "testing" });
const MULTICHAIN = target("multichain");
const BASE = "synclag-chain?var-chain=base&var-protocol=airdrops";
const NAME = "airdrops on base: subgraph (production)";
const FRESHEST = "Freshest: multichain (production).";
const LIMITS = [SUBGRAPH, STUDIO].flatMap((labels) => [
  metric("synclag_threshold_seconds", { ...labels, level: "lagging" }, 600),
  metric("synclag_threshold_seconds", { ...labels, level: "critical" }, 1800),
]);
const HEALTHY = [...statuses(MULTICHAIN, "ok"), preferred(MULTICHAIN)];

/** Alerts of what advances too slowly, and of variants that differ. */
export function lagTests(): readonly RuleTest[] {
  return [...lagging(), ...variantsApart()];
}

function lagging(): readonly RuleTest[] {
  const far = (severity: string, labels: typeof SUBGRAPH) => ({
    severity,
    labels: { ...labels },
    summary: `airdrops on base: subgraph (${labels.tier}) is 33m 20s behind`,
    description: `airdrops on base: subgraph (${labels.tier}) is advancing but 33m 20s behind its chain, over the critical threshold of chains.yaml. ${FRESHEST}`,
    dashboard: BASE,
  });
  return [
    {
      name: "A lag beyond the first limit is a ticket, beyond the second it pages, and both resolve",
      series: [
        ...statuses(SUBGRAPH, "ok 5, lagging 25, ok"),
        metric("synclag_lag_seconds", SUBGRAPH, "5x4 900x9 2000x14 5x60"),
        ...LIMITS,
        ...HEALTHY,
      ],
      expect: [
        ...silent("SynclagIndexerLagging", "8m"),
        fires("SynclagIndexerLagging", "12m", {
          severity: "warning",
          labels: { ...SUBGRAPH },
          summary: `${NAME} is 15m 0s behind`,
          description: `${NAME} is advancing but 15m 0s behind its chain, over the lagging threshold of chains.yaml. ${FRESHEST}`,
          dashboard: BASE,
        }),
        ...silent("SynclagIndexerFarBehind", "12m", "18m"),
        fires("SynclagIndexerFarBehind", "22m", far("critical", SUBGRAPH)),
        ...silent("SynclagNoVariantOk", "22m"),
        ...silent("SynclagIndexerLagging", "40m"),
        ...silent("SynclagIndexerFarBehind", "40m"),
      ],
    },
    {
      name: "A lag of a tier that no user is served from opens a ticket, however long",
      series: [
        ...statuses(STUDIO, "lagging 25, ok"),
        metric("synclag_lag_seconds", STUDIO, 2000),
        ...LIMITS,
        ...HEALTHY,
      ],
      expect: [
        fires("SynclagIndexerFarBehind", "24m", far("warning", STUDIO)),
        ...silent("SynclagIndexerFarBehind", "40m"),
      ],
    },
    {
      name: "What fills its past, is in maintenance, or is within a limit that chains.yaml has raised, does not lag",
      series: [
        ...statuses(SUBGRAPH, "syncing"),
        metric("synclag_lag_seconds", SUBGRAPH, 100000),
        ...statuses(STUDIO, "lagging"),
        metric("synclag_lag_seconds", STUDIO, 2000),
        inMaintenance(STUDIO),
        ...statuses(target("multichain", { chain: "sepolia", chain_id: "11155111" }), "ok"),
        metric("synclag_lag_seconds", target("multichain", { chain: "sepolia", chain_id: "11155111" }), 1500),
        ...LIMITS,
      ],
      expect: [...silent("SynclagIndexerLagging", "20m"), ...silent("SynclagIndexerFarBehind", "20m")],
    },
  ];
}

/** The alert that looks an hour back and four ahead. */
export function fallingBehindTests(): readonly RuleTest[] {
  const alert = "SynclagIndexerFallingBehind";
  return [
    {
      name: "SynclagIndexerFallingBehind tells of a lag that grows for long, before it is one, and resolves",
      series: [
        ...statuses(SUBGRAPH, "ok"),
        metric("synclag_lag_seconds", SUBGRAPH, "10x30 10+3x150 5x200"),
        ...LIMITS,
        ...HEALTHY,
      ],
      expect: [
        ...silent(alert, "60m"),
        fires(alert, "147m", {
          severity: "warning",
          labels: { ...SUBGRAPH },
          summary: `${NAME} is falling behind`,
          description: `${NAME} is 5m 58s behind, and its lag has grown steadily for an hour: at this rate it will exceed the lagging threshold within four hours. ${FRESHEST}`,
          dashboard: BASE,
        }),
        ...silent(alert, "195m"),
      ],
    },
    {
      name: "SynclagIndexerFallingBehind is silent for a wobble, a step, a lag that shrinks, and one that grows little",
      series: [
        ...["subgraph", "multichain", "a", "b"].flatMap((variant) => statuses(target(variant), "ok")),
        metric(
          "synclag_lag_seconds",
          SUBGRAPH,
          Array.from({ length: 60 }, (_, index) => `${index % 2 === 0 ? 20 : 200}x4`).join(" "),
        ),
        metric("synclag_lag_seconds", MULTICHAIN, "5x99 500x200"),
        metric("synclag_lag_seconds", target("a"), "590-2x280"),
        metric("synclag_lag_seconds", target("b"), "160+0.5x280"),
        ...["subgraph", "multichain", "a", "b"].map((variant) =>
          metric("synclag_threshold_seconds", { ...target(variant), level: "lagging" }, 600),
        ),
      ],
      expect: silent(alert, "70m", "120m", "135m", "165m", "200m", "250m"),
    },
  ];
}

function variantsApart(): readonly RuleTest[] {
  const alert = "SynclagVariantsApart";
  const gap = { ...SUBGRAPH, against: "multichain" };
  return [
    {
      name: "SynclagVariantsApart tells when two variants that are both ok show different data, whichever is ahead",
      series: [
        ...statuses(SUBGRAPH, "ok"),
        metric("synclag_variant_gap_seconds", gap, "3x4 -420x24 3x60"),
        metric("synclag_lag_seconds", SUBGRAPH, 2),
        ...LIMITS,
        ...HEALTHY,
      ],
      expect: [
        ...silent(alert, "12m"),
        fires(alert, "20m", {
          severity: "warning",
          labels: { ...SUBGRAPH, against: "multichain" },
          summary: `${NAME} and multichain are 7m 0s apart`,
          description: `${NAME} and the variant multichain differ by 7m 0s of chain time although both are within their thresholds, so users see different data depending on the variant. It is 2s behind. ${FRESHEST}`,
          dashboard: BASE,
        }),
        ...silent(alert, "45m"),
      ],
    },
    {
      name: "SynclagVariantsApart is silent where one of the two has an alert of its own",
      series: [
        ...statuses(SUBGRAPH, "ok"),
        ...statuses(MULTICHAIN, "stalled"),
        metric("synclag_variant_gap_seconds", gap, -4000),
        ...statuses(STUDIO, "lagging"),
        metric("synclag_variant_gap_seconds", { ...STUDIO, against: "multichain" }, 4000),
        ...LIMITS,
      ],
      expect: silent(alert, "20m"),
    },
    {
      name: "SynclagVariantsApart is silent within half the limit, and in maintenance",
      series: [
        ...statuses(SUBGRAPH, "ok"),
        ...statuses(MULTICHAIN, "ok"),
        ...statuses(STUDIO, "ok"),
        metric("synclag_variant_gap_seconds", gap, 290),
        metric("synclag_variant_gap_seconds", { ...STUDIO, against: "multichain" }, 500),
        inMaintenance(STUDIO),
        ...LIMITS,
      ],
      expect: silent(alert, "20m"),
    },
  ];
}
