import type { ChainState } from "../head/chain-state.ts";
import type { HeadState } from "../head/choose-head.ts";
import type { Consensus } from "../head/consensus.ts";
import { EMPTY_TIMELINE, type Timeline } from "../head/timeline.ts";
import type { Sample } from "../model/sample.ts";
import { shiftParity } from "../parity/parity-state.ts";
import type { SourceState } from "../source/source-state.ts";

/** Clocks of two machines that are in order differ by less than this. */
const TOLERANCE_MS = 5_000;

/**
 * A chain's state after the wall clock jumped ahead by `byMs`. Either the machine was suspended or the clock was set;
 * the two cannot be told apart. So evidence keeps its instants and may look older than it is, but no standstill and no pace
 * follow from the time that seems to have passed.
 */
export function leapChain(state: ChainState, byMs: number): ChainState {
  return {
    ...state,
    sources: state.sources.map((source) => ({ ...source, peak: shiftPeak(source.peak, byMs) })),
    clock: { ...state.clock, seen: EMPTY_TIMELINE, witnessed: EMPTY_TIMELINE },
  };
}

/** A chain's state as it would be if our own clock had always been right: after it was set forward by `byMs` (back, if negative). */
export function shiftChain(state: ChainState, byMs: number): ChainState {
  const { parity } = state;
  const { seen, witnessed } = state.clock;
  return {
    ...state,
    sources: state.sources.map((source) => shiftSource(source, byMs)),
    consensus: shiftConsensus(state.consensus, byMs),
    clock: { ...state.clock, seen: shiftTimeline(seen, byMs), witnessed: shiftTimeline(witnessed, byMs) },
    ...(parity === undefined ? {} : { parity: shiftParity(parity, byMs) }),
  };
}

/** A restored state from the future was saved under another clock: it is shifted so that nothing in it is later than now. */
export function withoutFuture(state: ChainState, nowMs: number): ChainState {
  const latestMs = state.sources.reduce(
    (latest, { last }) => Math.max(latest, last?.receivedAtMs ?? latest),
    Number.NEGATIVE_INFINITY,
  );
  return latestMs > nowMs + TOLERANCE_MS ? shiftChain(state, nowMs - latestMs) : state;
}

function shiftTimeline({ blocks, timesMs }: Timeline, byMs: number): Timeline {
  return { blocks, timesMs: timesMs.map((ms) => ms + byMs) };
}

function shiftSource(source: SourceState, byMs: number): SourceState {
  const { beforeJump, gap, last, lastAdvanceMs, lastSuccessMs, peak, replicas, samples } = source;
  return {
    ...source,
    last: last && shiftPoll(last, byMs),
    samples: samples.map((sample) => shiftPoll(sample, byMs)),
    beforeJump: beforeJump && {
      samples: beforeJump.samples.map((sample: Sample) => shiftPoll(sample, byMs)),
      peak: shiftPeak(beforeJump.peak, byMs),
    },
    replicas: replicas && { ...replicas, low: replicas.low.map((sample) => shiftPoll(sample, byMs)) },
    peak: shiftPeak(peak, byMs),
    lastSuccessMs: lastSuccessMs && lastSuccessMs + byMs,
    lastAdvanceMs: lastAdvanceMs && lastAdvanceMs + byMs,
    gap: {
      ...gap,
      newest: gap.newest && { atMs: gap.newest.atMs + byMs, partnerMs: gap.newest.partnerMs + byMs },
    },
  };
}

function shiftPoll<T extends { readonly sentAtMs: number; readonly receivedAtMs: number }>(
  poll: T,
  byMs: number,
): T {
  return { ...poll, sentAtMs: poll.sentAtMs + byMs, receivedAtMs: poll.receivedAtMs + byMs };
}

function shiftPeak(peak: SourceState["peak"], byMs: number): SourceState["peak"] {
  return peak && { ...peak, atMs: peak.atMs + byMs };
}

function shiftConsensus(consensus: Consensus, byMs: number): Consensus {
  const { head, track } = consensus;
  return {
    ...consensus,
    head: head && shiftHead(head, byMs),
    track: track && { ...track, atMs: track.atMs + byMs },
  };
}

function shiftHead(head: HeadState, byMs: number): HeadState {
  return {
    ...head,
    reachedMs: head.reachedMs + byMs,
    atMs: head.atMs + byMs,
    freshUntilMs: head.freshUntilMs + byMs,
  };
}
