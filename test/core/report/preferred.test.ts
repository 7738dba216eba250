import { describe, expect, it } from "vitest";
import type { TargetReport } from "../../../src/core/model/report.ts";
import { preferredKeys } from "../../../src/core/report/preferred.ts";
import { sampleTarget, sampleTargetReport } from "../../views/sample-report.ts";

type Said = Partial<Pick<TargetReport, "status" | "block" | "lagMs">>;

/** The names of those that are preferred: protocol/variant, or protocol/variant/tier for another tier than production. */
function preferred(said: Readonly<Record<string, Said>>): readonly string[] {
  const reports = Object.entries(said).map(([name, told]) => {
    const [protocol = "", variant = "", tier = "production"] = name.split("/");
    const target = sampleTarget({ protocol, variant, tier });
    return sampleTargetReport({ target, status: "ok", block: 1_000, lagMs: null, ...told });
  });
  return [...preferredKeys(reports)].map((key) => key.replace(/(\/production)?\/base$/, ""));
}

describe("preferredKeys()", () => {
  it.each([
    { case: "as good by time", first: { lagMs: 9_000 }, second: { lagMs: 4_000 }, best: "a/x" },
    { case: "fresher by time", first: { lagMs: 9_001 }, second: { lagMs: 4_000 }, best: "a/y" },
    {
      case: "fresher by time, though lower",
      first: { lagMs: 9_001 },
      second: { lagMs: 4_000, block: 900 },
      best: "a/y",
    },
    { case: "as good by height", first: {}, second: { block: 1_002 }, best: "a/x" },
    { case: "fresher by height", first: {}, second: { block: 1_003 }, best: "a/y" },
    {
      case: "fresher by height, where only one lag is known",
      first: { lagMs: 99_000 },
      second: { block: 1_003 },
      best: "a/y",
    },
    {
      case: "not fresher by height, where only the other's lag is known",
      first: {},
      second: { lagMs: 0 },
      best: "a/x",
    },
    {
      case: "as high, where only the first's lag is known",
      first: { lagMs: 99_000 },
      second: {},
      best: "a/x",
    },
    {
      case: "fresher by height, where only its own lag is known",
      first: {},
      second: { lagMs: 0, block: 1_003 },
      best: "a/y",
    },
    { case: "healthy", first: { status: "lagging" }, second: { block: 10 }, best: "a/y" },
    { case: "the only one with a height", first: { block: null }, second: { block: 10 }, best: "a/y" },
    { case: "not healthy", first: {}, second: { status: "syncing", block: 2_000 }, best: "a/x" },
  ] as const)("prefers $best where the second is $case", ({ first, second, best }) => {
    expect(preferred({ "a/x": first, "a/y": second })).toEqual([best]);
  });

  it("prefers one of each protocol", () => {
    expect(preferred({ "a/x": {}, "a/y": {}, "b/y": { block: 10 } })).toEqual(["a/x", "b/y"]);
  });

  it("prefers none where none is healthy", () => {
    expect(preferred({ "a/x": { status: "stalled" }, "a/y": { block: null } })).toEqual([]);
  });

  it("never prefers a testing URL to a production one, however fresh", () => {
    expect(preferred({ "a/x": { block: 10 }, "a/x/testing": {} })).toEqual(["a/x"]);
    expect(preferred({ "a/x": { status: "stalled" }, "a/x/testing": {} })).toEqual([]);
  });

  it("prefers among all tiers where a protocol has no production tier", () => {
    expect(preferred({ "a/x/testing": {}, "b/x": {} })).toEqual(["a/x/testing", "b/x"]);
  });
});
