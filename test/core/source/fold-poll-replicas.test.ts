import { describe, expect, it } from "vitest";
import { foldPoll } from "../../../src/core/source/fold-poll.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { headAt, T0 } from "../chain/chain-fixture.ts";

const NEW = newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 });
const CONTEXT = { highestPossible: null, isOpposed: false, largeStepBlocks: 256, staleAfterMs: 300_000 };

/** Heights that are read 15 s apart, the last at T0. A step back of more than 256 blocks is a large one. */
function heard(blocks: readonly number[], before = NEW): SourceState {
  return blocks.reduce((state, block, index) => {
    const atMs = T0 - (blocks.length - 1 - index) * 15_000;
    return foldPoll(state, headAt("a", atMs, { block }), CONTEXT);
  }, before);
}

function blocksOf({ samples }: SourceState): readonly number[] {
  return samples.map(({ block }) => block);
}

describe("foldPoll() a source whose replicas disagree", () => {
  it("keeps low heights beside those of the others, once it has fallen twice", () => {
    const state = heard([10_000, 9_000, 10_001, 9_001]);

    expect(blocksOf(state)).toEqual([10_000, 10_001]);
    expect(state.replicas?.low.map(({ block }) => block)).toEqual([9_000, 9_001]);
    expect(state.peak).toEqual({ block: 10_001, atMs: T0 - 15_000 });
  });

  it("counts one step back for its first fall, and none for a low answer after", () => {
    const once = heard([10_000, 9_000, 10_001]);

    expect(once.regressions).toEqual({ reorg: 1, reindex: 0 });
    expect(heard([9_001, 10_002, 9_002, 10_003], once).regressions).toEqual({ reorg: 1, reindex: 0 });
  });

  it("counts a small step back of the high replicas once, whatever the low ones answer then", () => {
    const state = heard([10_000, 9_000, 10_005, 10_003, 9_001, 9_002]);

    expect(state.regressions).toEqual({ reorg: 2, reindex: 0 });
  });

  it("begins its track anew, without an advance, when it is back from what was taken for a re-index", () => {
    const fallen = heard([10_000, 9_000, 9_001, 9_002]);
    expect(fallen).toMatchObject({ regressions: { reindex: 1 }, peak: { block: 9_002 } });

    const state = heard([10_003], fallen);

    expect(blocksOf(state)).toEqual([10_003]);
    expect(state.peak).toEqual({ block: 10_003, atMs: T0 });
    expect(state.lastAdvanceMs).toBe(fallen.lastAdvanceMs);
    expect(state.regressions).toEqual({ reorg: 0, reindex: 1 });
  });

  it("has re-indexed once its last 64 answers are all low, and has not been at the tip since", () => {
    const lows = Array.from({ length: 63 }, (_, index) => 9_001 + index);
    const disagreeing = heard([10_000, 9_000, 10_001, ...lows], { ...NEW, reachedTip: true });
    expect(disagreeing).toMatchObject({ reachedTip: true, regressions: { reindex: 0 } });

    const state = heard([9_100], disagreeing);

    expect(blocksOf(state)).toEqual([9_100]);
    expect(state).toMatchObject({
      replicas: null,
      peak: { block: 9_100, atMs: T0 },
      reachedTip: false,
      regressions: { reorg: 1, reindex: 1 },
    });
  });
});
