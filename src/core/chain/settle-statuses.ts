import { type ChainState, sourceOf } from "../head/chain-state.ts";
import { staleAfterMs } from "../head/claim.ts";
import { debounce } from "../source/settled-status.ts";
import { changed, type SourceState } from "../source/source-state.ts";
import { behindMs, type ChainView, statusVote } from "../status/judge.ts";
import { viewOf } from "../status/view.ts";
import { isDecided, isTooEarly, judgedAgain } from "./first-round.ts";
import type { Tick } from "./tick.ts";

/**
 * Updates the status of every target that was polled in this instant, from what all sources reported, and of those whose
 * first heights are judged again.
 */
export function settleStatuses(tick: Tick, known: Pick<ChainState, "consensus" | "clock">): void {
  const { received, nowMs, sources, watched } = tick;
  const view = viewOf({ ...known, sources }, watched.chain, nowMs);
  for (const { index, target } of received) {
    const state = sources[index];
    if (target !== null && state !== undefined) {
      sources[index] = judged(state, { tick, view, verdict: standingVerdict(tick, state) });
    }
  }
  for (const index of judgedAgain(tick)) {
    const state = sources[index];
    if (state?.kind === "indexer") {
      sources[index] = judged(state, { tick, view, verdict: state.verdict });
    }
  }
}

interface Judging {
  readonly tick: Tick;
  readonly view: ChainView & Pick<ChainState, "consensus">;
  readonly verdict: SourceState["verdict"];
}

function judged(state: SourceState, { tick, view, verdict }: Judging): SourceState {
  const opinion = statusVote(state, view);
  if (opinion === null || isTooEarly(state, opinion.status, () => isDecided(tick, view.consensus))) {
    return state;
  }
  const settled = debounce(verdict, opinion);
  const reachedTip = state.reachedTip || (opinion.status === "ok" && isAtTip(state, view));
  const same = settled === state.verdict && reachedTip === state.reachedTip;
  return same ? state : changed(state, { verdict: settled, reachedTip });
}

/** One height alone proves nothing: a back-filling target may have set the reference itself. */
function isAtTip(state: SourceState, view: ChainView): boolean {
  return state.samples.length > 1 && behindMs(state, view) !== null;
}

/** The verdict so far, or null where the evidence for it had become stale: then there is nothing to be steady about. */
function standingVerdict({ before, nowMs, watched }: Tick, state: SourceState): SourceState["verdict"] {
  const last = sourceOf(before, state.key)?.last ?? null;
  if (last === null) {
    return null;
  }
  const staleMs = staleAfterMs(watched.chain.thresholds, state.pollIntervalMs);
  return nowMs - last.receivedAtMs > staleMs ? null : state.verdict;
}
