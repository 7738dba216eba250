import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Target } from "../../../src/core/model/fleet.ts";
import type { ParityValue } from "../../../src/core/model/parity.ts";
import type { PairState } from "../../../src/core/parity/pair-state.ts";
import {
  NO_PARITY,
  observeReadings,
  type ParityState,
  pairStateOf,
  type TakenReading,
} from "../../../src/core/parity/parity-state.ts";
import type { WatchedProbe } from "../../../src/core/parity/watched-probe.ts";
import { BASE, T0, targetOn } from "../chain/chain-fixture.ts";

/** A reading of one of two sources: which, how much later, how much higher, and whether a lower replica answers. */
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
): ParityPlay {
  const parity = new ParityPlay(["a", "b"], 60_000);
  const heights: Record<string, number> = { a: 1_000, b: 1_000 };
  for (const { variant, afterMs, blocks, below } of steps) {
    const height = (heights[variant] ?? 0) + blocks;
    heights[variant] = height;
    const block = Math.max(1, height - below);
    parity.read({ [variant]: [block, valueAt(variant, block)] }, afterMs);
    if (parity.pair().result === "different") {
      break;
    }
  }
  return parity;
}

describe("the judgement of parity", () => {
  it("never reports a difference between two targets of one chain whose values do not return", () => {
    fc.assert(
      fc.property(Steps, Changes, (steps, changes) => {
        const count: Valued = (_, block) => changes.filter((change) => change <= block).length;

        expect(play(steps, count).pair().result).not.toBe("different");
      }),
    );
  });

  it("never says equal of two that have no value in common", () => {
    fc.assert(
      fc.property(Steps, Changes, (steps, changes) => {
        const own: Valued = (variant, block) =>
          `${variant}${changes.filter((change) => change <= block).length}`;

        expect(play(steps, own).pair().result).not.toBe("equal");
      }),
    );
  });

  it("says the same in whichever order the readings of one instant come", () => {
    fc.assert(
      fc.property(Steps, Steps, Changes, (steps, more, changes) => {
        const count: Valued = (variant, block) =>
          changes.filter((change) => change <= block).length - Number(variant === "b" && block > 9_000);
        const parity = play(steps, count);
        const taken = more.slice(0, 2).flatMap(({ blocks }) =>
          parity.probe.targets.map(({ target }, at): TakenReading => {
            const block = 20_000 + blocks + at;
            const value = parityValue(count(target.variant, block));
            return takenReading(target, { block, value, atMs: parity.nowMs + 1 });
          }),
        );
        const [first = [], second = []] = [taken.slice(0, 2), taken.slice(2)];
        const fold = (state: ParityState, batch: readonly TakenReading[]) =>
          observeReadings(state, { probes: [parity.probe], staleMs: 300_000 }, batch);
        const inOrder = fold(fold(parity.state, first), second);
        const turned = fold(fold(parity.state, first.toReversed()), second.toReversed());

        expect(turned.pairs).toEqual(inOrder.pairs);
        expect(new Set(turned.sources)).toEqual(new Set(inOrder.sources));
      }),
    );
  });

  it("remembers a bounded amount, however long the values and whatever comes", () => {
    const long = Steps.map((steps) =>
      Array.from({ length: 20 }, () => steps)
        .flat()
        .slice(0, 1_500),
    );
    fc.assert(
      fc.property(long, (steps) => {
        const { state } = play(steps, (_, block) => `${block}`.repeat(500));

        expect(JSON.stringify(state).length).toBeLessThan(64_000);
      }),
      { numRuns: 10 },
    );
  });
});

const MINUTE = 60_000;
const STALE_MS = 5 * MINUTE;

/** What a variant says: its height, and the value there. */
type Said = readonly [block: number, value: number | string | boolean | null];

/** A probe over production targets of these variants, each compared with those before it. */
function probeOver(variants: readonly string[], everyMs = MINUTE): WatchedProbe {
  const targets = variants.map((variant) => targetOn(BASE, `airdrops/${variant}`));
  return {
    name: "rows",
    everyMs,
    targets: targets.map((target) => ({ target, select: "rows { n }", query: "q" })),
    pairs: targets.flatMap((target, index) =>
      targets.slice(0, index).map((against) => ({ target, against })),
    ),
  };
}

/** Plays readings of one probe, a minute after another unless told otherwise. */
class ParityPlay {
  readonly probe: WatchedProbe;
  state: ParityState = NO_PARITY;
  nowMs = T0;

  constructor(variants: readonly string[] = ["a", "b"], everyMs = MINUTE) {
    this.probe = probeOver(variants, everyMs);
  }

  /** One tick, in which these variants are read at once. */
  read(said: Readonly<Record<string, Said>>, stepMs = this.probe.everyMs): this {
    this.nowMs += stepMs;
    return this.take(
      Object.entries(said).map(([variant, [block, value]]) =>
        takenReading(this.#target(variant), { block, value: parityValue(value), atMs: this.nowMs }),
      ),
    );
  }

  take(taken: readonly TakenReading[]): this {
    this.state = observeReadings(this.state, { probes: [this.probe], staleMs: STALE_MS }, taken);
    return this;
  }

  pair(target = "b", against = "a"): PairState {
    return pairStateOf(this.state, this.probe, {
      target: this.#target(target),
      against: this.#target(against),
    });
  }

  #target(variant: string): Target {
    const found = this.probe.targets.find(({ target }) => target.variant === variant);
    if (found === undefined) {
      throw new Error(`Cannot read ${variant}: the probe has no such variant`);
    }
    return found.target;
  }
}

/** A trusted reading of a target. */
function takenReading(
  { key }: Target,
  { block, value, atMs }: { readonly block: number; readonly value: ParityValue; readonly atMs: number },
): TakenReading {
  return {
    reading: {
      kind: "value",
      probe: "rows",
      target: key,
      block,
      value,
      sentAtMs: atMs - 50,
      receivedAtMs: atMs,
    },
    trust: "trusted",
    deployment: null,
  };
}

function parityValue(value: Said[1]): ParityValue {
  const isNumber = typeof value === "number";
  return { text: typeof value === "string" ? value : JSON.stringify(value), isNumber };
}
