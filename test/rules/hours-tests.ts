import { fleet, target } from "./fleet-series.ts";
import { metric, pages, type RuleTest, ticket } from "./rule-test.ts";
import { restartingTests } from "./synclag-tests.ts";

const BURN = "SynclagFreshnessErrorBudgetBurn";
const AIRDROPS = { protocol: "airdrops" };

/** The alerts that look back on hours. */
export function hoursTests(): readonly RuleTest[] {
  return [...fastBurn(), ...budgets(), ...targetsRemoved(), ...restartingTests()];
}

/** The alert that looks back on three days. */
export function daysTests(): readonly RuleTest[] {
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

function fastBurn(): readonly RuleTest[] {
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

function budgets(): readonly RuleTest[] {
  const studio = {
    ...{ budget: "studio", protocol: "airdrops", variant: "subgraph", tier: "testing", endpoint: "base" },
  };
  const gateway = { budget: "gateway", endpoint: "shared" };
  return [
    {
      name: "A budget that runs out is a ticket hours before, then when it is used up, and both resolve",
      series: [
        metric("synclag_budget_used", studio, "0x119 0+10x300 3000x29 0x400"),
        metric("synclag_budget_remaining", studio, 0),
        metric("synclag_budget_limit", studio, 3000),
      ],
      fires: {
        "105m": [],
        "399m": [ticket("SynclagBudgetLow", studio)],
        "434m": [ticket("SynclagBudgetExhausted", { ...studio, chain: "base" }, {})],
        "805m": [],
      },
    },
    {
      name: "A shared budget is named without blanks, and belongs to no chain",
      series: [
        metric("synclag_budget_used", { ...gateway, protocol: "", variant: "", tier: "" }, 100000),
        metric("synclag_budget_limit", { ...gateway, protocol: "", variant: "", tier: "" }, 100000),
      ],
      fires: { "21m": [ticket("SynclagBudgetExhausted", gateway, {})] },
    },
    {
      name: "A budget is neither low nor used up by the nine tenths that `auto` plans with, nor by a month of them",
      series: [
        metric("synclag_budget_used", studio, "1335+1.875x720 2700x700"),
        metric("synclag_budget_limit", studio, 3000),
        metric("synclag_budget_used", gateway, "10000+2.1x1400"),
        metric("synclag_budget_remaining", gateway, 0),
        metric("synclag_budget_limit", gateway, 100000),
      ],
      fires: { "357m": [], "462m": [], "742m": [], "798m": [] },
    },
  ];
}

/** The alert that looks two hours back. */
function targetsRemoved(): readonly RuleTest[] {
  const alert = "SynclagTargetsRemoved";
  const on = (chain: string) => target("subgraph", { chain, chain_id: String(chain.length) });
  const removed = ["form", "mode"].map((chain) => metric("synclag_up", on(chain), "1x89 _x300"));
  const indexer = { protocol: "airdrops", variant: "subgraph", tier: "production" };
  return [
    {
      name: `${alert} misses what was monitored an hour ago, and forgets it in another two`,
      series: [...removed, metric("synclag_up", on("base"), 1)],
      fires: { "77m": [], "119m": [ticket(alert, indexer, { value: "2 chains" })], "259m": [] },
    },
    {
      name: `${alert} is silent while Synclag is down, and for a target that fails`,
      series: ["base", "form"].map((chain) => metric("synclag_up", on(chain), "1x89 _x30 1x100")),
      fires: { "77m": [], "112m": [], "126m": [], "182m": [] },
    },
  ];
}
