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
  /** What probes ask of it, as `askedOf` names it, each with the name of its probe. */
  readonly queries: ReadonlyMap<string, string>;
}

/**
 * All that is remembered of one chain: plain data, which `Chain` alone edits. Its instants are on a clock that nobody sets, and a process
 * that restores them goes on with that clock; `clock.wallOffsetMs` turns them into times of the wall clock.
 */
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

/** The initial state of a chain. */
export function newChainState(wallOffsetMs: number): ChainState {
  return {
    revision: 0,
    sources: [],
    consensus: NO_CONSENSUS,
    clock: newClock(wallOffsetMs),
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
