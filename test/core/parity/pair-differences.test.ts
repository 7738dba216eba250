import { describe, expect, it } from "vitest";
import { withoutResult } from "../../../src/core/parity/pair-state.ts";
import { T0 } from "../chain/chain-fixture.ts";
import { type Compares, differs, fold, NEW } from "./pair-fixture.ts";

const MINUTE = 60_000;
const STEADY_BUT_NEW = { readings: 19 };
const WELL_KNOWN = { readings: 20 };

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
