import { type ChainClock, NEW_CLOCK, noteTimestamp } from "../head/chain-clock.ts";
import { changed, newestSample, type SourceState } from "../source/source-state.ts";
import { checkConsistency } from "../status/consistency.ts";
import { headsReceived, type Tick } from "./tick.ts";

/** Holds each new height against the others, writes down what is doubted, and tells the clock the times that stand. */
export function examineHeads(bench: Tick): ChainClock {
  let { clock } = bench.before;
  for (const { index } of headsReceived(bench)) {
    const state = bench.sources[index];
    clock = state === undefined ? clock : examineHead(bench, { state, index }, clock);
  }
  return clock;
}

function examineHead(
  bench: Tick,
  { state, index }: { readonly state: SourceState; readonly index: number },
  clock: ChainClock,
): ChainClock {
  const sample = newestSample(state);
  if (sample === null || (sample.timestampSec === null && sample.hash === null)) {
    note(bench, index, { doubt: null, hashMismatches: state.hashMismatches });
    return clock;
  }
  const { doubt, hashMismatches, clockIsWrong } = checkConsistency(sample, bench.sources, {
    // As it was before this instant: what others say now must not depend on who is examined first.
    clock: bench.before.clock,
    intervalMs: bench.pace.intervalMs,
    hashMismatches: state.hashMismatches,
  });
  note(bench, index, { doubt, hashMismatches });
  if (doubt !== null || sample.timestampSec === null) {
    return clock;
  }
  const sound = clockIsWrong ? { ...clock, reported: NEW_CLOCK.reported } : clock;
  return noteTimestamp(sound, sample.block, sample.timestampSec);
}

function note(
  { sources }: Tick,
  index: number,
  { doubt, hashMismatches }: Pick<SourceState, "doubt" | "hashMismatches">,
): void {
  const state = sources[index];
  if (state !== undefined && (state.doubt !== doubt || state.hashMismatches !== hashMismatches)) {
    sources[index] = changed(state, { doubt, hashMismatches });
  }
}
