import { describe, expect, it } from "vitest";
import { foldProgress } from "../../../src/core/source/progress.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";

const CONTEXT = { highestPossible: null, isOpposed: false, largeStepBlocks: 100, staleAfterMs: 300_000 };
const NEW = newSource({ key: "a", kind: "indexer", pollIntervalMs: 15_000 });

/** Folds heights that are read one second apart. */
function folded(...blocks: readonly number[]): SourceState {
  let state = NEW;
  for (const [second, block] of blocks.entries()) {
    const atMs = second * 1_000;
    const sample = { block, timestampSec: null, hash: null, sentAtMs: atMs, receivedAtMs: atMs };
    const previous = state.samples.at(-1) ?? null;
    state = foldProgress({ ...state, samples: [...state.samples, sample] }, previous, CONTEXT);
  }
  return state;
}

describe("foldProgress()", () => {
  it("changes nothing without a height", () => {
    expect(foldProgress(NEW, null, CONTEXT)).toBe(NEW);
  });

  it.each([
    { case: "a first height is no advance", blocks: [1_000], peak: [1_000, 0], advancedMs: null },
    { case: "a higher one is", blocks: [1_000, 1_001], peak: [1_001, 1_000], advancedMs: 1_000 },
    { case: "the same is none", blocks: [1_000, 1_001, 1_001], peak: [1_001, 1_000], advancedMs: 1_000 },
    { case: "a lower one is none", blocks: [1_000, 1_001, 999], peak: [1_001, 1_000], advancedMs: 1_000 },
  ])("$case", ({ blocks, peak: [block, atMs], advancedMs }) => {
    expect(folded(...blocks)).toMatchObject({ peak: { block, atMs }, lastAdvanceMs: advancedMs });
  });

  it.each([
    { case: "steady growth", blocks: [1_000, 1_001, 1_002], reorg: 0, reindex: 0, pending: false },
    { case: "standstill", blocks: [1_000, 1_000], reorg: 0, reindex: 0, pending: false },
    { case: "a small step back", blocks: [1_000, 999], reorg: 1, reindex: 0, pending: false },
    { case: "two of them", blocks: [1_000, 999, 998], reorg: 2, reindex: 0, pending: false },
    { case: "the largest small step back", blocks: [1_000, 900], reorg: 1, reindex: 0, pending: false },
    { case: "a large step back", blocks: [1_000, 899], reorg: 0, reindex: 0, pending: true },
    { case: "one that lasts for two polls", blocks: [1_000, 899, 899], reorg: 0, reindex: 0, pending: true },
    {
      case: "one that lasts for three polls",
      blocks: [1_000, 899, 899, 899],
      reorg: 0,
      reindex: 1,
      pending: false,
    },
    { case: "one whose target returns", blocks: [1_000, 899, 1_000], reorg: 1, reindex: 0, pending: false },
    {
      case: "one whose target returns in between",
      blocks: [1_000, 899, 900, 899, 899],
      reorg: 1,
      reindex: 0,
      pending: true,
    },
    {
      case: "one whose target returns, then steps back a little",
      blocks: [1_000, 899, 1_000, 999],
      reorg: 2,
      reindex: 0,
      pending: false,
    },
  ])("counts $reorg reorgs and $reindex re-indexes for $case", ({ blocks, reorg, reindex, pending }) => {
    expect(folded(...blocks)).toMatchObject({ regressions: { reorg, reindex }, stepBackPending: pending });
  });

  it("starts afresh after a re-index, with two heights of the new track", () => {
    expect(folded(1_000, 899, 10, 11)).toMatchObject({
      samples: [{ block: 10 }, { block: 11 }],
      peak: { block: 11, atMs: 3_000 },
    });
  });

  it("waits for three answers before it speaks of a re-index", () => {
    const peak = { block: 1_000, atMs: 0 };
    const [sample] = folded(10).samples;

    const state = foldProgress({ ...folded(10), peak }, sample ?? null, CONTEXT);

    expect(state).toMatchObject({ regressions: { reindex: 0 }, stepBackPending: true });
  });

  it("has to reach the tip again after a re-index", () => {
    const before = { ...folded(1_000, 10, 11), reachedTip: true };
    const sample = { block: 12, timestampSec: null, hash: null, sentAtMs: 3_000, receivedAtMs: 3_000 };

    const state = foldProgress({ ...before, samples: [...before.samples, sample] }, null, CONTEXT);

    expect(state).toMatchObject({ reachedTip: false, lastAdvanceMs: null });
  });
});
