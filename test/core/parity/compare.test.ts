import { describe, expect, it } from "vitest";
import { differenceOf, highestShared } from "../../../src/core/parity/compare.ts";
import { type KnownValues, newKnownValues } from "../../../src/core/parity/known-values.ts";
import { parityValue } from "./parity-play.ts";

type Run = readonly [from: number, to: number, value: number];

function known(...runs: readonly Run[]): KnownValues {
  return {
    ...newKnownValues({ probe: "rows", target: "a", query: "q" }),
    runs: runs.map(([from, to, value]) => ({ from, to, count: 2, ...parityValue(value) })),
  };
}

describe("highestShared()", () => {
  it.each<{ case: string; own: readonly Run[]; against: readonly Run[]; shared: unknown }>([
    {
      case: "both were read there",
      own: [[90, 100, 5]],
      against: [[100, 100, 6]],
      shared: { block: 100, evidence: "read", belowHead: 0, own: { text: "5" }, against: { text: "6" } },
    },
    {
      case: "one of the two stands for heights between readings",
      own: [[90, 110, 5]],
      against: [[100, 100, 6]],
      shared: { block: 100, evidence: "between", belowHead: 10 },
    },
    {
      case: "the other stands for heights between readings",
      own: [[100, 100, 5]],
      against: [[90, 110, 6]],
      shared: { block: 100, evidence: "between", belowHead: 10 },
    },
    {
      case: "the lower one was read first there",
      own: [[100, 120, 5]],
      against: [[80, 100, 6]],
      shared: { block: 100, evidence: "read", belowHead: 20 },
    },
    {
      case: "only an older value of one is of a height of the other",
      own: [
        [80, 100, 5],
        [150, 160, 7],
      ],
      against: [[90, 120, 6]],
      shared: { block: 100, own: { text: "5" }, belowHead: 60 },
    },
    {
      case: "there are two such heights: the higher",
      own: [[10, 300, 5]],
      against: [
        [20, 30, 6],
        [40, 50, 7],
      ],
      shared: { block: 50, against: { text: "7" }, belowHead: 250 },
    },
    { case: "they never were at one height", own: [[90, 99, 5]], against: [[100, 110, 5]], shared: null },
    { case: "nor the other way round", own: [[100, 110, 5]], against: [[90, 99, 5]], shared: null },
    { case: "one was never read", own: [], against: [[90, 99, 5]], shared: null },
    { case: "the other was never read", own: [[90, 99, 5]], against: [], shared: null },
  ])("finds the highest height of both where $case", ({ own, against, shared }) => {
    const found = highestShared(known(...own), known(...against));

    expect(found).toEqual(shared === null ? null : expect.objectContaining({}));
    expect(found ?? {}).toMatchObject(shared ?? {});
  });
});

describe("differenceOf()", () => {
  it.each([
    { own: "5", against: "7", difference: 2 },
    { own: "7", against: "5", difference: -2 },
    { own: "5", against: "5", difference: 0 },
    { own: "-3", against: "4", difference: 7 },
    { own: "1.5", against: "1.25", difference: -0.25 },
    { own: "0.05", against: "0.1", difference: 0.05 },
    { own: "1", against: "1.001", difference: 0.001 },
    { own: "123456789012345678901234567890", against: "123456789012345678901234567892", difference: 2 },
    { own: "0.30000000000000000000000001", against: "0.3", difference: -1e-26 },
    { own: "1e3", against: "2e3", difference: 1_000 },
    { own: "1e3", against: "5", difference: -995 },
    { own: "5", against: "1e3", difference: 995 },
    { own: "1e400", against: "5", difference: null },
    { own: `-${"9".repeat(400)}`, against: "5", difference: null },
  ])("of $own and $against is $difference", ({ own, against, difference }) => {
    const value = (text: string) => ({ text, isNumber: true });

    expect(differenceOf(value(own), value(against))).toBe(difference);
  });

  it.each([
    ["5", 7],
    [5, "7"],
  ])("of %j and %j, which are not both numbers, is null", (own, against) => {
    expect(differenceOf(parityValue(own), parityValue(against))).toBeNull();
  });
});
