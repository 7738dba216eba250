import { describe, expect, it } from "vitest";
import type { BudgetReport } from "../../../src/core/model/report.ts";
import type { StatusJson } from "../../../src/views/api/api-schema.ts";
import { filterByWords, filterStatus } from "../../../src/views/api/filter-status.ts";
import { statusJson } from "../../../src/views/api/status.ts";
import { defaultFleetReport } from "../default-fleet-report.ts";
import {
  NOW_MS,
  sampleChain,
  sampleChainReport,
  sampleEndpoint,
  sampleGap,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

const FLEET = statusJson(defaultFleetReport());

describe("filterByWords()", () => {
  it.each([
    { query: "lockup/base/subgraph", count: 4 },
    { query: "  LOCKUP   stalled ", count: 1 },
    { query: "84532", count: 6 },
    { query: "BNB", count: 6 },
    { query: "testnet", count: 24 },
    { query: "indexing_error", count: 1 },
    { query: "solana", count: 0 },
  ])("leaves $count targets for '$query'", ({ query, count }) => {
    expect(filterByWords(FLEET, query).targets).toHaveLength(count);
  });

  it("leaves everything as it is without a word", () => {
    expect(filterByWords(FLEET, "  ")).toBe(FLEET);
  });

  it("leaves only the chains that still have a target", () => {
    expect(filterByWords(FLEET, "xdc").chains.map(({ slug }) => slug)).toEqual(["xdc"]);
  });
});

describe("filterStatus()", () => {
  it("keeps of every list only what concerns the pair", () => {
    const filtered = filterStatus(twoByTwo(), "lockup", "base");

    expect(filtered?.chains.map(({ slug }) => slug)).toEqual(["base"]);
    expect(filtered?.targets).toMatchObject([{ protocol: "lockup", chain: "base" }]);
    expect(filtered?.gaps).toMatchObject([{ protocol: "lockup", chain: "base" }]);
    expect(filtered?.incidents).toMatchObject([
      { subject: "a.example", targets: ["lockup/multichain/production/base"] },
    ]);
    expect(filtered?.skipped).toMatchObject([{ protocol: "lockup" }]);
  });

  it("keeps the budgets that the pair's endpoints draw on, and shared ones", () => {
    const filtered = filterStatus(twoByTwo(), "lockup", "base");

    expect(filtered?.budgets.map(({ endpoint }) => endpoint)).toEqual([
      null,
      "lockup/multichain/production/all",
      "lockup/multichain/production/base",
    ]);
  });

  it.each([
    { protocol: "lockup", chain: "bsae" },
    { protocol: "lokcup", chain: "base" },
    { protocol: "", chain: "" },
  ])("is null for $protocol/$chain, which does not exist", ({ protocol, chain }) => {
    expect(filterStatus(twoByTwo(), protocol, chain)).toBeNull();
  });
});

function twoByTwo(): StatusJson {
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
  return statusJson(
    sampleReport({
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
    }),
  );
}

function incident(subject: string, targets: readonly string[]) {
  return { scope: "host", subject, sinceMs: NOW_MS, detail: "It times out", targets } as const;
}

function budget(key: string | null): BudgetReport {
  const endpoint = key === null ? null : sampleEndpoint({ key });
  return {
    budget: { name: "studio", limit: 10, per: "day", scope: endpoint === null ? "shared" : "endpoint" },
    endpoint,
    limit: 10,
    used: 1,
    remaining: 9,
  };
}
