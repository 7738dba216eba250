import type { ChainSpec } from "./chain-model.ts";
import { unitAt } from "./random.ts";

const YEAR_MS = 365 * 86_400_000;

/** Three chains of very different pace: Base (2 s), Ethereum (12 s), Arbitrum One (0.25 s). */
export function usualChains(nowMs: number): readonly ChainSpec[] {
  return [
    chainOfAge({ slug: "base", id: 8453, blockTimeMs: 2_000 }, nowMs),
    chainOfAge({ slug: "ethereum", id: 1, blockTimeMs: 12_000 }, nowMs),
    chainOfAge({ slug: "arbitrum", id: 42161, blockTimeMs: 250 }, nowMs),
  ];
}

/** A chain that is one to three years old now, so that its heights look like real ones. */
export function chainOfAge(chain: Pick<ChainSpec, "slug" | "id" | "blockTimeMs">, nowMs: number): ChainSpec {
  const ageMs = YEAR_MS * (1 + 2 * unitAt("age", chain.id));
  return { ...chain, startMs: nowMs, startBlock: Math.floor(ageMs / chain.blockTimeMs) };
}
