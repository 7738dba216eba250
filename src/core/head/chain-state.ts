import type { Chain, Target } from "../model/fleet.ts";
import type { ParityState } from "../parity/parity-state.ts";
import type { WatchedProbe } from "../parity/watched-probe.ts";
import type { SourceState } from "../source/source-state.ts";
import { type ChainClock, newClock } from "./chain-clock.ts";

/** A chain with all that is polled for it. */
export interface WatchedChain {
  readonly chain: Chain;
  /** In the order of the fleet. */
  readonly targets: readonly Target[];
  /** By the key of the source. */
  readonly sources: ReadonlyMap<string, WatchedSource>;
  /** The baseline target by protocol; no entry if the protocol's first variant does not serve this chain. */
  readonly baselines: ReadonlyMap<string, Target>;
  /** What is compared of its targets' data. */
  readonly probes: readonly WatchedProbe[];
}

/** A target or an RPC node, as it is configured. */
export interface WatchedSource {
  readonly kind: SourceState["kind"];
  /** Whether it can be asked for the block at a height, as a JSON-RPC node can. */
  readonly hasBlocks: boolean;
  readonly pollIntervalMs: number;
  /** What has faults in common: sources of one provider fail together. */
  readonly provider: string;
  /** The chain id and a digest of the URL: only a source with the same is the same source. */
  readonly sentTo: string;
}

/** All that is remembered of one chain: plain data, which `Chain` alone edits. */
export interface ChainState {
  /** Raised with each change. */
  revision: number;
  /** Those that have answered: targets and RPC nodes, each once, in the order of their keys. */
  readonly sources: SourceState[];
  consensus: Consensus;
  clock: ChainClock;
  /** What an RPC node has said of blocks of sources that others contradict, by the source's key. */
  readonly proofs: Record<string, Proof>;
  /** What is known of the targets' data. */
  readonly parity: ParityState;
}

/** What the sources of a chain together say of its head. */
export interface Consensus {
  readonly head: HeadState | null;
  /** Keys of the sources that are level with the head. */
  readonly members: readonly string[];
  readonly opposed: readonly Opposition[];
  /** Where sets of equal weight oppose each other: the keys of each. Empty once it is decided. */
  readonly undecided: readonly (readonly string[])[];
  readonly confirmed: ConfirmedHead | null;
}

export const NO_CONSENSUS: Consensus = {
  head: null,
  members: [],
  opposed: [],
  undecided: [],
  confirmed: null,
};

/** The head that the sources agree on: a block that one of them has shown. */
export interface HeadState {
  readonly block: number;
  /** The first and last time at which the chain was seen at this block, within `slackMs`. */
  readonly reachedMs: number;
  readonly atMs: number;
  readonly slackMs: number;
  /** After this it is only a memory: nothing may be derived from it. */
  readonly freshUntilMs: number;
}

/** The last head that two providers, or an RPC node with a new block, have shown. */
export interface ConfirmedHead {
  readonly block: number;
  readonly atMs: number;
  /** Whether a new block time showed it, or one before it that it continues. */
  readonly isDated: boolean;
  /** Keys of the sources that have reached it, or one before it. */
  readonly members: readonly string[];
}

/** Why a source cannot be right: another hash, impossible block times, or a height that the chain cannot have, or can no longer have as new. */
export type Conflict = "hash" | "times" | "ahead";

/** Why a source is excluded: which sources contradict it, and by how much. */
export interface Opposition {
  readonly source: string;
  readonly kind: Conflict;
  readonly by: readonly string[];
  readonly block: number;
  /** Its distance to the highest source that contradicts it. */
  readonly blocks: number;
  /** How far its block times are from those of a source that contradicts them; null for other conflicts. */
  readonly offMs: number | null;
  /** The RPC node's reply about its block, as a clause; null if no node was asked. */
  readonly proof: string | null;
}

/** What an RPC node said when it was asked for a block that a source had shown. */
export interface Proof {
  /** The source's key of the node. */
  readonly node: string;
  readonly block: number;
  /** `none`: the node lacks the block; `unclear`: the hashes cannot be compared. */
  readonly says: "same" | "other" | "none" | "unclear";
  /** In a clause. */
  readonly text: string;
}

/** The known pace of a chain. */
export interface Pace {
  /** Measured, else configured, else null. */
  readonly intervalMs: number | null;
  readonly measured: boolean;
}

/** A chain at the instant at which something is worked out from all that is known of it. */
export interface ChainAt {
  readonly state: ChainState;
  readonly watched: WatchedChain;
  readonly pace: Pace;
  readonly nowMs: number;
}

export function chainAt(state: ChainState, watched: WatchedChain, nowMs: number): ChainAt {
  return { state, watched, pace: paceOf(state.clock, watched.chain), nowMs };
}

export function paceOf({ intervalMs }: ChainClock, { blockTimeMs }: Chain): Pace {
  return { intervalMs: intervalMs ?? blockTimeMs, measured: intervalMs !== null };
}

/** The initial state of a chain. */
export function newChainState(): ChainState {
  return {
    revision: 0,
    sources: [],
    consensus: NO_CONSENSUS,
    clock: newClock(),
    proofs: {},
    parity: { values: {}, pairs: {} },
  };
}

/** What is remembered of the source with this key, if it was heard. */
export function sourceOf({ sources }: ChainState, key: string): SourceState | undefined {
  return sources.find((source) => source.key === key);
}

/** The baseline of `target`; null if there is none or `target` is the baseline. */
export function baselineOf({ baselines }: WatchedChain, { key, protocol }: Target): Target | null {
  const baseline = baselines.get(protocol);
  return baseline === undefined || baseline.key === key ? null : baseline;
}
