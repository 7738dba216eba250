import { describe, expect, it } from "vitest";
import type { BudgetReport, ChainReport, Report, TargetReport } from "../../../src/core/model/report.ts";
import { isoTime } from "../../../src/core/model/text.ts";
import { healthJson } from "../../../src/views/api/health.ts";
import { filterByWords, keepTargets, selectTargets } from "../../../src/views/api/selection.ts";
import { fleetReport } from "../fleet-report.ts";
import {
  MINUTE_MS,
  NOW_MS,
  sampleBudget,
  sampleChain,
  sampleChainReport,
  sampleGap,
  sampleParity,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

const QUERY = { protocol: "lockup", chain: "base", maxLagMs: 10 * MINUTE_MS };

describe("filterByWords()", () => {
  it("finds every word in the names, the id, the status and the reason", () => {
    const json = fleetReport();
    const queries = {
      "lockup/base/subgraph": 4,
      "  LOCKUP   stalled ": 1,
      "84532": 6,
      network: 6,
      testnet: 12,
      indexing_error: 1,
      solana: 0,
      "  ": 48,
    };

    const found = Object.keys(queries).map((query) => [query, filterByWords(json, query).targets.length]);

    expect(Object.fromEntries(found)).toEqual(queries);
    expect(filterByWords(json, "tangle").chains.map(({ slug }) => slug)).toEqual(["tangle"]);
  });
});

describe("keepTargets()", () => {
  it("keeps of every list only what concerns the pair, and shared budgets", () => {
    const report = twoByTwo();
    const filtered = keepTargets(
      report,
      selectTargets(report.targets, { protocol: "lockup", chain: "base" }),
    );

    expect(filtered.chains.map(({ slug }) => slug)).toEqual(["base"]);
    expect(filtered.targets).toMatchObject([{ protocol: "lockup", chain: "base" }]);
    expect(filtered.gaps).toMatchObject([{ protocol: "lockup", chain: "base" }]);
    expect(filtered.incidents).toMatchObject([
      { subject: "a.example", targets: ["lockup/multichain/production/base"] },
    ]);
    expect(filtered.skipped).toMatchObject([{ protocol: "lockup" }]);
    expect(filtered.budgets.map(({ endpoint }) => endpoint)).toEqual([
      null,
      "lockup/multichain/production/all",
      "lockup/multichain/production/base",
    ]);
  });

  it("keeps parity if either of the two targets is selected", () => {
    const targets = ["multichain", "subgraph", "ponder"].map((variant) => of(variant));
    const json = sampleReport({ chains: [sampleChainReport({ targets, parity: [sampleParity()] })] });

    const kept = ["subgraph", "multichain", "ponder"].map(
      (variant) => filterByWords(json, variant).parity.length,
    );

    expect(kept).toEqual([1, 1, 0]);
  });
});

describe("healthJson()", () => {
  it("is healthy while one variant is ok and close, with its name and the reason", () => {
    const report = reportOf(
      of("multichain", { lag_seconds: 12, preferred: true }),
      of("subgraph", lagging(41)),
    );

    expect(healthJson(report, QUERY)).toMatchObject({
      generated_at: "2026-12-01T03:12:44.000Z",
      protocol: "lockup",
      chain: "base",
      variant: null,
      max_lag_seconds: 600,
      healthy: true,
      judged_by: "lag",
      freshest: { variant: "multichain", tier: "production", status: "ok", lag_seconds: 12 },
      why: "multichain (production): 12 s behind the reference",
    });
    expect(healthJson(report, { ...QUERY, variant: "subgraph" })).toMatchObject({
      healthy: false,
      variant: "subgraph",
      freshest: { variant: "multichain" },
      why: "subgraph (production): lagging: 41 min behind",
      targets: [{ variant: "subgraph", healthy: false }],
    });
  });

  it("considers the production tier alone, unless there is none or another is asked for", () => {
    const report = reportOf(of("multichain", lagging(41)), of("subgraph", lagging(41)), testing("subgraph"));
    const ask = (asked: object, of = report) => {
      const health = healthJson(of, { ...QUERY, ...asked });
      return health && [health.healthy, ...new Set(health.targets.map(({ tier }) => tier))];
    };

    expect([
      ask({}),
      ask({ variant: "subgraph" }),
      ask({ tier: "testing" }),
      ask({ variant: "subgraph", tier: "testing" }),
      ask({}, reportOf(testing("subgraph"))),
      ask({ tier: "production" }, reportOf(testing("subgraph"))),
      ask({ variant: "ponder" }, reportOf(of("multichain"), testing("ponder"))),
    ]).toEqual([
      [false, "production"],
      [false, "production"],
      [true, "testing"],
      [true, "testing"],
      [true, "testing"],
      null,
      null,
    ]);
  });

  it("uses the last advance without a reference", () => {
    const judge = (advancedMs: number | null) => {
      const advanced = advancedMs === null ? null : isoTime(advancedMs);
      const targets = [of("multichain", { lag_seconds: null, last_advance: advanced })];
      return healthJson(sampleReport({ chains: [sampleChainReport({ reference: null, targets })] }), QUERY);
    };

    expect([judge(NOW_MS - 10 * MINUTE_MS), judge(NOW_MS - 10 * MINUTE_MS - 1), judge(null)]).toMatchObject([
      { judged_by: "advance", healthy: true, why: expect.stringContaining("last advanced 10 min ago") },
      { healthy: false, why: expect.stringContaining("last advanced 10 min ago, more than 10 min") },
      { healthy: false, why: expect.stringContaining("the chain has no reference") },
    ]);
    expect(judge(null)?.why).toContain("never seen to advance");
  });

  it("names the highest as the freshest when none is preferred, but never a diverged one", () => {
    const freshest = (...targets: readonly TargetReport[]) =>
      healthJson(reportOf(...targets), QUERY)?.freshest?.variant ?? null;

    expect([
      freshest(
        of("multichain", { status: "diverged", block_number: 99_000_000 }),
        of("subgraph", { ...lagging(41), block_number: 37_000_000 }),
        of("ponder", { status: "lagging", block_number: 37_000_001 }),
      ),
      freshest(of("multichain", { status: "unknown", block_number: null })),
    ]).toEqual(["ponder", null]);
  });

  it("with parity=equal asks for data that are not known to differ", () => {
    const equal = sampleParity({ result: "equal" });
    const unknown = sampleParity({ result: "unknown", block: null, since: null });
    const healthyOf = (parity: ChainReport["parity"], wanted?: "equal") => {
      const targets = ["multichain", "subgraph", "ponder"].map((variant) => of(variant));
      const report = sampleReport({ chains: [sampleChainReport({ targets, parity })] });
      return targets
        .map(({ variant }) => variant)
        .filter((variant) => healthJson(report, { ...QUERY, variant, parity: wanted })?.healthy);
    };

    expect(healthyOf([sampleParity()], "equal")).toEqual(["ponder"]);
    expect(healthyOf([sampleParity({ odd_key: of("subgraph").key })], "equal")).toEqual([
      "multichain",
      "ponder",
    ]);
    expect(healthyOf([equal], "equal")).toEqual(["multichain", "subgraph", "ponder"]);
    expect(healthyOf([unknown], "equal")).toEqual(["multichain", "subgraph", "ponder"]);
    expect(healthyOf([sampleParity()])).toEqual(["multichain", "subgraph", "ponder"]);
  });
});

function of(variant: string, overrides: Partial<TargetReport> = {}): TargetReport {
  return sampleTargetReport({ target: sampleTarget({ variant }), ...overrides });
}

/** Ok, level with the reference, and higher than all others. */
function testing(variant: string): TargetReport {
  const target = sampleTarget({ variant, tier: "testing" });
  return sampleTargetReport({ target, lag_seconds: 0, block_number: 38_000_002 });
}

function lagging(minutes: number): Partial<TargetReport> {
  return { status: "lagging", lag_seconds: minutes * 60, detail: `${minutes} min behind` };
}

function reportOf(...targets: readonly TargetReport[]): Report {
  return sampleReport({ chains: [sampleChainReport({ targets })] });
}

function twoByTwo(): Report {
  const chains = ["base", "sepolia"].map((slug) =>
    sampleChainReport({
      chain: sampleChain({ slug }),
      targets: ["airdrops", "lockup"].map((protocol) =>
        sampleTargetReport({ target: sampleTarget({ protocol, chain: slug }) }),
      ),
      gaps: ["airdrops", "lockup"].map((protocol) =>
        sampleGap({ target: sampleTarget({ protocol, chain: slug }) }),
      ),
    }),
  );
  const endpoints = [
    null,
    "lockup/multichain/production/all",
    "lockup/multichain/production/base",
    "lockup/multichain/production/sepolia",
    "lockup/subgraph/production/base",
    "airdrops/multichain/production/all",
  ];
  return sampleReport({
    chains,
    incidents: [
      incident("a.example", ["lockup/multichain/production/base", "airdrops/multichain/production/base"]),
      incident("b.example", ["lockup/multichain/production/sepolia"]),
    ],
    budgets: endpoints.map(budget),
    skipped: ["airdrops", "lockup"].map((protocol) => ({
      protocol,
      variant: "subgraph",
      tier: "production",
      why: "THEGRAPH_API_KEY is not set",
    })),
  });
}

function incident(subject: string, targets: readonly string[]) {
  return { scope: "host", subject, since: isoTime(NOW_MS), detail: "It times out", targets } as const;
}

function budget(key: string | null): BudgetReport {
  return sampleBudget({ endpoint: key });
}
