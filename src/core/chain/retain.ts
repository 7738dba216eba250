import { NO_MEASURES } from "../gap/gap.ts";
import { newClock } from "../head/chain-clock.ts";
import { NO_CONSENSUS } from "../head/consensus.ts";
import { traitsOf } from "../model/statuses.ts";
import { retainParity } from "../parity/parity-state.ts";
import { hasFailingQuery, retainQueries } from "../source/queries.ts";
import type { LastPoll, SourceState } from "../source/source-state.ts";
import { measureLags } from "../status/lag.ts";
import { statusVote } from "../status/status-vote.ts";
import { type ChainView, viewOf } from "../status/view.ts";
import { type ChainState, chainAt, sourceOf, type WatchedChain } from "./chain-state.ts";
import { decideFrom } from "./decide.ts";

/**
 * By how much the wall clock is ahead of the clock of the saved chains, from the chain that was polled last. If the wall clock
 * was set back since, that poll would be later than `wallMs`: then the result is smaller by the difference.
 */
export function offsetOf(saved: Iterable<ChainState>, wallMs: number): number | null {
  let [latestMs, offsetMs]: [number, number | null] = [Number.NEGATIVE_INFINITY, null];
  for (const { clock, sources } of saved) {
    const lastMs = Math.max(...sources.map(({ last }) => last?.receivedAtMs ?? Number.NEGATIVE_INFINITY));
    if (lastMs > latestMs) {
      [latestMs, offsetMs] = [lastMs, clock.wallOffsetMs];
    }
  }
  return offsetMs === null ? null : Math.min(offsetMs, wallMs - latestMs);
}

/**
 * Drops the sources that the configuration no longer has with the same URL and chain. If sources were dropped, the head and the
 * statuses that depended on them are decided again. So is a status that depended on a query which is no longer sent.
 */
export function retainChain(state: ChainState, watched: WatchedChain, nowMs: number): ChainState {
  const sources = state.sources.flatMap((source) => {
    const now = watched.sources.get(source.key);
    return now?.sentTo === source.sentTo
      ? [
          {
            ...source,
            last: withoutWait(source.last),
            pollIntervalMs: now.pollIntervalMs,
            queries: retainQueries(source.queries, now.queries),
          },
        ]
      : [];
  });
  const kept = new Set(sources.map(({ key }) => key));
  const retained: ChainState = {
    ...state,
    revision: state.revision + 1,
    sources,
    proofs: {},
    parity: retainParity(state.parity, watched.probes, (key) => kept.has(key)),
  };
  const isReduced = sources.length < state.sources.length;
  if (isReduced) {
    decideHeadAgain(retained, watched, nowMs);
  }
  const view = viewOf(retained, watched, nowMs);
  measureLags(sources, view);
  for (const source of sources) {
    const former = sourceOf(state, source.key);
    const lostFailure = former !== undefined && hasFailingQuery(former) && !hasFailingQuery(source);
    const isCompared = source.verdict !== null && traitsOf(source.verdict.status).isCompared;
    if (lostFailure || (isReduced && isCompared)) {
      settleAgain(source, view);
    }
  }
  return retained;
}

/** Drops the time of the next attempt: a start or a reload ends the pauses that providers asked for. */
function withoutWait(last: LastPoll | null): LastPoll | null {
  if (last?.kind !== "failed") {
    return last;
  }
  const { nextMs: _, ...known } = last;
  return known;
}

function settleAgain(source: SourceState, view: ChainView): void {
  const vote = source.last?.kind === "head" ? statusVote(source, view) : null;
  if (vote !== null && source.verdict !== null) {
    source.verdict = { status: vote.status, unconfirmed: null, dissent: 0, sinceMs: view.nowMs };
  }
}

function decideHeadAgain(state: ChainState, watched: WatchedChain, nowMs: number): void {
  forgetDropped(state);
  state.consensus = decideFrom(chainAt(state, watched, nowMs)).consensus;
  for (const source of state.sources) {
    // A gap may be to a dropped source.
    source.gap = NO_MEASURES;
  }
}

/** The agreed head is kept only if two sources that agreed are left. */
function forgetDropped(state: ChainState): void {
  const isLeft = (key: string) => state.sources.some((source) => source.key === key);
  const members = state.consensus.members.filter(isLeft);
  if (members.length < 2) {
    state.consensus = NO_CONSENSUS;
    state.clock = newClock(state.clock.wallOffsetMs);
    return;
  }
  state.consensus = { ...state.consensus, members };
}
