import { type ChainClock, recordHead } from "../head/chain-clock.ts";
import { mostBlocksIn, type Pace } from "../head/pace.ts";
import { corroboratedJumps } from "../head/pending-jump.ts";
import { highestPossible, isDiscontinuous, type ReferenceState, updateReference } from "../head/reference.ts";
import { EMPTY_TIMELINE } from "../head/timeline.ts";
import { votesOf } from "../head/votes.ts";
import type { Observation } from "../model/observation.ts";
import { isHeight } from "../model/sample.ts";
import { acceptClaim, foldPoll } from "../source/fold-poll.ts";
import { newestSample, type SourceState } from "../source/source-state.ts";
import type { ChainState, WatchedChain } from "./chain-state.ts";
import { examineHeads } from "./examine-heads.ts";
import { judgeHeard } from "./judge-heard.ts";
import { measureGaps } from "./measure-gaps.ts";
import { startTick, type Tick } from "./tick.ts";

/** A step back is large beyond this, and beyond what the thresholds for `lagging` and `stalled` bear. */
const LARGE_STEP_BLOCKS = 256;

/** Folds the observations of one instant: first what was said, then what follows from all of it together. */
export function observeInstant(
  before: ChainState,
  watched: WatchedChain,
  instant: readonly Observation[],
): ChainState {
  const bench = startTick(before, watched, instant);
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

function foldPolls({ before, heard, pace, sources, watched }: Tick): void {
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

function believeClaims({ before, pace, sources }: Tick): void {
  for (const state of corroboratedJumps(sources, { reference: before.reference, pace })) {
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
  const known = isDiscontinuous(before, reference) ? { ...clock, seen: EMPTY_TIMELINE } : clock;
  return recordHead(known, reference, pace.intervalMs);
}
