import { describe, expect, it } from "vitest";
import { type ChainClock, NEW_CLOCK, noteTimestamp } from "../../../src/core/head/chain-clock.ts";
import type { Sample } from "../../../src/core/model/sample.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { checkConsistency } from "../../../src/core/status/consistency.ts";

function sample(block: number, timestampSec: number | null, hash: string | null = null): Sample {
  return { block, timestampSec, hash, sentAtMs: 0, receivedAtMs: 0 };
}

function witness(kind: SourceState["kind"], ...samples: readonly Sample[]): SourceState {
  return { ...newSource({ key: "w", kind, pollIntervalMs: 15_000 }), samples };
}

/** Knows blocks 1,000 to 1,600 of a chain with a block each 2 s, which made block 0 at 0. */
const CLOCK: ChainClock = [1_000, 1_300, 1_600].reduce(
  (clock, block) => noteTimestamp(clock, block, block * 2),
  NEW_CLOCK,
);
const HONEST = witness("indexer", sample(1_610, 3_220));
const LIAR = witness("indexer", sample(900_000, 3_220));

function examined(
  said: Sample,
  witnesses: readonly SourceState[],
  context: Partial<Parameters<typeof checkConsistency>[2]> = {},
) {
  return checkConsistency(said, witnesses, {
    clock: CLOCK,
    intervalMs: 2_000,
    hashMismatches: 0,
    ...context,
  });
}

describe("examine() of a timestamp", () => {
  it.each([
    { case: "fits the history", said: sample(1_200, 2_400), doubted: false },
    { case: "is off by less than two minutes", said: sample(1_200, 2_519), doubted: false },
    { case: "is off by more", said: sample(1_200, 2_521), doubted: true },
    {
      case: "is long before the history, and fits its pace by and large",
      said: sample(100, 900),
      doubted: false,
    },
    { case: "is long before the history, and says it is of now", said: sample(100, 3_220), doubted: true },
    { case: "is after the history", said: sample(1_700, 3_400), doubted: false },
    { case: "is missing", said: sample(100, null), doubted: false },
  ])("doubts: $doubted, where it $case", ({ said, doubted }) => {
    expect(examined(said, []).doubt !== null).toBe(doubted);
  });

  it("says by how much it is off", () => {
    expect(examined(sample(1_200, 9_600), []).doubt).toBe(
      "its time of block 1,200 contradicts the other sources by 2 h",
    );
  });

  it.each([
    {
      case: "two others oppose it, whatever the clock says",
      said: sample(1_610, 3_220),
      others: [LIAR, LIAR],
      doubted: true,
    },
    {
      case: "one opposes it and the clock agrees",
      said: sample(1_610, 3_220),
      others: [LIAR],
      doubted: false,
    },
    {
      case: "one opposes it and the clock too",
      said: sample(900_000, 3_220),
      others: [HONEST],
      doubted: true,
    },
    {
      case: "two against two, and the clock agrees",
      said: sample(1_610, 3_220),
      others: [HONEST, LIAR, LIAR],
      doubted: false,
    },
    {
      case: "two against two, and the clock does not",
      said: sample(900_000, 3_220),
      others: [LIAR, HONEST, HONEST],
      doubted: true,
    },
  ])("doubts: $doubted, where $case", ({ said, others, doubted }) => {
    expect(examined(said, others)).toMatchObject({ clockIsWrong: false });
    expect(examined(said, others).doubt !== null).toBe(doubted);
  });

  it("finds the clock wrong where others uphold the sample", () => {
    expect(examined(sample(900_000, 3_220), [LIAR])).toEqual({
      doubt: null,
      clockIsWrong: true,
      hashMismatches: 0,
    });
  });

  it("can tell only the order of blocks where nobody knows the pace", () => {
    const earlier = [witness("indexer", sample(2_000, 3_400)), witness("indexer", sample(2_100, 3_400))];

    expect(examined(sample(1_700, 3_519), earlier, { clock: NEW_CLOCK, intervalMs: null }).doubt).toBeNull();
    expect(examined(sample(1_700, 3_521), earlier, { clock: NEW_CLOCK, intervalMs: null }).doubt).toBe(
      "its time of block 1,700 contradicts the other sources",
    );
  });

  it.each([
    { case: "that gave no height yet", others: [witness("indexer"), witness("indexer")] },
    {
      case: "that tell no time",
      others: [witness("indexer", sample(900_000, null)), witness("indexer", sample(900_000, null))],
    },
  ])("hears nothing from witnesses $case", ({ others }) => {
    expect(examined(sample(1_610, 3_220), others)).toEqual({
      doubt: null,
      clockIsWrong: false,
      hashMismatches: 0,
    });
    expect(examined(sample(1_610, 9_220), others)).toMatchObject({ clockIsWrong: false });
    expect(examined(sample(1_610, 9_220), others).doubt).not.toBeNull();
  });

  it.each([
    { timestampSec: 4_000 + 600, doubted: false },
    { timestampSec: 4_000 + 601, doubted: true },
    { timestampSec: 4_000 - 601, doubted: true },
  ])("doubts: $doubted, of $timestampSec s for 400 blocks of 2 s after 3,200 s", (row) => {
    const others = [witness("indexer", sample(1_600, 3_200)), witness("indexer", sample(1_600, 3_200))];

    const { doubt } = examined(sample(2_000, row.timestampSec), others, { clock: NEW_CLOCK });

    expect(doubt !== null).toBe(row.doubted);
  });

  it("knows no order of two heights that are the same, where nobody knows the pace", () => {
    const same = [witness("indexer", sample(1_700, 9_000)), witness("indexer", sample(1_700, 9_000))];

    expect(examined(sample(1_700, 3_000), same, { clock: NEW_CLOCK, intervalMs: null }).doubt).toBeNull();
  });

  it("names its time where that and its hash are doubted", () => {
    const node = witness("rpc", sample(1_200, 2_400, "0xb"));

    const { doubt, hashMismatches } = examined(sample(1_200, 9_600, "0xa"), [node], { hashMismatches: 5 });

    expect(doubt).toContain("its time of block 1,200");
    expect(hashMismatches).toBe(6);
  });

  it("finds no clock wrong for a forked hash", () => {
    const node = witness("rpc", sample(1_200, null, "0xb"));

    expect(examined(sample(1_200, 2_400, "0xa"), [node], { hashMismatches: 1 })).toEqual({
      doubt: "its hash of block 1,200 is not that of the other sources",
      hashMismatches: 2,
      clockIsWrong: false,
    });
    expect(examined(sample(1_200, null, "0xa"), [node]).clockIsWrong).toBe(false);
  });

  it("lets no witness uphold a time where nobody knows the pace", () => {
    expect(
      examined(sample(1_200, 9_600), [witness("indexer", sample(1_200, 9_600))], { intervalMs: null }).doubt,
    ).not.toBeNull();
  });
});

