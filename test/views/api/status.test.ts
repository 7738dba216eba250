import { describe, expect, it } from "vitest";
import { statusJson } from "../../../src/views/api/status.ts";
import {
  NOW_MS,
  sampleChain,
  sampleChainReport,
  sampleGap,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

describe("statusJson()", () => {
  it("gives a target's numbers as numbers and its times as ISO 8601", () => {
    const json = statusJson(sampleReport());

    expect(json.generated_at).toBe("2026-12-01T03:12:44.000Z");
    expect(json.targets).toEqual([
      {
        protocol: "lockup",
        variant: "multichain",
        tier: "production",
        chain: "base",
        chain_id: 8453,
        status: "ok",
        reason: null,
        up: true,
        block_number: 38_000_000,
        block_timestamp: "2026-12-01T03:12:38.000Z",
        lag_blocks: 2,
        lag_seconds: 4,
        lag_extrapolated: false,
        last_success: "2026-12-01T03:12:42.000Z",
        last_advance: "2026-12-01T03:12:42.000Z",
        maintenance: false,
        detail: "4 s behind the reference",
        explorer: null,
      },
    ]);
  });

  it("gives null, never 0, for what is unknown", () => {
    const unknown = sampleTargetReport({
      status: "unreachable",
      reason: "timeout",
      block: null,
      blockTimestampSec: null,
      lagBlocks: null,
      lagMs: null,
      lastSuccessMs: null,
      lastAdvanceMs: null,
    });
    const chain = sampleChainReport({
      chain: sampleChain({ blockTimeMs: null }),
      reference: null,
      blockIntervalMs: null,
      targets: [unknown],
    });

    const json = statusJson(sampleReport({ chains: [chain] }));

    expect(json.targets[0]).toMatchObject({
      status: "unreachable",
      reason: "timeout",
      block_number: null,
      block_timestamp: null,
      lag_blocks: null,
      lag_seconds: null,
      lag_extrapolated: false,
      last_success: null,
      last_advance: null,
    });
    expect(json.chains[0]).toMatchObject({
      block_time_seconds: null,
      block_interval_seconds: null,
      reference: null,
    });
  });

  it("keeps a lag of zero apart from an unknown one", () => {
    const chain = sampleChainReport({ targets: [sampleTargetReport({ lagMs: 0, lagBlocks: 0 })] });

    const json = statusJson(sampleReport({ chains: [chain] }));

    expect(json.targets[0]).toMatchObject({ lag_seconds: 0, lag_blocks: 0 });
  });

  it("lists chains, gaps, incidents, budgets and skipped indexers", () => {
    const json = statusJson(
      sampleReport({
        chains: [sampleChainReport({ gaps: [sampleGap()] })],
        incidents: [
          {
            scope: "chain",
            subject: "base",
            sinceMs: NOW_MS - 90_000,
            detail: "All are late",
            targets: [sampleTarget().key],
          },
        ],
        budgets: [
          {
            budget: { name: "gateway", limit: 100_000, per: "month", scope: "shared" },
            endpoint: null,
            limit: 100_000,
            used: 41,
            remaining: 99_959,
            drawnBy: [{ name: "web-1:9855", requests: 40 }],
          },
        ],
        skipped: [
          { protocol: "lockup", variant: "subgraph", tier: "production", why: "THEGRAPH_API_KEY is not set" },
        ],
      }),
    );

    expect(json.chains).toEqual([
      {
        slug: "base",
        chain_id: 8453,
        name: "Base",
        testnet: false,
        block_time_seconds: 2,
        block_interval_seconds: 2.003,
        reference: {
          block_number: 38_000_002,
          sources: 3,
          members: [],
          opposed: [],
          time: "2026-12-01T03:12:42.000Z",
        },
        thresholds: { lagging_seconds: 600, critical_seconds: 1800, stalled_seconds: 600 },
      },
    ]);
    expect(json.gaps).toEqual([
      {
        protocol: "lockup",
        variant: "subgraph",
        tier: "production",
        chain: "base",
        chain_id: 8453,
        against: "multichain",
        blocks: 1240,
        seconds: 2480,
        uncertainty_blocks: 0.5,
      },
    ]);
    expect(json.incidents).toEqual([
      {
        scope: "chain",
        subject: "base",
        since: "2026-12-01T03:11:14.000Z",
        detail: "All are late",
        targets: ["lockup/multichain/production/base"],
      },
    ]);
    expect(json.budgets).toEqual([
      {
        budget: "gateway",
        endpoint: null,
        per: "month",
        limit: 100_000,
        used: 41,
        remaining: 99_959,
        detail: null,
        drawn_by: [{ name: "web-1:9855", requests: 40 }],
      },
    ]);
    expect(json.skipped).toEqual([
      { protocol: "lockup", variant: "subgraph", tier: "production", why: "THEGRAPH_API_KEY is not set" },
    ]);
  });
});
