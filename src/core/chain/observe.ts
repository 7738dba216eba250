import { type ChainClock, NEW_CLOCK, noteTimestamp, recordHead, recordWitness } from "../head/chain-clock.ts";
import type { ChainState, WatchedChain } from "../head/chain-state.ts";
import { claimsOf, staleAfterMs } from "../head/claim.ts";
import { type Consensus, type Decision, decide, type Opposition } from "../head/consensus.ts";
import { oppositionText } from "../head/opposition-text.ts";
import { mostBlocksIn } from "../head/pace.ts";
import { EMPTY_TIMELINE } from "../head/timeline.ts";
import type { Observation } from "../model/observation.ts";
import { isHeight, type Sample } from "../model/sample.ts";
import { foldPoll } from "../source/fold-poll.ts";
import { hasReadHeight, type LastPoll, newestSample, type SourceState } from "../source/source-state.ts";
import { stalledAfterMs } from "../status/judge.ts";
import { isDecided, isTooEarly, judgedAgain } from "./first-round.ts";
import { measureGaps } from "./measure-gaps.ts";
import { settleStatuses } from "./settle-statuses.ts";
import { startTick, type Tick } from "./tick.ts";

/** A step back is large beyond this, and beyond what the thresholds for `lagging` and `stalled` bear. */
const LARGE_STEP_BLOCKS = 256;

/** Folds the observations of one instant: first what was said, then what follows from all of it together. */
export function observeInstant(
  before: ChainState,
  watched: WatchedChain,
  instant: readonly Observation[],
): ChainState {
  const tick = startTick(before, watched, instant);
  if (tick === null) {
    return before;
  }
  foldPolls(tick);
  noteSharedHashes(tick);
  const decision = agree(tick);
  const { consensus: agreed } = decision;
  rejectImpossibleHeights(tick, agreed);
  const clock = followConsensus(tick, decision);
  measureGaps(tick, { consensus: agreed, clock });
  settleStatuses(tick, { consensus: agreed, clock });
  return { ...before, sources: tick.sources, consensus: agreed, clock };
}

function foldPolls({ before, received, pace, sources, watched }: Tick): void {
  const { laggingMs, stalledMs } = watched.chain.thresholds;
  const borne = Math.min(laggingMs, stalledMs) / (pace.intervalMs ?? Number.POSITIVE_INFINITY);
  for (const { index, observation } of received) {
    const state = sources[index];
    if (state !== undefined) {
      sources[index] = foldPoll(state, withCredibleHeight(withCredibleTimes(observation)), {
        highestPossible: highestFor(state, before, { pace, atMs: observation.receivedAtMs }),
        isOpposed: before.consensus.opposed.some(({ source }) => source === state.key),
        largeStepBlocks: Math.max(LARGE_STEP_BLOCKS, borne),
        staleAfterMs: staleAfterMs(watched.chain.thresholds, state.pollIntervalMs),
      });
    }
  }
}

/** A source that has once given the same hash as another hashes blocks alike: from then on a hash that differs is of a fork. */
function noteSharedHashes({ received, sources }: Tick): void {
  for (const { index } of received) {
    const newest = sources[index]?.samples.at(-1) ?? null;
    if (newest === null || newest.hash === null) {
      continue;
    }
    sources.forEach((source, at) => {
      const isSame = ({ block, hash }: Sample) => block === newest.block && hash === newest.hash;
      if (at !== index && source.samples.some(isSame)) {
        markSharing(sources, at);
        markSharing(sources, index);
      }
    });
  }
}

function markSharing(sources: SourceState[], index: number): void {
  const source = sources[index];
  if (source?.sharesHashes === false) {
    sources[index] = { ...source, sharesHashes: true };
  }
}

/**
 * The highest that a source can have got to without a jump: what the chain, or its own track, can have made since. One that
 * the others contradict was on its own track alone, and comes back from that in a jump.
 */
function highestFor(
  state: SourceState,
  { consensus: { head, opposed, track } }: ChainState,
  { pace, atMs }: { readonly pace: Tick["pace"]; readonly atMs: number },
): number | null {
  const own = newestSample(state);
  // A head that nobody has confirmed bounds nobody: its source may back-fill.
  if (head === null || track === null || own === null) {
    return null;
  }
  const byTrack = own.block + mostBlocksIn(atMs - own.receivedAtMs, pace);
  const isElsewhere = opposed.some(({ source, kind }) => source === state.key && kind !== "below");
  return isElsewhere ? byTrack : Math.max(byTrack, head.block + mostBlocksIn(atMs - head.reachedMs, pace));
}

