import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Target } from "../../../src/core/model/fleet.ts";
import {
  type KnownComparison,
  newKnownComparison,
  observeReadings,
  type ParityState,
  type TakenReading,
} from "../../../src/core/parity/parity-state.ts";
import type { ProbedTarget, WatchedProbe } from "../../../src/core/parity/watched-probe.ts";
import { BASE, T0, targetOn } from "../chain/chain-fixture.ts";

/** A reading of one of two sources: its index, how much later and higher it is, and whether a lower replica replied. */
const Step = fc.record({
  variant: fc.constantFrom("a", "b"),
  afterMs: fc.integer({ min: 1, max: 120_000 }),
  blocks: fc.integer({ min: 0, max: 200 }),
  below: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 300 })),
});
const Steps = fc.array(Step, { minLength: 1, maxLength: 150 });
/** Heights at which a value changes to one that it never had. */
const Changes = fc.array(fc.integer({ min: 1_000, max: 30_000 }), { maxLength: 60 });

type Valued = (variant: string, block: number) => string | number;

function play(
  steps: readonly (typeof Step extends fc.Arbitrary<infer T> ? T : never)[],
  valueAt: Valued,
): { readonly state: ParityState; readonly nowMs: number } {
  const state: ParityState = { values: {}, comparisons: {} };
  const heights = { a: 1_000, b: 1_000 };
  let nowMs = T0;
  for (const { variant, afterMs, blocks, below } of steps) {
    nowMs += afterMs;
    heights[variant] += blocks;
    const block = Math.max(1, heights[variant] - below);
    fold(state, [takenReading(variant === "a" ? A : B, block, valueAt(variant, block), nowMs)]);
    if (comparisonIn(state).result === "different") {
      break;
    }
  }
  return { state, nowMs };
}

describe("the judgement of parity", () => {
  it("never reports a difference between two targets of one chain whose values do not return", () => {
    fc.assert(
      fc.property(Steps, Changes, (steps, changes) => {
        const count: Valued = (_, block) => changes.filter((change) => change <= block).length;

        expect(comparisonIn(play(steps, count).state).result).not.toBe("different");
      }),
    );
  });

  it("never calls two variants equal that have no value in common", () => {
    fc.assert(
      fc.property(Steps, Changes, (steps, changes) => {
        const own: Valued = (variant, block) =>
          `${variant}${changes.filter((change) => change <= block).length}`;

        expect(comparisonIn(play(steps, own).state).result).not.toBe("equal");
      }),
    );
  });

  it("does not depend on the order of readings of one instant", () => {
    fc.assert(
      fc.property(Steps, Steps, Changes, (steps, more, changes) => {
        const count: Valued = (variant, block) =>
          changes.filter((change) => change <= block).length - Number(variant === "b" && block > 9_000);
        const { state, nowMs } = play(steps, count);
        const batches = more
          .slice(0, 2)
          .map(({ blocks }) =>
            [A, B].map((target, at) =>
              takenReading(
                target,
                20_000 + blocks + at,
                count(target.variant, 20_000 + blocks + at),
                nowMs + 1,
              ),
            ),
          );
        const inOrder = structuredClone(state);
        for (const batch of batches) {
          fold(inOrder, batch);
          fold(state, batch.toReversed());
        }

        expect(state).toEqual(inOrder);
      }),
    );
  });

  it("takes a bounded amount of memory, however long the values and however many readings come", () => {
    const long = Steps.map((steps) =>
      Array.from({ length: 20 }, () => steps)
        .flat()
        .slice(0, 1_500),
    );
    fc.assert(
      fc.property(long, (steps) => {
        const { state } = play(steps, (_, block) => `${block}`.repeat(500).slice(0, 256));

        expect(JSON.stringify(state).length).toBeLessThan(64_000);
      }),
      { numRuns: 10 },
    );
  });
});

const [B, A] = ["b", "a"].map((variant) => {
  const target = targetOn(BASE, `airdrops/${variant}`);
  return { ...target, queryKey: `rows ${target.key}` };
}) as [ProbedTarget, ProbedTarget];
const COMPARED = { target: B, against: A, key: "rows" };
const PROBE: WatchedProbe = { name: "rows", everyMs: 60_000, targets: [A, B], compared: [COMPARED] };

function comparisonIn({ comparisons }: ParityState): KnownComparison {
  return comparisons[COMPARED.key] ?? newKnownComparison();
}

function fold(state: ParityState, taken: readonly TakenReading[]): void {
  observeReadings(state, { probes: [PROBE], staleMs: 300_000 }, taken);
}

/** A trusted reading of a target. */
function takenReading(target: Target, block: number, value: string | number, atMs: number): TakenReading {
  return {
    reading: {
      kind: "value",
      probe: "rows",
      target: target.key,
      block,
      value: { text: String(value), isNumber: typeof value === "number" },
      sentAtMs: atMs - 50,
      receivedAtMs: atMs,
    },
    trust: "trusted",
    deployment: null,
  };
}
