import type { Chain } from "../model/fleet.ts";
import type { Sighting } from "../model/sample.ts";
import type { ChainClock, HeadSighting } from "./chain-clock.ts";

/** The head on which the sources of a chain agree, and which sources are excluded. */
export interface Consensus {
  readonly head: HeadState | null;
  /** Keys of the sources that are level with the head. */
  readonly members: readonly string[];
  readonly opposed: readonly Opposition[];
  /** If sources contradict each other with equal weight: the keys of each side. Else empty. */
  readonly sides: readonly (readonly string[])[];
  readonly confirmed: ConfirmedHead | null;
}

export const NO_CONSENSUS: Consensus = {
  head: null,
  members: [],
  opposed: [],
  sides: [],
  confirmed: null,
};

/** The head that the sources agree on: a block that one of them has shown, and when the chain was seen there last. */
export interface HeadState extends HeadSighting {
  /** When the chain was first seen there. */
  readonly reachedMs: number;
  /** After this instant the head is too old to derive anything from. */
  readonly freshUntilMs: number;
}

/**
 * The last head that two providers, or an RPC node with a new block, have shown. A head that continues from the last one keeps
 * its `isDated` and `members`.
 */
export interface ConfirmedHead extends Sighting {
  /** Whether a source with a new block time has shown it. */
  readonly isDated: boolean;
  /** Keys of the sources that have reached it. */
  readonly members: readonly string[];
}

/** Why a source cannot be right. `ahead`: the chain has not made its block yet, or made it long before the source called it new. */
export type Conflict = "hash" | "times" | "ahead";

/** A block that a source has shown, and that other sources contradict. */
interface DoubtedBlock {
  readonly source: string;
  readonly block: number;
}

/** Why a source is excluded: which sources contradict it, and by how much. */
export interface Opposition extends DoubtedBlock {
  readonly kind: Conflict;
  /** For `times`, only the sources with block times, if there are any. */
  readonly by: readonly string[];
  /** How far the block is above the highest source that contradicts it; negative if it is below. */
  readonly blocks: number;
  /** How wrong its block time is if `by` is right; null if unknown, or for other conflicts. */
  readonly offMs: number | null;
  /** The RPC node's reply about the block, as a clause; null if no node was asked. */
  readonly proof: string | null;
}

/** Why other sources contradict a source; null if they do not. */
export function contradictionOf(
  { key }: { readonly key: string },
  { consensus }: { readonly consensus: Pick<Consensus, "opposed"> },
): Opposition | null {
  return consensus.opposed.find(({ source }) => source === key) ?? null;
}

/** A block that an RPC node is asked for, to learn whether the block is on the node's chain. */
export interface Suspicion extends DoubtedBlock {
  /** The key of the RPC node. */
  readonly node: string;
}

/** What the node replied about a block. */
export interface Proof extends Omit<Suspicion, "source"> {
  /** `none`: the node lacks the block; `unclear`: the hashes cannot be compared. */
  readonly says: "same" | "other" | "none" | "unclear";
  /** The reply as a clause. */
  readonly text: string;
}

export interface Pace {
  /** Measured, else configured, else null. */
  readonly intervalMs: number | null;
  readonly isMeasured: boolean;
  /** The shorter of `intervalMs` and the interval of the last minute: after a halt, a chain may be faster than usual. */
  readonly fastestMs: number | null;
}

export function paceOf({ intervalMs, recentMs }: ChainClock, { blockTimeMs }: Chain): Pace {
  const usualMs = intervalMs ?? blockTimeMs;
  const fastestMs = usualMs === null || recentMs === null ? usualMs : Math.min(usualMs, recentMs);
  return { intervalMs: usualMs, isMeasured: intervalMs !== null, fastestMs };
}
