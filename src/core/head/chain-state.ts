import type { Chain, Target } from "../model/fleet.ts";
import type { ParityState } from "../parity/parity-state.ts";
import type { WatchedProbe } from "../parity/watched-probe.ts";
import type { SourceState } from "../source/source-state.ts";
import type { ChainClock } from "./chain-clock.ts";
import type { Consensus } from "./consensus.ts";

/** A chain with the targets that are measured on it. */
export interface WatchedChain {
  readonly chain: Chain;
  /** In the order of the fleet. */
  readonly targets: readonly Target[];
  /**
   * Per protocol, the key of the target that the others are compared with; a protocol whose first variant does not
   * serve this chain has none. Left out, it is the first listed target of each protocol.
   */
  readonly baselines?: Readonly<Record<string, string>>;
  /** The host of each source, by its key: left out, each is its own. */
  readonly providers?: Readonly<Record<string, string>>;
  /** The chain id and a digest of the URL of each source, by its key: only a source with the same is the same source. */
  readonly sentTo?: Readonly<Record<string, string>>;
  /** What is compared of its targets' data; left out where nothing is. */
  readonly probes?: readonly WatchedProbe[];
}

/** All that is remembered of one chain: plain data, replaced and never edited. */
export interface ChainState {
  /** Those that have answered: targets and RPC nodes, each once, in the order of their keys. */
  readonly sources: readonly SourceState[];
  readonly consensus: Consensus;
  readonly clock: ChainClock;
  /** Where the sources of the configuration were that made this state, as in `WatchedChain`. */
  readonly sentTo?: Readonly<Record<string, string>>;
  /** What is known of the targets' data; left out while nothing is. */
  readonly parity?: ParityState;
}

/** What is remembered of the source with this key, if it was heard. */
export function sourceOf({ sources }: ChainState, key: string): SourceState | undefined {
  return sources.find((source) => source.key === key);
}
