import { describe, expect, it } from "vitest";
import type { Incident, TargetReport } from "../../../src/core/model/report.ts";
import { statusJson } from "../../../src/views/api/status.ts";
import { findFailover } from "../../../src/views/wording/failover.ts";
import { findTroubles } from "../../../src/views/wording/triage.ts";
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

describe("findWayOut()", () => {
  it("names the variant that is fresh, and the chains where none is", () => {
    const json = fleet({
      Base: [broken, fresh],
      Blast: [broken, fresh],
      Morph: [broken],
      Tangle: [broken, broken2],
    });

    expect(json).toEqual({
      behind: "up to 41 min behind",
      fresh: "subgraph is fresh on 2 of 4 chains",
      without: "nothing on Morph and Tangle",
    });
  });

  it.each([
    {
      case: "all have another one",
      of: { Base: [broken, fresh], Blast: [broken, fresh] },
      told: { fresh: "subgraph is fresh on all 2 chains", without: null },
    },
    {
      case: "none has",
      of: { Base: [broken, broken2], Blast: [broken] },
      told: { fresh: "no other variant is fresh", without: null },
    },
    {
      case: "only what is no place for users",
      of: { Base: [broken, testing], Blast: [broken, testing] },
      told: { fresh: "no other variant is fresh, only a testing URL on all 2 chains", without: null },
    },
    {
      case: "some have only that",
      of: { Base: [broken, fresh, testing], Blast: [broken, testing], Morph: [broken] },
      told: {
        fresh: "subgraph is fresh on 1 of 3 chains",
        without: "only a testing URL on Blast, nothing on Morph",
      },
    },
    {
      case: "a testing URL is down, beside another one",
      of: { Base: [brokenTesting, testing2] },
      told: { fresh: "third is fresh on Base", without: null },
    },
    {
      case: "both tiers are down, and only a third one is fresh",
      of: { Base: [brokenTesting, broken, testing2], Blast: [broken, fresh] },
      told: { fresh: "subgraph is fresh on 1 of 2 chains", without: "only a testing URL on Base" },
    },
    {
      case: "it is not the same everywhere",
      of: { Base: [broken, fresh], Blast: [broken, other] },
      told: { fresh: "another variant is fresh on all 2 chains", without: null },
    },
    {
      case: "a single chain is in it",
      of: { Base: [broken, broken2, other] },
      told: { fresh: "third is fresh on Base", without: null },
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
      told: { fresh: "subgraph is fresh on 1 of 6 chains", without: "nothing on 5" },
    },
    {
      case: "it is of several protocols",
      of: { Base: [broken, fresh, airdrops], Blast: [broken, fresh] },
      told: {
        fresh: "subgraph is fresh on 2 of 3 pairs of protocol and chain",
        without: "nothing on airdrops on Base",
      },
    },
  ])("tells where to go when $case", ({ of, told }) => {
    expect(fleet(of)).toMatchObject(told);
  });

  it("keeps the order of names, whichever is further behind", () => {
    expect(fleet({ Base: [broken, fresh], Blast: [broken2], Morph: [broken] })?.without).toBe(
      "nothing on Blast and Morph",
    );
    expect(fleet({ Base: [broken, fresh], Blast: [broken], Morph: [broken2] })?.without).toBe(
      "nothing on Blast and Morph",
    );
  });

  it("says nothing of a lag that tells nothing", () => {
    expect(fleet({ Base: [rejected, fresh] })).toMatchObject({ behind: null });
  });

  it("has no way out when our own network is gone", () => {
    expect(fleet({ Base: [broken, broken2] }, "network")).toBeNull();
  });

  it("blames nobody for a chain that stands still", () => {
    expect(fleet({ Base: [halted] }, "chain")).toEqual({
      behind: null,
      fresh: "no indexer is to blame",
      without: null,
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

/** The way out of an incident of all that is not ok. */
function fleet(of: Readonly<Record<string, readonly Make[]>>, scope: Incident["scope"] = "endpoint") {
  const chains = CHAINS.flatMap((name) => {
    const slug = name.toLowerCase();
    const targets = of[name]?.map((one) => one(slug)) ?? [];
    return targets.length === 0 ? [] : [sampleChainReport({ chain: sampleChain({ slug, name }), targets })];
  });
  const json = statusJson(sampleReport({ chains }));
  const troubles = findTroubles(json);
  const targets = troubles.map(
    ({ target }) => `${target.protocol}/${target.variant}/${target.tier}/${target.chain}`,
  );
  return findFailover(
    { scope, subject: "x", since: new Date(NOW_MS).toISOString(), detail: "", targets },
    troubles,
  );
}
