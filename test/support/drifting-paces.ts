import type { PaceChange } from "../../src/sim/model/chain-model.ts";
import { unitAt } from "../../src/sim/model/random.ts";

/** Changes of pace within ±`ratio` of the block time, one every `everyMs`, as in real chains. */
export function driftingPaces(options: {
  readonly seed: string;
  readonly blockTimeMs: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly everyMs: number;
  readonly ratio: number;
}): readonly PaceChange[] {
  const count = Math.max(0, Math.ceil((options.toMs - options.fromMs) / options.everyMs));
  return Array.from({ length: count }, (_, index) => ({
    atMs: options.fromMs + index * options.everyMs,
    blockTimeMs: options.blockTimeMs * (1 + options.ratio * (2 * unitAt(options.seed, index) - 1)),
  }));
}
