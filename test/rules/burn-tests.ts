import { fleet, target } from "./fleet-series.ts";
import { metric, pages, type RuleTest } from "./rule-test.ts";

const BURN = "SynclagFreshnessErrorBudgetBurn";
const AIRDROPS = { protocol: "airdrops" };

/** The one that looks back on three days. */
export function slowBurnTests(): readonly RuleTest[] {
  return [
    {
      name: `${BURN} is a ticket for what adds up over days, and resolves`,
      series: tenChains({ stale: 1, from: 3700, minutes: 600 }, 4_800),
      fires: {},
      queries: ["3675m", "4410m", "4760m"].map((at) => ({
        ...burnAt(at),
        samples: at === "4410m" ? [{ labels: '{protocol="airdrops", severity="warning"}', value: 1 }] : [],
      })),
    },
  ];
}

/** Only these: what is stale for hours has other alerts. */
function burnAt(at: string) {
  const expr = `count by (protocol, severity) (ALERTS{alertname="${BURN}", alertstate="firing"})`;
  return { expr, at, samples: [] as { readonly labels: string; readonly value: number }[] };
}

const FAST = [{ labels: '{protocol="airdrops", severity="critical"}', value: 1 }];

/** Ten chains of two variants; on `stale` of them both are stalled, from `from` for `minutes`. */
function tenChains(
  { stale, from, minutes }: { stale: number; from: number; minutes: number },
  length: number,
) {
  return fleet(
    length,
    ...Array.from({ length: 10 }, (_, index) => {
      const chain = { chain: `chain-${index}`, chain_id: String(index) };
      const timeline = index < stale ? `ok ${from}, stalled ${minutes}, ok` : "ok";
      return ["multichain", "subgraph"].map((variant) => ({ labels: target(variant, chain), timeline }));
    }).flat(),
  );
}

/** The alert that looks back on hours. */
export function fastBurnTests(): readonly RuleTest[] {
  const others = Array.from({ length: 4 }, (_, index) => {
    const chain = { chain: `chain-${index}`, chain_id: String(index) };
    return [
      { labels: target("subgraph", { ...chain, protocol: "lockup" }), timeline: "stalled" },
      { labels: target("multichain", { ...chain, protocol: "lockup" }), timeline: "ok" },
      {
        labels: target("subgraph", { ...chain, protocol: "flow" }),
        timeline: "stalled",
        maintenance: true,
      },
      { labels: target("subgraph", { ...chain, protocol: "merkle" }), timeline: "chain_halted" },
    ];
  }).flat();
  const down = Array.from({ length: 5 }, (_, index) =>
    pages("SynclagNoVariantOk", { ...AIRDROPS, chain: `chain-${index}` }),
  );
  return [
    {
      name: `${BURN} pages for half of the chains within the hour, whatever a testing tier is, and resolves soon after`,
      series: [
        ...tenChains({ stale: 5, from: 120, minutes: 30 }, 200),
        ...Array.from({ length: 10 }, (_, index) => {
          const chain = { tier: "testing", chain: `chain-${index}`, chain_id: String(index) };
          return metric("synclag_status", { ...target("subgraph", chain), status: "ok" }, 1);
        }),
      ],
      fires: { "147m": [...down, pages(BURN, AIRDROPS, { value: "77.78%" })] },
      queries: [burnAt("112m"), burnAt("168m")],
    },
    {
      name: `${BURN} pages for one chain of ten that is stale for hours`,
      series: tenChains({ stale: 1, from: 370, minutes: 300 }, 700),
      fires: {},
      queries: [burnAt("385m"), { ...burnAt("497m"), samples: FAST }],
    },
    {
      name: `${BURN} is silent for one chain for ten minutes, for one variant of two, and in maintenance`,
      series: [...tenChains({ stale: 1, from: 400, minutes: 10 }, 500), ...fleet(500, ...others)],
      fires: {},
      queries: ["98m", "406m", "420m", "483m"].map(burnAt),
    },
    {
      name: `${BURN} is silent for a Synclag that has just been installed: it has no hour to look back on`,
      series: tenChains({ stale: 5, from: 1, minutes: 40 }, 60),
      fires: {},
      queries: [burnAt("35m")],
    },
  ];
}
