import { fires, inMaintenance, metric, type RuleTest, silent, statuses, target } from "./rule-test.ts";

const FAST = "SynclagFreshnessBurnsFast";
const SLOW = "SynclagFreshnessBurnsSlowly";
const FLEET = "synclag-fleet?var-protocol=airdrops";

/** The alerts that look back on hours: the fast one of the freshness objective, and those of budgets. */
export function hoursTests(): readonly RuleTest[] {
  return [...fastBurn(), ...budgets()];
}

/** The alert that looks back on three days. */
export function daysTests(): readonly RuleTest[] {
  return [slowBurn()];
}

/** Ten chains of two variants; on `stale` of them both are stalled, from `from` for `minutes`. */
function fleet({ stale, from, minutes }: { stale: number; from: number; minutes: number }) {
  return Array.from({ length: 10 }, (_, index) => {
    const chain = { chain: `chain-${index}`, chain_id: String(index) };
    const timeline = index < stale ? `ok ${from}, stalled ${minutes}, ok` : "ok";
    return ["multichain", "subgraph"].flatMap((variant) => statuses(target(variant, chain), timeline));
  }).flat();
}

function description(share: string, pace: string): string {
  return `Only ${share} of the chain time of airdrops was fresh. The objective is 99.5 %. ${pace} The dashboard shows which chains and variants are behind, by how much, and which variant is still fresh.`;
}

function fastBurn(): readonly RuleTest[] {
  const fast = (share: string) => ({
    severity: "critical",
    labels: { protocol: "airdrops" },
    summary: "airdrops: the freshness objective is burning fast",
    description: description(share, "At this rate the error budget of thirty days is used up within days."),
    dashboard: FLEET,
  });
  return [
    {
      name: "SynclagFreshnessBurnsFast fires for half of the chains within the hour, and resolves soon after",
      series: fleet({ stale: 5, from: 120, minutes: 30 }),
      expect: [...silent(FAST, "118m"), fires(FAST, "149m", fast("77.78%")), ...silent(FAST, "165m")],
    },
    {
      name: "SynclagFreshnessBurnsFast takes no testing URL for something that users are served from",
      series: [
        ...fleet({ stale: 5, from: 120, minutes: 30 }),
        ...Array.from({ length: 10 }, (_, index) => {
          const chain = { tier: "testing", chain: `chain-${index}`, chain_id: String(index) };
          return statuses(target("subgraph", chain), "ok");
        }).flat(),
      ],
      expect: [fires(FAST, "149m", fast("77.78%"))],
    },
    {
      name: "SynclagFreshnessBurnsFast fires for one chain of ten that is stale for hours",
      series: fleet({ stale: 1, from: 370, minutes: 300 }),
      expect: [...silent(FAST, "390m"), fires(FAST, "500m", fast("90%"))],
    },
    {
      name: "SynclagFreshnessBurnsFast is silent for one chain for ten minutes, for one variant of two, and in maintenance",
      series: [
        ...fleet({ stale: 1, from: 400, minutes: 10 }),
        ...Array.from({ length: 4 }, (_, index) => {
          const chain = { protocol: "lockup", chain: `chain-${index}`, chain_id: String(index) };
          return [
            ...statuses(target("subgraph", chain), "stalled"),
            ...statuses(target("multichain", chain), "ok"),
            ...statuses(target("subgraph", { ...chain, protocol: "flow" }), "stalled"),
            inMaintenance(target("subgraph", { ...chain, protocol: "flow" })),
            ...statuses(target("subgraph", { ...chain, protocol: "merkle" }), "chain_halted"),
          ];
        }).flat(),
      ],
      expect: [...silent(FAST, "100m", "405m", "420m", "480m"), ...silent(SLOW, "480m")],
    },
    {
      name: "Neither fires for a Synclag that has just been installed: it has no hour to look back on",
      series: fleet({ stale: 5, from: 1, minutes: 40 }),
      expect: [...silent(FAST, "35m"), ...silent(SLOW, "35m")],
    },
  ];
}

