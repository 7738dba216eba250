import { type ChainState, sourceOf, type WatchedChain } from "../head/chain-state.ts";
import type { ParityReading } from "../model/parity.ts";
import { NO_PARITY, observeReadings, type TakenReading } from "../parity/parity-state.ts";
import type { SourceState } from "../source/source-state.ts";
import { contradictionOf } from "../status/judge.ts";

/**
 * Folds readings of values into a chain's state, after the observations of the same polls. A target whose heights cannot
 * be relied on says nothing of its data.
 */
export function observeParity(
  state: ChainState,
  watched: WatchedChain,
  readings: readonly ParityReading[],
): ChainState {
  const { chain, probes } = watched;
  if (probes === undefined) {
    return state;
  }
  const taken = readings.map((reading): TakenReading => {
    const source = sourceOf(state, reading.target);
    return { reading, trust: trustOf(source, state), deployment: source?.deployment ?? null };
  });
  const { staleMs } = chain.thresholds;
  return { ...state, parity: observeReadings(state.parity ?? NO_PARITY, { probes, staleMs }, taken) };
}

function trustOf(source: SourceState | undefined, { consensus }: ChainState): TakenReading["trust"] {
  if (source === undefined) {
    return "ignored";
  }
  const isContradicted =
    contradictionOf(source, { consensus }) !== null || consensus.undecided.flat().includes(source.key);
  if (isContradicted || source.verdict?.status === "diverged") {
    return "doubted";
  }
  const hasFailed = source.last?.kind !== "head" || source.verdict?.status === "failed";
  return hasFailed || source.beforeJump !== null ? "ignored" : "trusted";
}
