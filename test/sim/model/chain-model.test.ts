import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  type ChainSpec,
  createChain,
  driftingPaces,
  hashOf,
  headAt,
  paceAt,
  timeOf,
  withPace,
} from "../../../src/sim/model/chain-model.ts";

const START_MS = 1_700_000_000_000;
const BASE: ChainSpec = { slug: "base", id: 8453, blockTimeMs: 2_000, startMs: START_MS, startBlock: 1_000 };

const anyChain = fc
  .record({
    blockTimeMs: fc.constantFrom(200, 250, 750, 1_700, 2_000, 12_000),
    startBlock: fc.nat(400_000_000),
    jitter: fc.constantFrom(0, 0.3, 0.99),
    gapsSec: fc.array(fc.nat(5_000), { maxLength: 4 }),
    factors: fc.array(fc.constantFrom(null, 0.5, 1, 2, 1.07), { minLength: 4, maxLength: 4 }),
  })
  .map(({ gapsSec, factors, ...rest }) => {
    let atMs = START_MS;
    const paces = gapsSec.map((gapSec, index) => {
      atMs += gapSec * 1_000;
      const factor = factors[index] ?? null;
      return { atMs, blockTimeMs: factor === null ? null : rest.blockTimeMs * factor };
    });
    return createChain({ slug: "any", id: 7, startMs: START_MS, ...rest, paces });
  });

const anyInstant = fc.integer({ min: START_MS - 10_000_000, max: START_MS + 50_000_000 });

describe("headAt()", () => {
  it.each([
    { case: "at its start", atMs: START_MS, head: 1_000 },
    { case: "just before the next block", atMs: START_MS + 1_999, head: 1_000 },
    { case: "at the next block", atMs: START_MS + 2_000, head: 1_001 },
    { case: "an hour later", atMs: START_MS + 3_600_000, head: 2_800 },
    { case: "at block 0", atMs: START_MS - 2_000_000, head: 0 },
    { case: "before there was a chain", atMs: START_MS - 2_000_001, head: -1 },
  ])("is $head $case", ({ atMs, head }) => {
    expect(headAt(createChain(BASE), atMs)).toBe(head);
  });

  it("stands still while the chain halts, and goes on at the new pace", () => {
    const chain = createChain({
      ...BASE,
      paces: [
        { atMs: START_MS + 3_000, blockTimeMs: null },
        { atMs: START_MS + 60_000, blockTimeMs: 1_000 },
      ],
    });

    expect(headAt(chain, START_MS + 59_999)).toBe(1_001);
    expect(headAt(chain, START_MS + 62_500)).toBe(1_003);
  });

  it("never goes back", () => {
    fc.assert(
      fc.property(anyChain, anyInstant, fc.nat(20_000_000), (chain, atMs, laterMs) => {
        expect(headAt(chain, atMs + laterMs)).toBeGreaterThanOrEqual(headAt(chain, atMs));
      }),
    );
  });
});

describe("timeOf()", () => {
  it("is in the past for the head, and in the future for the block after it", () => {
    fc.assert(
      fc.property(anyChain, anyInstant, (chain, atMs) => {
        const head = headAt(chain, atMs);

        expect(timeOf(chain, head)).toBeLessThanOrEqual(atMs);
        expect(timeOf(chain, head + 1)).toBeGreaterThan(atMs);
      }),
    );
  });

  it("never comes for the next block of a chain that halts", () => {
    const chain = createChain({ ...BASE, paces: [{ atMs: START_MS, blockTimeMs: null }] });

    expect(timeOf(chain, 1_000)).toBe(START_MS);
    expect(timeOf(chain, 1_001)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("withPace()", () => {
  it("refuses to change the past", () => {
    const chain = withPace(createChain(BASE), { atMs: START_MS, blockTimeMs: 1_000 });

    expect(() => withPace(chain, { atMs: START_MS - 1, blockTimeMs: null })).toThrow(
      `Cannot change the pace of base before its last change: ${START_MS - 1}`,
    );
  });

  it("leaves what was before as it was", () => {
    const before = createChain(BASE);

    const after = withPace(before, { atMs: START_MS + 9_000, blockTimeMs: 500 });

    expect(headAt(after, START_MS + 9_000)).toBe(headAt(before, START_MS + 9_000));
    expect(paceAt(after, START_MS + 8_999)).toBe(2_000);
    expect(paceAt(after, START_MS + 9_000)).toBe(500);
  });
});

describe("driftingPaces()", () => {
  it("wanders within its ratio, and always the same way", () => {
    const options = {
      seed: "drift",
      blockTimeMs: 2_000,
      fromMs: START_MS,
      toMs: START_MS + 86_400_000,
      everyMs: 600_000,
      ratio: 0.05,
    };

    const paces = driftingPaces(options);

    expect(paces).toHaveLength(144);
    expect(paces).toEqual(driftingPaces(options));
    expect(Math.min(...paces.map(({ blockTimeMs }) => blockTimeMs ?? 0))).toBeGreaterThanOrEqual(1_900);
    expect(Math.max(...paces.map(({ blockTimeMs }) => blockTimeMs ?? 0))).toBeLessThanOrEqual(2_100);
    expect(new Set(paces.map(({ blockTimeMs }) => blockTimeMs)).size).toBeGreaterThan(100);
  });
});

describe("hashOf()", () => {
  it("differs by chain, block and fork, and by nothing else", () => {
    const hash = hashOf(8453, 1_000, "main");

    expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(hashOf(8453, 1_000, "main")).toBe(hash);
    expect(
      new Set([hash, hashOf(1, 1_000, "main"), hashOf(8453, 1_001, "main"), hashOf(8453, 1_000, "other")])
        .size,
    ).toBe(4);
  });
});
