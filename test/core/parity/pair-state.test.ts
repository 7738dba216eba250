import { describe, expect, it } from "vitest";
import type { SharedHeight } from "../../../src/core/parity/compare.ts";
import { type KnownValues, newKnownValues } from "../../../src/core/parity/known-values.ts";
import {
  foldComparison,
  newPair,
  type PairState,
  withoutResult,
} from "../../../src/core/parity/pair-state.ts";
import { T0 } from "../chain/chain-fixture.ts";

const MINUTE = 60_000;
const NEW = newPair({ probe: "rows", target: "b", against: "a" });
const COMES_AND_GOES = { readings: 5, returnedAt: 5 };
const CONTRADICTORY = { readings: 5, contradictedAt: 5 };
const STEADY_BUT_NEW = { readings: 19 };
const WELL_KNOWN = { readings: 20 };

/** A comparison at minute `at`: by then both were read, unless told otherwise, at this very height, the newest of both. */
interface Compares {
  readonly at: number;
  readonly block: number;
  readonly own?: string;
  readonly against?: string;
  /** The minutes at which the two were read last. */
  readonly ownAt?: number;
  readonly againstAt?: number;
  readonly belowHead?: number;
  readonly evidence?: SharedHeight["evidence"];
  readonly ownSource?: Partial<KnownValues>;
  readonly againstSource?: Partial<KnownValues>;
}

function fold(pair: PairState, ...comparisons: readonly Compares[]): PairState {
  return comparisons.reduce((folded, comparison) => foldComparison(folded, comparedBy(comparison)), pair);
}

function comparedBy({ at, block, own = "5", against = "5", ...more }: Compares) {
  const { ownAt = at, againstAt = at, belowHead = 0, evidence = "read", ownSource, againstSource } = more;
  const source = (target: string, readAt: number): KnownValues => ({
    ...newKnownValues({ probe: "rows", target, query: "q" }),
    lastMs: T0 + readAt * MINUTE,
  });
  return {
    shared: {
      block,
      own: { text: own, isNumber: true },
      against: { text: against, isNumber: true },
      belowHead,
      evidence,
    },
    own: { ...source("b", ownAt), ...ownSource },
    against: { ...source("a", againstAt), ...againstSource },
    nowMs: T0 + at * MINUTE,
  };
}

