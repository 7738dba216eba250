import { type ChainClock, newClock } from "../head/chain-clock.ts";
import { type Consensus, NO_CONSENSUS, type Pace, type Proof, paceOf } from "../head/consensus.ts";
import type { Chain, Target } from "../model/fleet.ts";
import type { ParityState } from "../parity/parity-state.ts";
import type { WatchedProbe } from "../parity/watched-probe.ts";
import type { SourceState } from "../source/source-state.ts";

/** A chain with all that is polled for it. */
export interface WatchedChain {
  readonly chain: Chain;
  /** In the order of the fleet. */
  readonly targets: readonly Target[];
  /** By the key of the source. */
  readonly sources: ReadonlyMap<string, WatchedSource>;
  /** The baseline target by protocol; no entry if the protocol's baseline indexer does not serve this chain. */
  readonly baselines: ReadonlyMap<string, Target>;
  /** The probes that compare its targets' data. */
  readonly probes: readonly WatchedProbe[];
}

/** Shared by all sources without probes, because an empty map takes 200 bytes. */
export const NO_QUERIES: WatchedSource["queries"] = new Map();

/** A target or an RPC node, as it is configured. */
export interface WatchedSource {
  readonly kind: SourceState["kind"];
  /** Whether it can be asked for the block at a height, as a JSON-RPC node can. */
  readonly hasBlocks: boolean;
  readonly pollIntervalMs: number;
  /** Sources of one provider fail together, and count as one. */
  readonly provider: string;
  /** The chain id and a digest of the URL: if they change, it is another source. */
  readonly sentTo: string;
  /** The queries that probes send to it, by their keys from `queryKeyOf`, each with the name of its probe. */
  readonly queries: ReadonlyMap<string, string>;
}

/**
 * The memory of one chain: plain data, edited only through `Chain`. Its instants are of a monotonic clock, and a process that
 * restores the state continues that clock. `clock.wallOffsetMs` turns the instants into times of the wall clock.
 */
export interface ChainState {
  /** Raised with each change. */
  revision: number;
  /** The sources that were polled: targets and RPC nodes, each once, in the order of their keys. */
  readonly sources: SourceState[];
  consensus: Consensus;
  clock: ChainClock;
  /** The replies of an RPC node about blocks of suspected sources, by the source's key. */
  readonly proofs: Record<string, Proof>;
  /** The known values of the targets, and how they compare. */
  readonly parity: ParityState;
}

/** A chain at the instant of a decision or a report. */
export interface ChainAt {
  readonly state: ChainState;
  readonly watched: WatchedChain;
  readonly pace: Pace;
  readonly nowMs: number;
}

export function chainAt(state: ChainState, watched: WatchedChain, nowMs: number): ChainAt {
  return { state, watched, pace: paceOf(state.clock, watched.chain), nowMs };
}

export function newChainState(wallOffsetMs: number): ChainState {
  return {
    revision: 0,
    sources: [],
    consensus: NO_CONSENSUS,
    clock: newClock(wallOffsetMs),
    proofs: {},
    parity: { values: {}, comparisons: {} },
  };
}

/** The state of the source with this key, if it was polled. */
export function sourceOf({ sources }: ChainState, key: string): SourceState | undefined {
  return sources.find((source) => source.key === key);
}

/** The baseline of `target`; null if there is none or `target` is the baseline. */
export function baselineOf({ baselines }: WatchedChain, { key, protocol }: Target): Target | null {
  const baseline = baselines.get(protocol);
  return baseline === undefined || baseline.key === key ? null : baseline;
}
