import { describe, expect, it } from "vitest";
import type { Incident, TargetReport } from "../../../src/core/model/report.ts";
import { statusJson } from "../../../src/views/api/status.ts";
import { findFailover } from "../../../src/views/wording/failover.ts";
import { findProblems } from "../../../src/views/wording/problems.ts";
import {
  MINUTE_MS,
  NOW_MS,
  sampleChain,
  sampleChainReport,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

const CHAINS = ["Base", "Blast", "Morph", "Tangle", "Sophon", "Gnosis"];

describe("findFailover()", () => {
  it("names the variant that is ok, and the chains where none is", () => {
    const json = fleet({
      Base: [broken, fresh],
      Blast: [broken, fresh],
      Morph: [broken],
      Tangle: [broken, broken2],
    });

    expect(json).toEqual({
      worstLag: "up to 41 min behind",
      available: "subgraph is ok on 2 of 4 chains",
      unavailable: "no alternative on Morph and Tangle",
    });
  });

  it.each([
    {
      case: "all have another one",
      of: { Base: [broken, fresh], Blast: [broken, fresh] },
      expected: { available: "subgraph is ok on all 2 chains", unavailable: null },
    },
    {
      case: "none has",
      of: { Base: [broken, broken2], Blast: [broken] },
      expected: { available: "no other variant is ok", unavailable: null },
    },
    {
      case: "only what is no place for users",
      of: { Base: [broken, testing], Blast: [broken, testing] },
      expected: {
        available: "no other variant is ok, only a testing URL on all 2 chains",
        unavailable: null,
      },
    },
    {
      case: "some have only that",
      of: { Base: [broken, fresh, testing], Blast: [broken, testing], Morph: [broken] },
      expected: {
        available: "subgraph is ok on 1 of 3 chains",
        unavailable: "only a testing URL on Blast, no alternative on Morph",
      },
    },
    {
      case: "a testing URL is down, beside another one",
      of: { Base: [brokenTesting, testing2] },
      expected: { available: "third is ok on Base", unavailable: null },
    },
    {
      case: "both tiers are down, and only a third one is ok",
      of: { Base: [brokenTesting, broken, testing2], Blast: [broken, fresh] },
      expected: { available: "subgraph is ok on 1 of 2 chains", unavailable: "only a testing URL on Base" },
    },
    {
      case: "it is not the same everywhere",
      of: { Base: [broken, fresh], Blast: [broken, other] },
      expected: { available: "another variant is ok on all 2 chains", unavailable: null },
    },
    {
      case: "a single chain is in it",
      of: { Base: [broken, broken2, other] },
      expected: { available: "third is ok on Base", unavailable: null },
    },
    {
      case: "too many to name have none",
      of: {
        Base: [broken, fresh],
        Blast: [broken],
        Morph: [broken],
        Tangle: [broken],
        Sophon: [broken],
        Gnosis: [broken],
      },
      expected: { available: "subgraph is ok on 1 of 6 chains", unavailable: "no alternative on 5" },
    },
    {
      case: "it is of several protocols",
      of: { Base: [broken, fresh, airdrops], Blast: [broken, fresh] },
      expected: {
        available: "subgraph is ok on 2 of 3 pairs of protocol and chain",
        unavailable: "no alternative on airdrops on Base",
      },
    },
  ])("names the failover when $case", ({ of, expected }) => {
    expect(fleet(of)).toMatchObject(expected);
  });

  it("keeps the order of names, whichever is further behind", () => {
    expect(fleet({ Base: [broken, fresh], Blast: [broken2], Morph: [broken] })?.unavailable).toBe(
      "no alternative on Blast and Morph",
    );
    expect(fleet({ Base: [broken, fresh], Blast: [broken], Morph: [broken2] })?.unavailable).toBe(
      "no alternative on Blast and Morph",
    );
  });

  it("leaves out a lag that is not worth mentioning", () => {
    expect(fleet({ Base: [rejected, fresh] })).toMatchObject({ worstLag: null });
  });

  it("has none when our own network is down", () => {
    expect(fleet({ Base: [broken, broken2] }, "network")).toBeNull();
  });

  it("does not blame the indexers of a halted chain", () => {
    expect(fleet({ Base: [halted] }, "chain")).toEqual({
      worstLag: null,
      available: "the indexers are not the cause",
      unavailable: null,
    });
  });
});

type Make = (chain: string) => TargetReport;

const broken = make("multichain", { status: "stalled", lagMs: 41 * MINUTE_MS });
const broken2 = make("subgraph", { status: "lagging", lagMs: 12 * MINUTE_MS });
const rejected = make("multichain", { status: "rejected", lagMs: 2_000 });
const halted = make("multichain", { status: "chain_halted" });
const fresh = make("subgraph", {});
const other = make("third", {});
const testing = make("subgraph", {}, "testing");
const testing2 = make("third", {}, "testing");
const brokenTesting = make("subgraph", { status: "stalled" }, "testing");
const airdrops: Make = (chain) =>
  sampleTargetReport({
    target: sampleTarget({ protocol: "airdrops", chain }),
    status: "failed",
    lagMs: null,
  });

function make(variant: string, overrides: Partial<TargetReport>, tier = "production"): Make {
  return (chain) => sampleTargetReport({ target: sampleTarget({ variant, tier, chain }), ...overrides });
}

/** The failover of an incident of all that is not ok. */
function fleet(of: Readonly<Record<string, readonly Make[]>>, scope: Incident["scope"] = "endpoint") {
  const chains = CHAINS.flatMap((name) => {
    const slug = name.toLowerCase();
    const targets = of[name]?.map((one) => one(slug)) ?? [];
    return targets.length === 0 ? [] : [sampleChainReport({ chain: sampleChain({ slug, name }), targets })];
  });
  const json = statusJson(sampleReport({ chains }));
  const problems = findProblems(json);
  const targets = problems.map(
    ({ target }) => `${target.protocol}/${target.variant}/${target.tier}/${target.chain}`,
  );
  return findFailover(
    { scope, subject: "x", since: new Date(NOW_MS).toISOString(), detail: "", targets },
    problems,
  );
}
