import { type ChainClock, seeReference } from "./chain-clock.ts";
import type { ChainState, WatchedChain } from "./chain-state.ts";
import { believedClaims } from "./claims.ts";
import { examineHeads } from "./examine-heads.ts";
import { acceptClaim, foldPoll } from "./fold-poll.ts";
import { judgeHeard } from "./judge-heard.ts";
import { measureGaps } from "./measure-gaps.ts";
import type { Observation } from "./observation.ts";
import { mostBlocksIn, type Pace } from "./pace.ts";
import { hasLeapt, highestPossible, type ReferenceState, updateReference } from "./reference.ts";
import { isHeight } from "./sample.ts";
import { newestSample, type SourceState } from "./source-state.ts";
import { EMPTY_TIMELINE } from "./timeline.ts";
import { votesOf } from "./votes.ts";
import { layOut, type Workbench } from "./workbench.ts";

/** A step back is large beyond this, and beyond what the thresholds for `lagging` and `stalled` bear. */
const LARGE_STEP_BLOCKS = 256;

/** Folds the observations of one instant: first what was said, then what follows from all of it together. */
export function observeInstant(
  before: ChainState,
  watched: WatchedChain,
  instant: readonly Observation[],
): ChainState {
  const bench = layOut(before, watched, instant);
  if (bench === null) {
    return before;
  }
  foldPolls(bench);
  believeClaims(bench);
  const { nowMs, pace, sources } = bench;
  const examined = examineHeads(bench);
  const votes = votesOf(sources, { nowMs, pace, thresholds: watched.chain.thresholds });
  const reference = updateReference(before.reference, votes, { nowMs, pace });
  const clock = followReference(examined, before.reference, { reference, pace });
  measureGaps(bench, clock);
  judgeHeard(bench, { reference, clock });
  return { sources, reference, clock };
}

function foldPolls({ before, heard, pace, sources, watched }: Workbench): void {
  const { laggingMs, stalledMs } = watched.chain.thresholds;
  const borne = Math.min(laggingMs, stalledMs) / (pace.intervalMs ?? Number.POSITIVE_INFINITY);
  for (const { index, observation } of heard) {
    const state = sources[index];
    if (state !== undefined) {
      sources[index] = foldPoll(state, withCredibleHeight(observation), {
        highestPossible: highestFor(state, before.reference, { pace, atMs: observation.receivedAtMs }),
        largeStepBlocks: Math.max(LARGE_STEP_BLOCKS, borne),
      });
    }
  }
}

/** What a source may claim: what the chain, or its own track, can have reached; a first reference may be too low. */
function highestFor(
  state: SourceState,
  reference: ReferenceState | null,
  { pace, atMs }: { readonly pace: Pace; readonly atMs: number },
): number | null {
  const highest = highestPossible(reference, pace, atMs);
  const own = newestSample(state);
  return highest === null || own === null
    ? highest
    : Math.max(highest, own.block + mostBlocksIn(atMs - own.receivedAtMs, pace));
}

function believeClaims({ before, pace, sources }: Workbench): void {
  for (const state of believedClaims(sources, { reference: before.reference, pace })) {
    sources[sources.indexOf(state)] = acceptClaim(state);
  }
}

function withCredibleHeight(observation: Observation): Observation {
  if (observation.kind !== "head" || isHeight(observation.head.block)) {
    return observation;
  }
  const { source, sentAtMs, receivedAtMs } = observation;
  const detail = `block ${observation.head.block}, which is no height`;
  return { source, sentAtMs, receivedAtMs, kind: "failed", reason: "implausible", detail };
}

function followReference(
  clock: ChainClock,
  before: ReferenceState | null,
  { reference, pace }: { readonly reference: ReferenceState | null; readonly pace: Pace },
): ChainClock {
  if (reference === null || reference === before) {
    return clock;
  }
  const known = hasLeapt(before, reference) ? { ...clock, seen: EMPTY_TIMELINE } : clock;
  return seeReference(known, reference, pace.intervalMs);
}
