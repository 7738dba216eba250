import { describe, expect, it } from "vitest";
import { describeMissing, selectTargets } from "../../../src/views/api/selection.ts";

const TARGETS = [
  { protocol: "airdrops", chain: "base", variant: "multichain", tier: "production" },
  { protocol: "lockup", chain: "base", variant: "multichain", tier: "production" },
  { protocol: "lockup", chain: "base", variant: "subgraph", tier: "production" },
  { protocol: "lockup", chain: "sepolia", variant: "subgraph", tier: "testing" },
];

describe("selectTargets()", () => {
  it.each([
    { selection: { protocol: "lockup" }, indexes: [1, 2, 3] },
    { selection: { protocol: "lockup", chain: "base" }, indexes: [1, 2] },
    { selection: { protocol: "lockup", chain: "base", variant: "subgraph" }, indexes: [2] },
    { selection: { protocol: "lockup", tier: "production" }, indexes: [1, 2] },
    { selection: { protocol: "lockup", chain: "solana" }, indexes: [] },
  ])("takes targets $indexes for $selection", ({ selection, indexes }) => {
    expect(selectTargets(TARGETS, selection)).toEqual(indexes.map((index) => TARGETS[index]));
  });
});

describe("describeMissing()", () => {
  it.each([
    {
      selection: { protocol: "lokcup" },
      text: "Cannot find protocol 'lokcup' (did you mean 'lockup'?): available are airdrops, lockup",
    },
    {
      selection: { protocol: "vesting", chain: "base" },
      text: "Cannot find protocol 'vesting': available are airdrops, lockup",
    },
    {
      selection: { protocol: "lockup", chain: "bsae" },
      text: "Cannot find chain 'bsae' of lockup (did you mean 'base'?): available are base, sepolia",
    },
    {
      selection: { protocol: "lockup", chain: "base", variant: "subgrap" },
      text: "Cannot find variant 'subgrap' of lockup/base (did you mean 'subgraph'?): available are multichain, subgraph",
    },
    {
      selection: { protocol: "lockup", chain: "base", tier: "testing" },
      text: "Cannot find tier 'testing' of lockup/base: available are production",
    },
    {
      selection: { protocol: "lockup", chain: "sepolia", variant: "subgraph", tier: "production" },
      text: "Cannot find tier 'production' of lockup/sepolia/subgraph: available are testing",
    },
  ])("names what exists instead of $selection", ({ selection, text }) => {
    expect(describeMissing(TARGETS, selection)).toBe(text);
  });

  it("says so when nothing is watched at all", () => {
    expect(describeMissing([], { protocol: "lockup" })).toBe(
      "Cannot find protocol 'lockup': available are none",
    );
  });
});