/** A comparison that finds a difference. */
function differs(at: number, block: number, more: Partial<Compares> = {}): Compares {
  return { at, block, own: "6", against: "5", ...more };
}

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
    { case: "heights between readings of steady values", comparison: { at: 1, block: 100 }, last: 100 },
    {
      case: "not those of a target whose value comes and goes",
      comparison: { at: 1, block: 100, ownSource: COMES_AND_GOES },
      last: undefined,
    },
    {
      case: "not those of a target against which the value comes and goes",
      comparison: { at: 1, block: 100, againstSource: COMES_AND_GOES },
      last: undefined,
    },
  ])("uses $case", ({ comparison, last }) => {
    expect(fold(NEW, { ...comparison, evidence: "between" }).last?.block).toBe(last);
  });

  it.each<{ case: string; comparison: Compares; last: number | undefined }>([
    {
      case: "no difference from a target that contradicts itself",
      comparison: differs(1, 100, { ownSource: CONTRADICTORY }),
      last: undefined,
    },
    {
      case: "no difference of a target from one that contradicts itself",
      comparison: differs(1, 100, { againstSource: CONTRADICTORY }),
      last: undefined,
    },
    {
      case: "an equality even then",
      comparison: { at: 1, block: 100, ownSource: CONTRADICTORY },
      last: 100,
    },
  ])("believes $case", ({ comparison, last }) => {
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

describe("foldComparison() of differences", () => {
  it("is different after three over two minutes, since the first", () => {
    const pair = fold(NEW, differs(1, 101), differs(2, 102), differs(3, 103));

    expect(pair).toMatchObject({
      result: "different",
      sinceMs: T0 + MINUTE,
      comparison: { block: 103, own: { text: "6" }, against: { text: "5" } },
      streak: null,
    });
  });

  it.each([
    { case: "two, however long apart", pair: fold(NEW, differs(1, 101), differs(60, 102)) },
    {
      case: "three in less than two minutes",
      pair: fold(NEW, differs(1, 101), differs(2, 102), differs(2.999, 103)),
    },
  ])("is not different after $case", ({ pair }) => {
    expect(pair).toMatchObject({ result: "unknown", sinceMs: null, comparison: null });
  });

  it("keeps the latest difference and its beginning once it is different", () => {
    const pair = fold(NEW, ...[1, 2, 3, 4].map((at) => differs(at, 100 + at, { own: `${at}0` })));

    expect(pair).toMatchObject({
      result: "different",
      sinceMs: T0 + MINUTE,
      comparison: { block: 104, own: { text: "40" } },
    });
  });

  it("still counts differences in a row after the result was dropped", () => {
    const pair = fold(withoutResult(fold(NEW, differs(1, 101), differs(2, 102))), differs(3, 103));

    expect(pair.result).toBe("different");
  });
});

describe("foldComparison() counts a difference", () => {
  const first = differs(1, 1_000);

  it.each<{ case: string; from?: Compares; next: Compares; count: number }>([
    { case: "where both were read since", next: differs(2, 1_001), count: 2 },
    { case: "not where the one was not read since", next: differs(2, 1_001, { ownAt: 1 }), count: 1 },
    { case: "not where the other was not read since", next: differs(2, 1_001, { againstAt: 1 }), count: 1 },
    {
      case: "within a reorg's reach where both comparisons are at most 4 blocks below the head",
      from: differs(1, 1_000, { belowHead: 4 }),
      next: differs(2, 1_001, { belowHead: 4 }),
      count: 2,
    },
    {
      case: "not within a reorg's reach where this one is further below",
      next: differs(2, 1_064, { belowHead: 5 }),
      count: 1,
    },
    {
      case: "not within a reorg's reach where the one before was further below",
      from: differs(1, 1_000, { belowHead: 5 }),
      next: differs(2, 1_064),
      count: 1,
    },
    {
      case: "more than 64 blocks above the one before, however far below the head",
      from: differs(1, 1_000, { belowHead: 500 }),
      next: differs(2, 1_065, { belowHead: 500 }),
      count: 2,
    },
  ])("$case", ({ from = first, next, count }) => {
    expect(fold(NEW, from, next).streak?.count).toBe(count);
  });

  it("measures the next one from the last that counted, not from one that did not", () => {
    const far = { belowHead: 500 };

    const pair = fold(
      NEW,
      differs(1, 1_000, far),
      differs(2, 1_040, far),
      differs(3, 1_066, far),
      differs(4, 1_130, far),
    );

    expect(pair.streak).toMatchObject({
      count: 2,
      block: 1_066,
      firstMs: T0 + MINUTE,
      ownMs: T0 + 3 * MINUTE,
    });
  });
});

describe("foldComparison() of differences between readings", () => {
  const wellKnown = { ownSource: WELL_KNOWN, againstSource: WELL_KNOWN };

  it.each<{ case: string; sources: Partial<Compares>; result: string }>([
    { case: "both were read 20 times", sources: wellKnown, result: "different" },
    {
      case: "the one was read less often",
      sources: { ...wellKnown, ownSource: STEADY_BUT_NEW },
      result: "unknown",
    },
    {
      case: "the other was read less often",
      sources: { ...wellKnown, againstSource: STEADY_BUT_NEW },
      result: "unknown",
    },
  ])("is $result where $case", ({ sources, result }) => {
    const between = { evidence: "between", ...sources } as const;

    expect(fold(NEW, ...[1, 2, 3].map((at) => differs(at, 100 + at, between))).result).toBe(result);
  });

  it.each([0, 1, 2])(
    "waits for 20 readings where only difference %d of three is between readings",
    (which) => {
      const evidenceOf = (index: number) => (index === which ? "between" : "read");
      const differences = [0, 1, 2].map((index) =>
        differs(index + 1, 101 + index, { evidence: evidenceOf(index) }),
      );

      expect(fold(NEW, ...differences)).toMatchObject({ result: "unknown", streak: { evidence: "between" } });
    },
  );

  it("needs no 20 readings where both were read at the heights themselves", () => {
    expect(fold(NEW, ...[1, 2, 3].map((at) => differs(at, 100 + at))).result).toBe("different");
  });
});
