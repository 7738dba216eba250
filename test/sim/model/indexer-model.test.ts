import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createChain, headAt } from "../../../src/sim/model/chain-model.ts";
import {
  AT_THE_TIP,
  catchUpWithin,
  heightAt,
  type IndexerBehaviour,
  type IndexerModel,
  processedAt,
} from "../../../src/sim/model/indexer-model.ts";

const T0 = 1_700_000_000_000;
const chain = createChain({ slug: "base", id: 8453, blockTimeMs: 2_000, startMs: T0, startBlock: 1_000_000 });
const gnosis = createChain({ slug: "gnosis", id: 100, blockTimeMs: 5_000, startMs: T0, startBlock: 40_000 });

function indexer(behaviour: Partial<IndexerBehaviour>): IndexerModel {
  return { seed: "one", chain, behaviour: { ...AT_THE_TIP, ...behaviour } };
}

function everySecond(model: IndexerModel, seconds: number): readonly number[] {
  return Array.from({ length: seconds }, (_, index) => heightAt(model, T0 + index * 1_000) ?? -1);
}

describe("processedAt()", () => {
  it.each([
    { case: "healthy", behaviour: {}, height: 1_000_030 },
    { case: "behind by blocks", behaviour: { lagBlocks: 200 }, height: 999_830 },
    { case: "behind by time", behaviour: { lagMs: 20_000 }, height: 1_000_020 },
    { case: "frozen half a minute ago", behaviour: { freezeAtMs: T0 + 30_000 }, height: 1_000_015 },
    { case: "going to freeze", behaviour: { freezeAtMs: T0 + 90_000 }, height: 1_000_030 },
    { case: "claiming too much", behaviour: { offsetBlocks: 30_000_000 }, height: 31_000_030 },
    { case: "on another chain", behaviour: { wrongChain: gnosis }, height: 40_012 },
    {
      case: "indexing anew",
      behaviour: { catchUp: { atMs: T0, fromBlock: 500, blocksPerSec: 100 } },
      height: 6_500,
    },
    {
      case: "at the tip again",
      behaviour: { catchUp: { atMs: T0, fromBlock: 500, blocksPerSec: 1e6 } },
      height: 1_000_030,
    },
    { case: "not started", behaviour: { started: false }, height: null },
  ])("is $height a minute on for one that is $case", ({ behaviour, height }) => {
    expect(processedAt(indexer(behaviour), T0 + 60_000)).toBe(height);
  });

  it("never goes beyond the head, nor back, whatever the lag and the batches", () => {
    const anyBehaviour = fc.record({
      lagBlocks: fc.nat(1_000),
      lagMs: fc.nat(600_000),
      batchBlocks: fc.integer({ min: 1, max: 50 }),
    });
    fc.assert(
      fc.property(anyBehaviour, fc.nat(10_000_000), fc.nat(100_000), (behaviour, afterMs, laterMs) => {
        const now = processedAt(indexer(behaviour), T0 + afterMs) ?? -1;

        expect(now).toBeLessThanOrEqual(headAt(chain, T0 + afterMs));
        expect(processedAt(indexer(behaviour), T0 + afterMs + laterMs)).toBeGreaterThanOrEqual(now);
      }),
    );
  });

  it("advances in uneven jumps when it works in batches", () => {
    const heights = [...new Set(everySecond(indexer({ batchBlocks: 10 }), 2_000))];
    const jumps = heights.slice(1).map((height, index) => height - (heights[index] ?? 0));

    expect(Math.max(...jumps)).toBeLessThanOrEqual(19);
    expect(new Set(jumps).size).toBeGreaterThan(5);
  });
});

describe("heightAt()", () => {
  it("wobbles among replicas within its bound, and the same way each time", () => {
    const model = indexer({ replicas: 3, wobbleBlocks: 200 });

    const heights = everySecond(model, 300);

    const lags = heights.map((height, index) => headAt(chain, T0 + index * 1_000) - height);
    expect(heights).toEqual(everySecond(model, 300));
    expect(Math.min(...lags)).toBe(0);
    expect(Math.max(...lags)).toBeGreaterThan(10);
    expect(Math.max(...lags)).toBeLessThanOrEqual(200);
  });

  it("steps back for a moment at a reorg, and only then", () => {
    const model = indexer({ reorgEveryMs: 60_000, reorgBlocks: 64 });

    const lags = everySecond(model, 600).map((height, index) => headAt(chain, T0 + index * 1_000) - height);

    expect(lags.filter((lag) => lag > 0)).toHaveLength(20);
    expect(Math.max(...lags)).toBeLessThanOrEqual(64);
  });

  it("differs between two indexers of different seeds", () => {
    const model = indexer({ replicas: 3, wobbleBlocks: 200 });

    expect(everySecond({ ...model, seed: "two" }, 300)).not.toEqual(everySecond(model, 300));
  });
});

describe("catchUpWithin()", () => {
  it("is at the tip after the given time, and not before", () => {
    const catchUp = catchUpWithin(indexer({}), { fromBlock: 400_000, atMs: T0, withinMs: 60_000 });
    const model = indexer({ catchUp });

    expect(processedAt(model, T0)).toBe(400_000);
    expect(processedAt(model, T0 + 50_000)).toBeLessThan(headAt(chain, T0 + 50_000));
    expect(processedAt(model, T0 + 60_000)).toBe(headAt(chain, T0 + 60_000));
    expect(processedAt(model, T0 + 90_000)).toBe(headAt(chain, T0 + 90_000));
  });
});
