import { NO_MEASURES } from "../gap/gap.ts";
import { NEW_CLOCK } from "../head/chain-clock.ts";
import type { ChainState, WatchedChain } from "../head/chain-state.ts";
import { claimsOf } from "../head/claim.ts";
import { type Consensus, decide, NO_CONSENSUS } from "../head/consensus.ts";
import { oppositionText } from "../head/opposition-text.ts";
import type { Status } from "../model/report.ts";
import { retainParity } from "../parity/parity-state.ts";
import { changed, hasReadHeight, type LastPoll, type SourceState } from "../source/source-state.ts";
import { stalledAfterMs, statusVote } from "../status/judge.ts";
import { type ChainViewAt, paceOf, viewOf } from "../status/view.ts";
import { isFarAhead } from "./observe.ts";

/**
 * The state without the sources that the configuration lacks, or has at another URL or for another chain: for a reload, and
 * for what another process has left. If any were dropped, the head and the statuses that rested on them are decided again.
 */
export function retainChain(state: ChainState, watched: WatchedChain, nowMs: number): ChainState {
  const { parity, sentTo: former, ...rest } = state;
  const sentTo = watched.sentTo ?? {};
  // Version 0.1.0 did not write where its sources were.
  const isKept = (key: string) =>
    sentTo[key] !== undefined && (former === undefined || former[key] === sentTo[key]);
  const sources = state.sources.filter(({ key }) => isKept(key));
  const retained: ChainState = {
    ...rest,
    sources,
    sentTo,
    ...(parity === undefined || watched.probes === undefined
      ? {}
      : { parity: retainParity(parity, watched.probes, isKept) }),
  };
  return sources.length === state.sources.length ? retained : decidedAnew(retained, watched, nowMs);
}

function decidedAnew(state: ChainState, watched: WatchedChain, nowMs: number): ChainState {
  const { chain, providers = {} } = watched;
  const { thresholds } = chain;
  const known = withoutDropped(state);
  const pace = paceOf(known.clock, chain);
  const claims = claimsOf(state.sources, { nowMs, pace, thresholds, providers });
  const { consensus: decided } = decide(claims, known.consensus, {
    pace,
    stalledAfterMs: stalledAfterMs(thresholds, pace.intervalMs),
  });
  const view = viewOf({ ...known, consensus: decided }, chain, nowMs);
  return { ...known, consensus: decided, sources: state.sources.map((source) => judgedAnew(source, view)) };
}

/** What was agreed is remembered where two sources that agreed are left. */
function withoutDropped(state: ChainState): ChainState {
  const keys = new Set(state.sources.map(({ key }) => key));
  const { track } = state.consensus;
  const members = state.consensus.members.filter((key) => keys.has(key));
  const left: Consensus = {
    ...state.consensus,
    members,
    track: track && { ...track, members: track.members.filter((key) => keys.has(key)) },
  };
  return members.length > 1
    ? { ...state, consensus: left }
    : { ...state, consensus: NO_CONSENSUS, clock: NEW_CLOCK };
}

/** Statuses that another source can be the only reason for. */
const BY_OTHERS: ReadonlySet<Status> = new Set(["diverged", "chain_halted"]);

/** A height may have been rejected, and a status given, for what a dropped source said. */
function judgedAnew(source: SourceState, view: ChainViewAt): SourceState {
  const state = changed(source, { gap: NO_MEASURES, last: lastPollOf(source, view) });
  const vote = hasReadHeight(state) ? statusVote(state, view) : null;
  return vote !== null && state.verdict !== null && BY_OTHERS.has(state.verdict.status)
    ? changed(state, { verdict: { status: vote.status, dissent: 0 } })
    : state;
}

function lastPollOf(source: SourceState, { consensus: { opposed } }: ChainViewAt): LastPoll | null {
  const { last } = source;
  if (last === null || !hasReadHeight(source)) {
    return last;
  }
  const { sentAtMs, receivedAtMs } = last;
  const opposition = opposed.find(({ source: key }) => key === source.key);
  if (isFarAhead(opposition)) {
    return {
      kind: "failed",
      reason: "implausible",
      detail: oppositionText(opposition),
      sentAtMs,
      receivedAtMs,
    };
  }
  return last.kind === "failed" ? { kind: "head", sentAtMs, receivedAtMs } : last;
}