describe("examine() of a hash", () => {
  const mine = sample(10, null, "0xa");
  const same = witness("indexer", sample(10, null, "0xa"));
  const other = witness("indexer", sample(9, null, "0x9"), sample(10, null, "0xb"));
  const node = witness("rpc", sample(10, null, "0xb"));

  it.each([
    { case: "an RPC node has another", others: [node], count: 2 },
    { case: "two indexers have another", others: [other, other], count: 2 },
    { case: "one indexer has another", others: [other], count: 1 },
    { case: "one has another and one the same", others: [other, same], count: 1 },
    { case: "an RPC node has another and one indexer the same", others: [node, same], count: 1 },
    { case: "an indexer has the same", others: [same], count: 0 },
    { case: "nobody has that block", others: [witness("rpc", sample(11, null, "0xb"))], count: 1 },
    { case: "nobody tells its hash", others: [witness("rpc", sample(10, null, null))], count: 1 },
  ])("counts $count after one mismatch where $case", ({ others, count }) => {
    expect(examined(mine, others, { hashMismatches: 1 }).hashMismatches).toBe(count);
  });

  it("keeps its count where the sample has no hash", () => {
    expect(examined(sample(10, null), [node], { hashMismatches: 1 }).hashMismatches).toBe(1);
  });

  it.each([
    { before: 0, doubt: null },
    { before: 1, doubt: "its hash of block 10 is not that of the other sources" },
  ])("doubts after two mismatches in a row: $doubt after $before before", ({ before, doubt }) => {
    expect(examined(mine, [node], { hashMismatches: before }).doubt).toBe(doubt);
  });
});
