import { hexAt, unitAt } from "./random.ts";

/** From `atMs` on, a chain makes one block every `blockTimeMs`; null: it halts. */
export interface PaceChange {
  readonly atMs: number;
  readonly blockTimeMs: number | null;
}

/** A chain as a test or a scenario describes it. */
export interface ChainSpec {
  readonly slug: string;
  readonly id: number;
  readonly blockTimeMs: number;
  /** Block `startBlock` is made at `startMs`; earlier blocks had the same pace, back to block 0. */
  readonly startMs: number;
  readonly startBlock: number;
  /** Each block is late by up to this share of the block time, in [0, 1). Default: 0. */
  readonly jitter?: number;
  /** The changes of pace, in the order of time. */
  readonly paces?: readonly PaceChange[];
}

/** A chain: plain data that determine its head at any time. `withPace` returns a new one. */
export interface ChainModel {
  readonly slug: string;
  readonly id: number;
  readonly jitter: number;
  readonly stretches: readonly Stretch[];
}

/** A stretch of even pace: block `afterBlock + k` comes k block times after `fromMs`. */
interface Stretch {
  readonly fromMs: number;
  readonly afterBlock: number;
  readonly blockTimeMs: number | null;
}

/** Makes a chain. @throws {RangeError} If the changes of pace are not in the order of time. */
export function createChain(spec: ChainSpec): ChainModel {
  const { slug, id, blockTimeMs, jitter = 0, paces = [] } = spec;
  const fromMs = spec.startMs - (spec.startBlock + 1) * blockTimeMs;
  const chain = { slug, id, jitter, stretches: [{ fromMs, afterBlock: -1, blockTimeMs }] };
  return paces.reduce(withPace, chain);
}

/** The chain with one more change of pace. @throws {RangeError} If it is before the last change. */
export function withPace(chain: ChainModel, change: PaceChange): ChainModel {
  const { atMs: fromMs, blockTimeMs } = change;
  if (fromMs < (chain.stretches.at(-1)?.fromMs ?? fromMs)) {
    throw new RangeError(`Cannot change the pace of ${chain.slug} before its last change: ${fromMs}`);
  }
  const stretch = { fromMs, afterBlock: headAt(chain, fromMs), blockTimeMs };
  return { ...chain, stretches: [...chain.stretches, stretch] };
}

/** The newest block at an instant; -1 before the first block. */
export function headAt(chain: ChainModel, atMs: number): number {
  const stretch = chain.stretches.findLast(({ fromMs }) => fromMs <= atMs);
  if (stretch === undefined || stretch.blockTimeMs === null) {
    return stretch?.afterBlock ?? -1;
  }
  // Because of late blocks and rounding, the estimate may be a block or two too high.
  let block = stretch.afterBlock + Math.floor((atMs - stretch.fromMs) / stretch.blockTimeMs) + 1;
  while (block > stretch.afterBlock && timeOf(chain, block) > atMs) {
    block -= 1;
  }
  return block;
}

/** The time of a past or future block in Unix milliseconds; Infinity: never. */
export function timeOf(chain: ChainModel, block: number): number {
  const stretch = chain.stretches.findLast(({ afterBlock }) => afterBlock < block);
  if (stretch === undefined) {
    return Number.NEGATIVE_INFINITY;
  }
  if (stretch.blockTimeMs === null) {
    return Number.POSITIVE_INFINITY;
  }
  const late = chain.jitter === 0 ? 0 : chain.jitter * unitAt(`${chain.id}/late`, block);
  return stretch.fromMs + (block - stretch.afterBlock + late) * stretch.blockTimeMs;
}

/** The time between blocks at an instant; null during a halt. */
export function paceAt(chain: ChainModel, atMs: number): number | null {
  return chain.stretches.findLast(({ fromMs }) => fromMs <= atMs)?.blockTimeMs ?? null;
}

/** The hash of a block: equal for all sources on one chain and fork, and different on each fork. */
export function hashOf(chainId: number, block: number, fork: string): string {
  return `0x${hexAt(`${chainId}/${fork}/${block}`, 64)}`;
}

const YEAR_MS = 365 * 86_400_000;

/** A chain that is one to three years old now, so that its heights look like real ones. */
export function chainOfAge(chain: Pick<ChainSpec, "slug" | "id" | "blockTimeMs">, nowMs: number): ChainSpec {
  const ageMs = YEAR_MS * (1 + 2 * unitAt("age", chain.id));
  return { ...chain, startMs: nowMs, startBlock: Math.floor(ageMs / chain.blockTimeMs) };
}
