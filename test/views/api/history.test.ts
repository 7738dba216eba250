import { describe, expect, it } from "vitest";
import { historyJson, historyTargets } from "../../../src/views/api/history.ts";
import {
  NOW_MS,
  sampleChainReport,
  sampleGap,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

const SUBGRAPH = sampleTarget({ variant: "subgraph" });
const OTHER = sampleTarget({ protocol: "airdrops" });
const CHAIN = sampleChainReport({
  targets: [
    sampleTargetReport(),
    sampleTargetReport({ target: SUBGRAPH }),
    sampleTargetReport({ target: OTHER }),
  ],
  gaps: [sampleGap()],
});
const REPORT = sampleReport({ chains: [CHAIN] });

describe("historyTargets()", () => {
  it("names the targets of the protocol on that chain alone", () => {
    expect(historyTargets(REPORT, "lockup", "base")?.keys).toEqual([sampleTarget().key, SUBGRAPH.key]);
  });

  it.each([
    { protocol: "lockup", chain: "form" },
    { protocol: "flow", chain: "base" },
  ])("is null for $protocol on $chain, which does not exist", ({ protocol, chain }) => {
    expect(historyTargets(REPORT, protocol, chain)).toBeNull();
  });
});

describe("historyJson()", () => {
  it("gives times in seconds, and the variant that each is compared with", () => {
    const past = {
      timesMs: [NOW_MS],
      reference: [100],
      targets: {
        [sampleTarget().key]: { block: [98], lagMs: [4_000], gapBlocks: [null], uncertaintyBlocks: [null] },
        [SUBGRAPH.key]: { block: [null], lagMs: [null], gapBlocks: [2.5], uncertaintyBlocks: [0.5] },
      },
    };

    expect(historyJson("lockup", CHAIN, { past, nowMs: NOW_MS })).toEqual({
      generated_at: "2026-12-01T03:12:44.000Z",
      protocol: "lockup",
      chain: "base",
      chain_id: 8453,
      timestamps: [NOW_MS / 1000],
      reference_block_number: [100],
      targets: [
        {
          variant: "multichain",
          tier: "production",
          block_number: [98],
          lag_seconds: [4],
          against: null,
          gap_blocks: [null],
          gap_uncertainty_blocks: [null],
        },
        {
          variant: "subgraph",
          tier: "production",
          block_number: [null],
          lag_seconds: [null],
          against: "multichain",
          gap_blocks: [2.5],
          gap_uncertainty_blocks: [0.5],
        },
      ],
    });
  });
});
