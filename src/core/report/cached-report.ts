import type { ChainState, WatchedChain } from "../head/chain-state.ts";
import type { ChainReport } from "../model/report.ts";
import { reportChain } from "./report-chain.ts";

/** A chain's report, with the state and the instant that it was made from. */
export interface CachedReport {
  readonly report: ChainReport;
  readonly state: ChainState;
  readonly madeMs: number;
}

/**
 * A report of the same state is used again for so long: most chains of a large fleet were not polled since the last
 * report. Ages in details, and the moment at which evidence becomes stale, are late by this at most.
 */
const LIFETIME_MS = 15_000;

/** Returns the cached report while it is of the same state and young enough, else makes a new one. */
export function cachedReport(
  cached: CachedReport | null,
  { watched, state }: { readonly watched: WatchedChain; readonly state: ChainState },
  nowMs: number,
): CachedReport {
  const isValid =
    cached !== null &&
    cached.state === state &&
    cached.madeMs <= nowMs &&
    nowMs - cached.madeMs < LIFETIME_MS;
  return isValid ? cached : { report: reportChain(state, watched, nowMs), state, madeMs: nowMs };
}