/** What all sources together say of the head. Who stands level with it has confirmed its jump, if there was one. */
function agree({ before, nowMs, pace, sources, watched }: Tick): Decision {
  const { thresholds } = watched.chain;
  const claims = claimsOf(sources, { nowMs, pace, thresholds, providers: watched.providers ?? {} });
  const stalledMs = stalledAfterMs(thresholds, pace.intervalMs);
  const decision = decide(claims, before.consensus, { pace, stalledAfterMs: stalledMs });
  sources.forEach((source, index) => {
    if (source.beforeJump !== null && decision.consensus.members.includes(source.key)) {
      sources[index] = { ...source, beforeJump: null };
    }
  });
  return decision;
}

/**
 * A height far beyond what the others agree on is a failed poll: it can be used for nothing. Whether one of a source's
 * first heights is, is looked at again with its status.
 */
function rejectImpossibleHeights(tick: Tick, agreed: Consensus): void {
  const { received, sources } = tick;
  for (const index of [...received.map((one) => one.index), ...judgedAgain(tick)]) {
    const state = sources[index];
    if (state?.last != null && hasReadHeight(state)) {
      sources[index] = withPossibleHeight(state, state.last, { tick, agreed });
    }
  }
}

function withPossibleHeight(
  state: SourceState,
  last: LastPoll,
  { agreed, tick }: { readonly agreed: Consensus; readonly tick: Tick },
): SourceState {
  const { sentAtMs, receivedAtMs } = last;
  const opposition = agreed.opposed.find(({ source }) => source === state.key);
  if (isFarAhead(opposition) && !isTooEarly(state, "diverged", () => isDecided(tick, agreed))) {
    const detail = oppositionText(opposition);
    return { ...state, last: { kind: "failed", reason: "implausible", detail, sentAtMs, receivedAtMs } };
  }
  return last.kind === "failed" ? { ...state, last: { kind: "head", sentAtMs, receivedAtMs } } : state;
}

/** Whether a source is excluded for a height that cannot exist yet. */
export function isFarAhead(opposition: Opposition | undefined): opposition is Opposition {
  return opposition !== undefined && opposition.kind !== "below" && opposition.blocks > LARGE_STEP_BLOCKS;
}

/** No poll takes so long: our clock was set while it was under way. */
const LONGEST_POLL_MS = 120_000;

/** A poll whose two instants cannot both be right was answered when it was received. */
function withCredibleTimes(observation: Observation): Observation {
  const { sentAtMs, receivedAtMs } = observation;
  const tookMs = receivedAtMs - sentAtMs;
  return tookMs >= 0 && tookMs <= LONGEST_POLL_MS ? observation : { ...observation, sentAtMs: receivedAtMs };
}

function withCredibleHeight(observation: Observation): Observation {
  if (observation.kind !== "head" || isHeight(observation.head.block)) {
    return observation;
  }
  const { source, sentAtMs, receivedAtMs } = observation;
  const detail = `block ${observation.head.block}, which is no height`;
  return { source, sentAtMs, receivedAtMs, kind: "failed", reason: "implausible", detail };
}

/** The clock goes by those alone who agree: what a source has told leaves with it. */
function followConsensus(tick: Tick, decision: Decision): ChainClock {
  const { before, pace } = tick;
  const { witness } = decision;
  const { head } = decision.consensus;
  const former = before.consensus.head;
  if (head === null || (head.block === former?.block && head.atMs === former.atMs)) {
    return followTimes(tick, decision, before.clock);
  }
  const goesOn =
    former !== null &&
    head.block >= former.block &&
    head.block <= former.block + mostBlocksIn(head.atMs - former.reachedMs, pace);
  const clock = followTimes(tick, decision, goesOn ? before.clock : NEW_CLOCK);
  const witnessed =
    witness === null ? clock : recordWitness(clock, witness, { head, intervalMs: pace.intervalMs });
  return recordHead(witnessed, head, pace.intervalMs);
}

/**
 * Adds the block times of this instant. Where a source is newly excluded, all are taken anew from those who stay; so are
 * they on a new clock, and once sources agree for the first time, for until then nobody's times are taken.
 */
function followTimes(
  { before, received, sources }: Tick,
  { consensus: { head, members, opposed, undecided }, misdated }: Decision,
  clock: ChainClock,
): ChainClock {
  const former = before.consensus.opposed;
  const isFirst = clock === NEW_CLOCK || before.consensus.members.length === 0;
  const isAnew =
    isFirst ||
    undecided.length > 0 ||
    opposed.some(({ source }) => former.every((one) => one.source !== source));
  const told = isAnew ? sources : received.flatMap(({ index }) => sources[index] ?? []);
  const samples = told
    .filter(({ key }) => members.includes(key) && !misdated.includes(key))
    .flatMap((source) => source.samples.slice(isAnew ? 0 : -1))
    // What a source has shown before it came down to the head is no block of this chain.
    .filter(({ block }) => head === null || block <= head.block + LARGE_STEP_BLOCKS);
  const start = isAnew ? { ...clock, reported: EMPTY_TIMELINE } : clock;
  return samples.reduce(
    (noted, { block, timestampSec }) =>
      timestampSec === null ? noted : noteTimestamp(noted, block, timestampSec),
    start,
  );
}
