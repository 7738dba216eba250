import { describe, expect, it } from "vitest";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { disputeOf } from "../../../src/core/status/dispute.ts";
import { T0 } from "../chain/chain-fixture.ts";

const T0_SEC = T0 / 1_000;

/** A source with these heights, each with its block time in seconds since T0, or with none. */
function source(
  key: string,
  ...heights: readonly (readonly [block: number, sec: number | null])[]
): SourceState {
  const samples = heights.map(([block, sec]) => ({
    block,
    timestampSec: sec === null ? null : T0_SEC + sec,
    hash: null,
    sentAtMs: T0,
    receivedAtMs: T0,
  }));
  return { ...newSource({ key, kind: "indexer", pollIntervalMs: 15_000 }), samples };
}

describe("disputeOf()", () => {
  it("is null where the consensus is decided", () => {
    expect(disputeOf([], [source("a", [1_000, null])], 2_000)).toBeNull();
  });

  it("takes the highest block of each side, and the distance from the highest side to the lowest", () => {
    const sources = [
      source("a", [1_000, null]),
      source("b", [1_010, null]),
      source("c", [1_005, null]),
      source("d", [5_000, null]),
    ];

    expect(disputeOf([["a", "b", "c"], ["d"]], sources, 2_000)).toEqual({
      sides: [
        { sources: ["a", "b", "c"], block: 1_010 },
        { sources: ["d"], block: 5_000 },
      ],
      blocks: 3_990,
      offMs: null,
    });
  });

  it("leaves out a source that is not watched any more, for a reload may remove one during a dispute", () => {
    const sources = [source("b", [1_010, 0]), source("d", [1_000, -20])];

    expect(disputeOf([["a", "b"], ["d"]], sources, 2_000)).toMatchObject({
      sides: [{ block: 1_010 }, { block: 1_000 }],
      blocks: 10,
    });
  });

  it.each([
    { case: "of which nobody is watched any more", sources: [] },
    { case: "that has no height", sources: [source("a")] },
  ])("has block 0, and no time, for a side $case", ({ sources }) => {
    const other = source("d", [1_000, 0]);

    expect(disputeOf([["a"], ["d"]], [...sources, other], 2_000)).toEqual({
      sides: [
        { sources: ["a"], block: 0 },
        { sources: ["d"], block: 1_000 },
      ],
      blocks: 1_000,
      offMs: null,
    });
  });

  // At 2 s a block, block 1,100 is made 200 s after block 1,000.
  it.each([
    { case: "fit the pace of the chain", sec: 200, intervalMs: 2_000, offMs: null },
    { case: "are off by less than two minutes", sec: 319, intervalMs: 2_000, offMs: null },
    { case: "are off by two minutes", sec: 320, intervalMs: 2_000, offMs: 120_000 },
    { case: "are two minutes early", sec: 80, intervalMs: 2_000, offMs: 120_000 },
    { case: "differ, and nobody knows the pace", sec: 86_400, intervalMs: null, offMs: null },
    { case: "are known of one side alone", sec: null, intervalMs: 2_000, offMs: null },
  ])("is off by $offMs ms where the block times $case", ({ sec, intervalMs, offMs }) => {
    const sources = [source("a", [1_000, 0]), source("d", [1_100, sec])];

    expect(disputeOf([["a"], ["d"]], sources, intervalMs)?.offMs).toBe(offMs);
  });

  it("compares the newest block that has a time, where the last answer has none", () => {
    const sources = [source("a", [990, -20], [1_000, 0], [1_010, null]), source("d", [1_000, 300])];

    expect(disputeOf([["a"], ["d"]], sources, 2_000)?.offMs).toBe(300_000);
  });
});
