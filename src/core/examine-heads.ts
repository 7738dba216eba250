import { type ChainClock, NEW_CLOCK, noteTimestamp } from "./chain-clock.ts";
import { examine } from "./doubt.ts";
import type { Sample } from "./sample.ts";
import { newestSample, type SourceState } from "./source-state.ts";
import type { Source } from "./votes.ts";
import { headsHeard, sourcesOf, type Workbench } from "./workbench.ts";

/** Holds each new height against the others, writes down what is doubted, and tells the clock the times that stand. */
export function examineHeads(bench: Workbench): ChainClock {
  const all = sourcesOf(bench);
  return headsHeard(bench).reduce(
    (clock, key) => examineHead(bench, { key, all }, clock),
    bench.before.clock,
  );
}

function examineHead(
  bench: Workbench,
  { key, all }: { readonly key: string; readonly all: readonly Source[] },
  clock: ChainClock,
): ChainClock {
  const state = bench.sources[key];
  const sample = state === undefined ? null : newestSample(state);
  if (state === undefined || sample === null) {
    return clock;
  }
  const { doubt, hashMismatches, clockIsWrong } = examine(sample, witnesses(all, key), {
    // As it was before this instant: what others say now must not depend on who is examined first.
    clock: bench.before.clock,
    intervalMs: bench.pace.intervalMs,
    hashMismatches: state.hashMismatches,
  });
  if (doubt !== state.doubt || hashMismatches !== state.hashMismatches) {
    bench.sources[key] = withDoubt(state, doubt, hashMismatches);
  }
  return doubt === null
    ? noted(clockIsWrong ? { ...clock, reported: NEW_CLOCK.reported } : clock, sample)
    : clock;
}

function withDoubt(state: SourceState, doubt: string | null, hashMismatches: number): SourceState {
  return { ...state, doubt, hashMismatches };
}

function witnesses(all: readonly Source[], key: string): readonly Source[] {
  return all.filter((source) => source.key !== key);
}

function noted(clock: ChainClock, sample: Sample): ChainClock {
  return sample.timestampSec === null ? clock : noteTimestamp(clock, sample.block, sample.timestampSec);
}
