import type { SharedHeight } from "../../../src/core/parity/compare.ts";
import { type KnownValues, newKnownValues } from "../../../src/core/parity/known-values.ts";
import { foldComparison, newPair, type PairState } from "../../../src/core/parity/pair-state.ts";
import { T0 } from "../chain/chain-fixture.ts";

const MINUTE = 60_000;

/** A pair that was never compared. */
export const NEW = newPair({ probe: "rows", target: "b", against: "a" });

/** A comparison at minute `at`: by then both were read, unless told otherwise, at this very height, the newest of both. */
export interface Compares {
  readonly at: number;
  readonly block: number;
  readonly own?: string;
  readonly against?: string;
  /** The minutes at which the two were read last. */
  readonly ownAt?: number;
  readonly againstAt?: number;
  readonly belowHead?: number;
  readonly evidence?: SharedHeight["evidence"];
  readonly ownSource?: Partial<KnownValues>;
  readonly againstSource?: Partial<KnownValues>;
}

/** Folds in one comparison after another. */
export function fold(pair: PairState, ...comparisons: readonly Compares[]): PairState {
  return comparisons.reduce((folded, comparison) => foldComparison(folded, comparedBy(comparison)), pair);
}

function comparedBy({ at, block, own = "5", against = "5", ...more }: Compares) {
  const { ownAt = at, againstAt = at, belowHead = 0, evidence = "read", ownSource, againstSource } = more;
  const source = (target: string, readAt: number): KnownValues => ({
    ...newKnownValues({ probe: "rows", target, query: "q" }),
    lastMs: T0 + readAt * MINUTE,
  });
  return {
    shared: {
      block,
      own: { text: own, isNumber: true },
      against: { text: against, isNumber: true },
      belowHead,
      evidence,
    },
    own: { ...source("b", ownAt), ...ownSource },
    against: { ...source("a", againstAt), ...againstSource },
    nowMs: T0 + at * MINUTE,
  };
}

/** A comparison that finds a difference. */
export function differs(at: number, block: number, more: Partial<Compares> = {}): Compares {
  return { at, block, own: "6", against: "5", ...more };
}
