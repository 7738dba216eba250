import { type ChainClock, NEW_CLOCK, noteTimestamp } from "./chain-clock.ts";
import { examine } from "./doubt.ts";
import { changed, newestSample, type SourceState } from "./source-state.ts";
import { headsHeard, type Workbench } from "./workbench.ts";

/** Holds each new height against the others, writes down what is doubted, and tells the clock the times that stand. */
export function examineHeads(bench: Workbench): ChainClock {
  let { clock } = bench.before;
  for (const { index } of headsHeard(bench)) {
    const state = bench.sources[index];
    clock = state === undefined ? clock : examineHead(bench, { state, index }, clock);
  }
  return clock;
}

function examineHead(
  bench: Workbench,
  { state, index }: { readonly state: SourceState; readonly index: number },
  clock: ChainClock,
): ChainClock {
  const sample = newestSample(state);
  if (sample === null || (sample.timestampSec === null && sample.hash === null)) {
    note(bench, index, { doubt: null, hashMismatches: state.hashMismatches });
    return clock;
  }
  const { doubt, hashMismatches, clockIsWrong } = examine(sample, bench.sources, {
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
  { sources }: Workbench,
  index: number,
  { doubt, hashMismatches }: Pick<SourceState, "doubt" | "hashMismatches">,
): void {
  const state = sources[index];
  if (state !== undefined && (state.doubt !== doubt || state.hashMismatches !== hashMismatches)) {
    sources[index] = changed(state, { doubt, hashMismatches });
  }
}
