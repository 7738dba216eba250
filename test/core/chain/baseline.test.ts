import { describe, expect, it } from "vitest";
import { baselineOf } from "../../../src/core/chain/baseline.ts";
import { BASE, targetOn, watch } from "./chain-fixture.ts";

const [A, B, C] = ["airdrops/multichain", "airdrops/subgraph", "lockup/subgraph"] as const;
const WATCHED = watch(BASE, A, B, C);
const CHOSEN = { ...WATCHED, baselines: { airdrops: targetOn(BASE, B).key } };

describe("baselineOf()", () => {
  it.each([
    { case: "the first of its protocol", watched: WATCHED, target: B, key: targetOn(BASE, A).key },
    { case: "none, being the first itself", watched: WATCHED, target: A, key: undefined },
    { case: "none, being alone", watched: WATCHED, target: C, key: undefined },
    { case: "the chosen one", watched: CHOSEN, target: A, key: targetOn(BASE, B).key },
    { case: "none, being the chosen one itself", watched: CHOSEN, target: B, key: undefined },
    { case: "none, where none is chosen", watched: CHOSEN, target: C, key: undefined },
  ])("is $case", ({ watched, target, key }) => {
    expect(baselineOf(watched, targetOn(BASE, target))?.key).toBe(key);
  });
});
