import { describe, expect, it } from "vitest";
import { didYouMean, nearMiss } from "../../../src/core/text/near-miss.ts";

describe("nearMiss()", () => {
  it("allows one mistake in every three letters, and at least one", () => {
    const known = ["arbitrum", "base", "base-sepolia", "lockup", "ab"];
    const near = {
      bsae: "base",
      Base: "base",
      arbitum: "arbitrum",
      "base-sepolai": "base-sepolia",
      bas: "base",
      base: "base",
      bxse: "base",
      xbase: "base",
      arxxtrum: "arbitrum",
      rabitrmu: "arbitrum",
      basesepo: "base-sepolia",
      ax: "ab",
    };
    const far = ["bxye", "sbea", "abes", "arbixyzm", "solana", "lxyzup", "lcxyup", "lxoyup", "xy", ""];

    const found = Object.keys(near).map((typed) => [typed, nearMiss(typed, known)]);

    expect(Object.fromEntries(found)).toEqual(near);
    expect(far.filter((typed) => nearMiss(typed, known) !== null)).toEqual([]);
    expect(nearMiss("base", [])).toBeNull();
  });
});

describe("didYouMean()", () => {
  it("suggests the similar word, and is empty without one", () => {
    expect(didYouMean("lokcup", ["lockup"])).toBe('; did you mean "lockup"?');
    expect(didYouMean("vesting", ["lockup"])).toBe("");
  });
});
