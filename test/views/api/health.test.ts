import { describe, expect, it } from "vitest";
import type { ReferenceReport, Report, TargetReport } from "../../../src/core/model/report.ts";
import { healthJson } from "../../../src/views/api/health.ts";
import {
  MINUTE_MS,
  NOW_MS,
  sampleChainReport,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

const QUERY = { protocol: "lockup", chain: "base", maxLagMs: 10 * MINUTE_MS };

describe("healthJson()", () => {
  it("is healthy while one variant is ok and close, and names it and why", () => {
    const health = healthJson(
      reportOf(multichain({ lagMs: 12_000, preferred: true }), subgraph(lagging(41))),
      QUERY,
    );

    expect(health?.healthy).toBe(true);
    expect(health).toMatchObject({
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
  });

  it("considers only the requested variant, but names the freshest of all", () => {
    const health = healthJson(
      reportOf(multichain({ lagMs: 12_000, preferred: true }), subgraph(lagging(41))),
      { ...QUERY, variant: "subgraph" },
    );

    expect(health?.healthy).toBe(false);
    expect(health).toMatchObject({
      variant: "subgraph",
      freshest: { variant: "multichain" },
      why: "subgraph (production): lagging: 41 min behind",
      targets: [{ variant: "subgraph", healthy: false }],
    });
  });

  it.each([
    { asked: {}, healthy: false, tier: "production" },
    { asked: { variant: "subgraph" }, healthy: false, tier: "production" },
    { asked: { tier: "testing" }, healthy: true, tier: "testing" },
    { asked: { variant: "subgraph", tier: "testing" }, healthy: true, tier: "testing" },
  ])("is healthy=$healthy for $asked where only the testing URL is ok", ({ asked, healthy, tier }) => {
    const report = reportOf(multichain(lagging(41)), subgraph(lagging(41)), testing("subgraph"));

    const health = healthJson(report, { ...QUERY, ...asked });

    expect(health).toMatchObject({ healthy, freshest: { tier } });
    expect(new Set(health?.targets.map((target) => target.tier))).toEqual(new Set([tier]));
  });

  it("considers every tier of a protocol without a production tier on the chain", () => {
    expect(healthJson(reportOf(testing("subgraph")), QUERY)?.healthy).toBe(true);
    expect(healthJson(reportOf(testing("subgraph")), { ...QUERY, tier: "production" })).toBeNull();
  });

  it.each([{ tier: "staging" }, { variant: "ponder" }])(
    "is null for $tier$variant, which is not served",
    (asked) => {
      const report = reportOf(multichain({}), testing("ponder"));

      expect(healthJson(report, { ...QUERY, ...asked })).toBeNull();
    },
  );

  it.each([
    { lagMs: 10 * MINUTE_MS, healthy: true },
    { lagMs: 10 * MINUTE_MS + 1, healthy: false },
  ])("is healthy=$healthy for a lag of $lagMs ms where 600 s are allowed", ({ lagMs, healthy }) => {
    expect(healthJson(reportOf(multichain({ lagMs })), QUERY)?.healthy).toBe(healthy);
  });

  it("is not healthy for a close target that is not ok", () => {
    const health = healthJson(reportOf(multichain({ lagMs: 0, status: "failed" })), QUERY);

    expect(health?.healthy).toBe(false);
  });

  it.each([
    { lastAdvanceMs: NOW_MS - 10 * MINUTE_MS, healthy: true, why: "last advanced 10 min ago" },
    {
      lastAdvanceMs: NOW_MS - 10 * MINUTE_MS - 1,
      healthy: false,
      why: "last advanced 10 min ago, more than 10 min",
    },
    { lastAdvanceMs: null, healthy: false, why: "never seen to advance" },
  ])("goes by the last advance where no reference exists: $why", ({ lastAdvanceMs, healthy, why }) => {
    const health = healthJson(reportWithout(multichain({ lagMs: null, lastAdvanceMs })), QUERY);

    expect(health?.healthy).toBe(healthy);
    expect(health?.judged_by).toBe("advance");
    expect(health?.why).toContain("the chain has no reference");
    expect(health?.why).toContain(why);
  });

  it("gives every reason when nothing is healthy", () => {
    const health = healthJson(
      reportOf(
        multichain({ status: "stalled", detail: "has not advanced for 2 h" }),
        subgraph({ status: "rejected", detail: "the key is missing" }),
      ),
      QUERY,
    );

    expect(health?.why).toBe(
      "multichain (production): stalled: has not advanced for 2 h; subgraph (production): rejected: the key is missing",
    );
  });

  it("names the highest as the freshest when none is preferred, but never a diverged one", () => {
    const health = healthJson(
      reportOf(
        multichain({ status: "diverged", block: 99_000_000 }),
        subgraph({ ...lagging(41), block: 37_000_000 }),
        sampleTargetReport({
          target: sampleTarget({ variant: "ponder" }),
          status: "lagging",
          block: 37_000_001,
        }),
      ),
      QUERY,
    );

    expect(health?.freshest).toMatchObject({ variant: "ponder" });
  });

  it("has no freshest while no height is known", () => {
    const health = healthJson(reportOf(multichain({ status: "unknown", block: null })), QUERY);

    expect(health?.freshest).toBeNull();
  });

  it.each([
    { ...QUERY, protocol: "vesting" },
    { ...QUERY, chain: "solana" },
    { ...QUERY, variant: "ponder" },
  ])("is null for $protocol/$chain/$variant, which does not exist", (question) => {
    expect(healthJson(reportOf(multichain({})), question)).toBeNull();
  });
});

function multichain(overrides: Partial<TargetReport>): TargetReport {
  return sampleTargetReport({ target: sampleTarget({ variant: "multichain" }), ...overrides });
}

function subgraph(overrides: Partial<TargetReport>): TargetReport {
  return sampleTargetReport({ target: sampleTarget({ variant: "subgraph" }), ...overrides });
}

/** Ok, level with the reference, and higher than all others. */
function testing(variant: string): TargetReport {
  const target = sampleTarget({ variant, tier: "testing" });
  return sampleTargetReport({ target, lagMs: 0, block: 38_000_002 });
}

function lagging(minutes: number): Partial<TargetReport> {
  return { status: "lagging", lagMs: minutes * MINUTE_MS, detail: `${minutes} min behind` };
}

function reportOf(...targets: readonly TargetReport[]): Report {
  return withReference({ block: 38_000_002, sources: 3, members: [], opposed: [], timeMs: NOW_MS }, targets);
}

function reportWithout(...targets: readonly TargetReport[]): Report {
  return withReference(null, targets);
}

function withReference(reference: ReferenceReport | null, targets: readonly TargetReport[]): Report {
  return sampleReport({ chains: [sampleChainReport({ reference, targets })] });
}
