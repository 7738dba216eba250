import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createChain, headAt, timeOf } from "../../src/sim/model/chain-model.ts";
import {
  AT_THE_TIP,
  catchUpWithin,
  heightAt,
  type IndexerBehaviour,
  type IndexerModel,
  processedAt,
} from "../../src/sim/model/indexer-model.ts";

const T0 = 1_700_000_000_000;
const chain = createChain({ slug: "base", id: 8453, blockTimeMs: 2_000, startMs: T0, startBlock: 1_000_000 });
const gnosis = createChain({ slug: "gnosis", id: 100, blockTimeMs: 5_000, startMs: T0, startBlock: 40_000 });

const anyChain = fc
  .record({
    blockTimeMs: fc.constantFrom(200, 250, 750, 1_700, 2_000, 12_000),
    startBlock: fc.nat(400_000_000),
    jitter: fc.constantFrom(0, 0.3, 0.99),
    gapsSec: fc.array(fc.nat(5_000), { maxLength: 4 }),
    factors: fc.array(fc.constantFrom(null, 0.5, 1, 2, 1.07), { minLength: 4, maxLength: 4 }),
  })
  .map(({ gapsSec, factors, ...rest }) => {
    let atMs = T0;
    const paces = gapsSec.map((gapSec, index) => {
      atMs += gapSec * 1_000;
      const factor = factors[index] ?? null;
      return { atMs, blockTimeMs: factor === null ? null : rest.blockTimeMs * factor };
    });
    return createChain({ slug: "any", id: 7, startMs: T0, ...rest, paces });
  });

const anyInstant = fc.integer({ min: T0 - 10_000_000, max: T0 + 50_000_000 });

describe("the chain of a simulation", () => {
  it("produces blocks at its pace, halts, and continues at the new pace", () => {
    const paced = createChain({
      slug: "base",
      id: 8453,
      blockTimeMs: 2_000,
      startMs: T0,
      startBlock: 1_000,
      paces: [
        { atMs: T0 + 3_000, blockTimeMs: null },
        { atMs: T0 + 60_000, blockTimeMs: 1_000 },
      ],
    });

    const heads = [-2_000_001, -2_000_000, 0, 1_999, 2_000, 59_999, 62_500].map((afterMs) =>
      headAt(paced, T0 + afterMs),
    );

    expect(heads).toEqual([-1, 0, 1_000, 1_000, 1_001, 1_001, 1_003]);
  });

  it("never goes back, and each block has a time that is past exactly from when it is the head", () => {
    fc.assert(
      fc.property(anyChain, anyInstant, fc.nat(20_000_000), (any, atMs, laterMs) => {
        const head = headAt(any, atMs);

        expect(headAt(any, atMs + laterMs)).toBeGreaterThanOrEqual(head);
        expect(timeOf(any, head)).toBeLessThanOrEqual(atMs);
        expect(timeOf(any, head + 1)).toBeGreaterThan(atMs);
      }),
    );
  });
});

describe("an indexer of a simulation", () => {
  it("is at the block of its behaviour a minute later", () => {
    const behaviours: readonly (Partial<IndexerBehaviour> & { readonly height: number | null })[] = [
      { height: 1_000_030 },
      { lagBlocks: 200, height: 999_830 },
      { lagMs: 20_000, height: 1_000_020 },
      { freezeAtMs: T0 + 30_000, height: 1_000_015 },
      { freezeAtMs: T0 + 90_000, height: 1_000_030 },
      { offsetBlocks: 30_000_000, height: 31_000_030 },
      { wrongChain: gnosis, height: 40_012 },
      { catchUp: { atMs: T0, fromBlock: 500, blocksPerSec: 100 }, height: 6_500 },
      { catchUp: { atMs: T0, fromBlock: 500, blocksPerSec: 1e6 }, height: 1_000_030 },
      { started: false, height: null },
    ];

    const heights = behaviours.map(({ height: _, ...behaviour }) =>
      processedAt(indexer(behaviour), T0 + 60_000),
    );

    expect(heights).toEqual(behaviours.map(({ height }) => height));
  });

  it("never goes beyond the head, nor back, whatever its lag and batches", () => {
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

  it("wobbles among replicas within its bound, the same way each time", () => {
    const model = indexer({ replicas: 3, wobbleBlocks: 200 });

    const lags = lagsOf(model, 300);

    expect(lags).toEqual(lagsOf(model, 300));
    expect(Math.min(...lags)).toBe(0);
    expect(Math.max(...lags)).toBeGreaterThan(10);
    expect(Math.max(...lags)).toBeLessThanOrEqual(200);
    expect(lagsOf({ ...model, seed: "two" }, 300)).not.toEqual(lags);
  });

  it("that catches up is at the tip after the given time, and not before", () => {
    const catchUp = catchUpWithin(indexer({}), { fromBlock: 400_000, atMs: T0, withinMs: 60_000 });
    const model = indexer({ catchUp });

    expect(processedAt(model, T0)).toBe(400_000);
    expect(processedAt(model, T0 + 50_000)).toBeLessThan(headAt(chain, T0 + 50_000));
    expect(processedAt(model, T0 + 60_000)).toBe(headAt(chain, T0 + 60_000));
  });
});

function indexer(behaviour: Partial<IndexerBehaviour>): IndexerModel {
  return { seed: "one", chain, behaviour: { ...AT_THE_TIP, ...behaviour } };
}

/** How far it is behind the head, second by second. */
function lagsOf(model: IndexerModel, seconds: number): readonly number[] {
  return Array.from({ length: seconds }, (_, index) => T0 + index * 1_000).map(
    (atMs) => headAt(chain, atMs) - (heightAt(model, atMs) ?? -1),
  );
}
