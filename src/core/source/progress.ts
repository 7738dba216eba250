import { readAtMs, type Sample } from "../model/sample.ts";
import {
  changed,
  type FoldContext,
  newestSample,
  reached,
  type SourceState,
  WOBBLE_SAMPLES,
} from "./source-state.ts";

/** Of the heights that showed a re-index: what was before, of another track, goes. */
const KEPT_AFTER_REINDEX = 2;

/** Steps forward and back. `state` already holds the new sample. */
export function foldProgress(state: SourceState, previous: Sample | null, context: FoldContext): SourceState {
  const sample = newestSample(state);
  if (sample === null) {
    return state;
  }
  const here = { block: sample.block, atMs: readAtMs(sample) };
  if (state.peak === null) {
    return changed(state, { peak: here });
  }
  const floor = state.peak.block - context.largeStepBlocks;
  if (hasReindexed(state, floor)) {
    return changed(state, {
      samples: state.samples.slice(-KEPT_AFTER_REINDEX),
      peak: here,
      reachedTip: false,
      stepBackPending: false,
      regressions: { ...state.regressions, reindex: state.regressions.reindex + 1 },
    });
  }
  const counted =
    sample.block < floor
      ? changed(state, { stepBackPending: true })
      : countStepsBack(state, previous, sample);
  return sample.block > state.peak.block
    ? changed(counted, { peak: here, lastAdvanceMs: here.atMs })
    : counted;
}

/** A large step back persists when none of the last few answers is near the old height. */
function hasReindexed(state: SourceState, floor: number): boolean {
  const highest = reached(state);
  return state.samples.length >= WOBBLE_SAMPLES && highest !== null && highest.block < floor;
}

/** A small step back counts at once; a large one when the target returns, for till then it may be a re-index. */
function countStepsBack(state: SourceState, previous: Sample | null, sample: Sample): SourceState {
  const fell = previous !== null && sample.block < previous.block;
  const steps = Number(state.stepBackPending) + Number(fell);
  if (steps === 0) {
    return state;
  }
  const regressions = { ...state.regressions, reorg: state.regressions.reorg + steps };
  return changed(state, { stepBackPending: false, regressions });
}
