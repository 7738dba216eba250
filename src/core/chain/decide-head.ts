import {
  type ChainClock,
  forgetTimestamps,
  measurePace,
  newClock,
  noteTimestamp,
  recordHead,
  recordWitness,
} from "../head/chain-clock.ts";
import type { ChainState, WatchedChain } from "../head/chain-state.ts";
import { claimsOf } from "../head/claim.ts";
import { type Decision, decide, isFarAhead, LARGE_STEP_BLOCKS } from "../head/consensus.ts";
import { oppositionText } from "../head/opposition-text.ts";
import { mostBlocksIn, type Pace } from "../head/pace.ts";
import type { Target } from "../model/fleet.ts";
import type { Sample } from "../model/sample.ts";
import { hasReadHeight, type LastPoll, newestSample, type SourceState } from "../source/source-state.ts";
import { stalledAfterMs } from "../status/judge.ts";
import { isDecided, isTooEarly, judgedAgain } from "./statuses.ts";

/** What the sources of a chain have said since its last decision. */
export interface Instant {
  readonly state: ChainState;
  readonly watched: WatchedChain;
  readonly heard: readonly Heard[];
  /** As it was known before. */
  readonly pace: Pace;
  /** When the last of them was received. */
  readonly nowMs: number;
}

/** A source that was polled since the last decision, and what was known of it before. */
export interface Heard {
  readonly source: SourceState;
  /** Null for an RPC node. */
  readonly target: Target | null;
  readonly isHead: boolean;
  /** Whether this reply has one of the source's first heights. */
  readonly isNew: boolean;
  readonly before: Pick<SourceState, "last" | "verdict">;
}

/** Works out the head from what all sources have said, and what follows for the chain's clock and for impossible heights. */
export function decideHead(instant: Instant): void {
  const { state, heard } = instant;
  noteSharedHashes(heard, state.sources);
  const decision = agree(instant);
  rejectImpossibleHeights(instant, decision);
  followClock(instant, decision);
  state.consensus = decision.consensus;
}

/** What all sources together say of the head. */
export function decisionOf(
  { state, watched }: Pick<Instant, "state" | "watched">,
  pace: Pace,
  nowMs: number,
): Decision {
  const { thresholds } = watched.chain;
  const claims = claimsOf(state.sources, { nowMs, pace, thresholds, watched: watched.sources });
  return decide(claims, state.consensus, {
    pace,
    stalledAfterMs: stalledAfterMs(thresholds, pace.intervalMs),
    proofs: state.proofs,
  });
}

/** A source level with the head has confirmed its jump, if there was one. */
function agree(instant: Instant): Decision {
  const decision = decisionOf(instant, instant.pace, instant.nowMs);
  for (const source of instant.state.sources) {
    if (source.beforeJump !== null && decision.consensus.members.includes(source.key)) {
      source.beforeJump = null;
    }
  }
  return decision;
}

/** A source that has once given the same hash as another hashes blocks alike: from then on a hash that differs is of a fork. */
function noteSharedHashes(heard: readonly Heard[], sources: readonly SourceState[]): void {
  for (const { source } of heard) {
    const newest = newestSample(source);
    if (newest === null || newest.hash === null) {
      continue;
    }
    const isSame = ({ block, hash }: Sample) => block === newest.block && hash === newest.hash;
    const alike = sources.filter((other) => other !== source && other.samples.some(isSame));
    for (const one of alike.length === 0 ? [] : [source, ...alike]) {
      one.sharesHashes = true;
    }
  }
}

/**
 * A height far beyond what the others agree on is a failed poll: it can be used for nothing. Whether one of a source's
 * first heights is, is looked at again with its status.
 */
function rejectImpossibleHeights(instant: Instant, decision: Decision): void {
  for (const source of [...instant.heard.map((one) => one.source), ...judgedAgain(instant)]) {
    const isTooSoon = () => isTooEarly(source, "diverged", () => isDecided(instant, decision.consensus));
    source.last = lastPollOf(source, decision, isTooSoon);
  }
}

/** How its last poll ended, by what all sources say now. */
export function lastPollOf(
  source: SourceState,
  { consensus }: Pick<Decision, "consensus">,
  isTooSoon: () => boolean,
): LastPoll | null {
  const { last } = source;
  if (last === null || !hasReadHeight(source)) {
    return last;
  }
  const { sentAtMs, receivedAtMs } = last;
  const opposition = consensus.opposed.find(({ source: key }) => key === source.key);
  if (isFarAhead(opposition) && !isTooSoon()) {
    const detail = oppositionText(opposition);
    return { kind: "failed", reason: "implausible", detail, sentAtMs, receivedAtMs };
  }
  return last.kind === "failed" ? { kind: "head", sentAtMs, receivedAtMs } : last;
}

/** The clock uses only the sources that agree; the times of an excluded source are dropped. */
function followClock(instant: Instant, decision: Decision): void {
  const { pace, state } = instant;
  const { witness } = decision;
  const { head } = decision.consensus;
  const former = state.consensus.head;
  if (head === null || (head.block === former?.block && head.atMs === former.atMs)) {
    followTimes(instant, decision, state.clock);
    measurePace(state.clock);
    return;
  }
  const goesOn =
    former !== null &&
    head.block >= former.block &&
    head.block <= former.block + mostBlocksIn(head.atMs - former.reachedMs, pace);
  const clock = goesOn ? state.clock : newClock();
  state.clock = clock;
  followTimes(instant, decision, clock);
  if (witness !== null) {
    recordWitness(clock, witness, head, pace.intervalMs);
  }
  recordHead(clock, head, pace.intervalMs);
  measurePace(clock);
}

/**
 * Adds the block times of this instant. All times are read again from the remaining sources when a source is newly excluded,
 * on a new clock, and when sources agree for the first time, because none were read before.
 */
function followTimes(
  { heard, state }: Instant,
  { consensus: { head, members, opposed, undecided }, misdated }: Decision,
  clock: ChainClock,
): void {
  const former = state.consensus;
  const isAnew =
    clock.seen.blocks.length === 0 ||
    former.members.length === 0 ||
    undecided.length > 0 ||
    opposed.some(({ source }) => former.opposed.every((one) => one.source !== source));
  if (isAnew) {
    forgetTimestamps(clock);
  }
  const told = isAnew ? state.sources : heard.map(({ source }) => source);
  const samples = told
    .filter(({ key }) => members.includes(key) && !misdated.includes(key))
    .flatMap((source) => source.samples.slice(isAnew ? 0 : -1));
  // What a source has shown before it came down to the head is no block of this chain.
  const highest = (head?.block ?? Number.POSITIVE_INFINITY) + LARGE_STEP_BLOCKS;
  for (const { block, timestampSec } of samples) {
    if (timestampSec !== null && block <= highest) {
      noteTimestamp(clock, block, timestampSec);
    }
  }
}
