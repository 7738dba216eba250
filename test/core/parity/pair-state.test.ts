import { describe, expect, it } from "vitest";
import { withoutResult } from "../../../src/core/parity/pair-state.ts";
import { T0 } from "../chain/chain-fixture.ts";
import { type Compares, differs, fold, NEW } from "./pair-fixture.ts";

const MINUTE = 60_000;
const COMES_AND_GOES = { readings: 5, returnedAt: 5 };
const CONTRADICTORY = { readings: 5, contradictedAt: 5 };

describe("foldComparison() of a new block", () => {
  it("is equal since the first comparison, and keeps the latest as what this rests on", () => {
    const pair = fold(NEW, { at: 1, block: 100 }, { at: 2, block: 130, own: "7", against: "7" });

    expect(pair).toEqual({
      ...NEW,
      result: "equal",
      sinceMs: T0 + MINUTE,
      comparison: {
        block: 130,
        own: { text: "7", isNumber: true },
        against: { text: "7", isNumber: true },
      },
      last: { block: 130, atMs: T0 + 2 * MINUTE, ownMs: T0 + 2 * MINUTE, againstMs: T0 + 2 * MINUTE },
    });
  });

  it("is equal since the difference ended, not since an earlier time of equality", () => {
    const different = fold(NEW, { at: 1, block: 100 }, ...[2, 3, 4].map((at) => differs(at, 100 + at)));
    expect(different.result).toBe("different");

    expect(fold(different, { at: 5, block: 200 })).toMatchObject({
      result: "equal",
      sinceMs: T0 + 5 * MINUTE,
    });
  });

  it("notes when each of the two was read", () => {
    const pair = fold(NEW, { at: 9, block: 100, ownAt: 7, againstAt: 8 });

    expect(pair.last).toEqual({
      block: 100,
      atMs: T0 + 9 * MINUTE,
      ownMs: T0 + 7 * MINUTE,
      againstMs: T0 + 8 * MINUTE,
    });
  });

  it("leaves a pair as it is at a lower block than the last: that height is settled", () => {
    const pair = fold(NEW, { at: 1, block: 100 });

    expect(fold(pair, { at: 2, block: 99 })).toEqual(pair);
    expect(fold(pair, differs(2, 99))).toEqual(pair);
  });

  it.each<{ case: string; comparison: Compares; last: number | undefined }>([
    {
      case: "compares steady values at a height between readings",
      comparison: { at: 1, block: 100 },
      last: 100,
    },
    {
      case: "does not compare a value that comes and goes at a height between readings",
      comparison: { at: 1, block: 100, ownSource: COMES_AND_GOES },
      last: undefined,
    },
    {
      case: "does not compare with a value that comes and goes at a height between readings",
      comparison: { at: 1, block: 100, againstSource: COMES_AND_GOES },
      last: undefined,
    },
  ])("$case", ({ comparison, last }) => {
    expect(fold(NEW, { ...comparison, evidence: "between" }).last?.block).toBe(last);
  });

  it.each<{ case: string; comparison: Compares; last: number | undefined }>([
    {
      case: "does not count a difference of a target that contradicts itself",
      comparison: differs(1, 100, { ownSource: CONTRADICTORY }),
      last: undefined,
    },
    {
      case: "does not count a difference from a target that contradicts itself",
      comparison: differs(1, 100, { againstSource: CONTRADICTORY }),
      last: undefined,
    },
    {
      case: "is equal even then, where both say the same",
      comparison: { at: 1, block: 100, ownSource: CONTRADICTORY },
      last: 100,
    },
  ])("$case", ({ comparison, last }) => {
    expect(fold(NEW, comparison).last?.block).toBe(last);
  });
});

describe("foldComparison() of the same block once more", () => {
  const equal = fold(NEW, { at: 1, block: 100 });

  it("renews the evidence where both were read since and say the same", () => {
    const pair = fold(equal, { at: 9, block: 100, ownAt: 7, againstAt: 8 });

    expect(pair).toEqual({
      ...equal,
      last: { block: 100, atMs: T0 + 9 * MINUTE, ownMs: T0 + 7 * MINUTE, againstMs: T0 + 8 * MINUTE },
    });
  });

  it.each<{ case: string; comparison: Compares }>([
    { case: "only one was read since", comparison: { at: 9, block: 100, ownAt: 1 } },
    { case: "only the other was read since", comparison: { at: 9, block: 100, againstAt: 1 } },
    { case: "the one says something else", comparison: { at: 9, block: 100, own: "6" } },
    { case: "the other says something else", comparison: { at: 9, block: 100, against: "6" } },
    { case: "both say something else", comparison: { at: 9, block: 100, own: "6", against: "6" } },
  ])("leaves the pair as it is where $case", ({ comparison }) => {
    expect(fold(equal, comparison)).toEqual(equal);
  });

  it("does not renew an equality while differences above it are counted", () => {
    const counting = fold(equal, differs(2, 130));

    expect(counting).toMatchObject({ result: "equal", streak: { count: 1 } });
    expect(fold(counting, { at: 9, block: 130 })).toEqual(counting);
  });

  it("is equal anew where both still stand there after a silence", () => {
    const pair = fold(withoutResult(equal), { at: 60, block: 100 });

    expect(pair).toMatchObject({
      result: "equal",
      sinceMs: T0 + 60 * MINUTE,
      comparison: { block: 100 },
      last: { block: 100, atMs: T0 + 60 * MINUTE },
    });
  });

  it.each<{ case: string; comparison: Compares }>([
    { case: "one of them has gone on", comparison: { at: 60, block: 100, belowHead: 1 } },
    { case: "they differ", comparison: differs(60, 100) },
    { case: "only one was read since", comparison: { at: 60, block: 100, ownAt: 1 } },
  ])("stays unknown after a silence where $case", ({ comparison }) => {
    const silent = withoutResult(equal);

    expect(fold(silent, comparison)).toEqual(silent);
  });

  it("stays different where the values at a block that was compared become equal", () => {
    const different = fold(NEW, ...[1, 2, 3].map((at) => differs(at, 100 + at)));

    expect(fold(different, { at: 9, block: 103 })).toEqual(different);
  });
});
