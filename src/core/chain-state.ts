import type { Chain, Target } from "./fleet.ts";
import type { Observation } from "./observation.ts";
import type { ChainReport } from "./report.ts";

/** A chain with the targets that are measured on it. */
export interface WatchedChain {
  readonly chain: Chain;
  readonly targets: readonly Target[];
}

/** All that is remembered of one chain: plain data, replaced and never edited. */
export interface ChainState {
  readonly placeholder: never;
}

export declare function startChain(watched: WatchedChain): ChainState;
export declare function observeChain(
  state: ChainState,
  watched: WatchedChain,
  batch: readonly Observation[],
): ChainState;
export declare function reportChain(state: ChainState, watched: WatchedChain, nowMs: number): ChainReport;