function slowBurn(): RuleTest {
  return {
    name: "SynclagFreshnessBurnsSlowly fires for what adds up over days, pages nobody, and resolves",
    series: fleet({ stale: 1, from: 3700, minutes: 600 }),
    expect: [
      ...silent(SLOW, "3700m"),
      fires(SLOW, "4400m", {
        severity: "warning",
        labels: { protocol: "airdrops" },
        summary: "airdrops: the freshness objective is at risk",
        description: description("98.63%", "At this rate the objective of thirty days will be missed."),
        dashboard: FLEET,
      }),
      ...silent(SLOW, "4690m"),
    ],
  };
}

function budgets(): readonly RuleTest[] {
  const studio = {
    budget: "studio",
    protocol: "airdrops",
    variant: "subgraph",
    tier: "testing",
    endpoint: "base",
  };
  const gateway = { budget: "gateway", protocol: "", variant: "", tier: "", endpoint: "shared" };
  const dashboard = "synclag-endpoint?var-protocol=airdrops&var-variant=subgraph";
  const NAME = "Budget studio (base airdrops subgraph testing)";
  return [
    {
      name: "A budget that runs out is told hours before, then when it is spent, and both resolve",
      series: [
        metric("synclag_budget_used", studio, "0x119 0+10x300 3000x29 0x400"),
        metric("synclag_budget_remaining", studio, 0),
        metric("synclag_budget_limit", studio, 3000),
      ],
      expect: [
        ...silent("SynclagBudgetLow", "110m"),
        fires("SynclagBudgetLow", "400m", {
          severity: "warning",
          labels: studio,
          summary: `${NAME} is nearly used up`,
          description: `${NAME} has 7% left; at the rate of the last six hours it will be nearly or fully used up in two hours. Its endpoints are then no longer polled, and how far they are behind is not known. The dashboard shows which variants are still fresh.`,
          dashboard,
        }),
        ...silent("SynclagBudgetExhausted", "400m"),
        fires("SynclagBudgetExhausted", "430m", {
          severity: "warning",
          labels: { ...studio, chain: "base" },
          summary: `${NAME} is used up`,
          description: `${NAME} is used up: its endpoints are not polled until its window moves on, so how far they are behind is not known. Other variants of the protocol are still monitored; the dashboard shows which of them is fresh.`,
          dashboard,
        }),
        ...silent("SynclagBudgetExhausted", "470m"),
        ...silent("SynclagBudgetLow", "800m"),
      ],
    },
    {
      name: "A shared budget is named without blanks, and belongs to no chain",
      series: [
        metric("synclag_budget_used", gateway, 100000),
        metric("synclag_budget_limit", gateway, 100000),
      ],
      expect: [
        fires("SynclagBudgetExhausted", "21m", {
          severity: "warning",
          labels: { budget: "gateway", endpoint: "shared" },
          summary: "Budget gateway (shared) is used up",
          description:
            "Budget gateway (shared) is used up: its endpoints are not polled until its window moves on, so how far they are behind is not known. Other variants of the protocol are still monitored; the dashboard shows which of them is fresh.",
          dashboard: "synclag-endpoint?var-protocol=&var-variant=",
        }),
      ],
    },
    {
      name: "A budget is neither low nor spent by the nine tenths that `auto` plans with, nor by a month of them",
      series: [
        metric("synclag_budget_used", studio, "1335+1.875x720 2700x700"),
        metric("synclag_budget_limit", studio, 3000),
        metric("synclag_budget_used", gateway, "10000+2.1x1400"),
        metric("synclag_budget_remaining", gateway, 0),
        metric("synclag_budget_limit", gateway, 100000),
      ],
      expect: ["SynclagBudgetLow", "SynclagBudgetExhausted"].flatMap((alert) =>
        silent(alert, "6h", "460m", "740m", "800m"),
      ),
    },
  ];
}
