import type { ChainState } from "./chain-state.ts";
import { behindMs, type ChainView, opinionOf } from "./judge.ts";
import { changed, type SourceState } from "./source-state.ts";
import { settle } from "./verdict.ts";
import { viewOf } from "./view.ts";
import { staleAfterMs } from "./votes.ts";
import type { Workbench } from "./workbench.ts";

/** Settles the verdict of every target that was heard in this instant, in the light of what all of them said. */
export function judgeHeard(bench: Workbench, known: Pick<ChainState, "reference" | "clock">): void {
  const { heard, nowMs, sources, watched } = bench;
  const view = viewOf({ ...known, sources }, watched.chain, nowMs);
  for (const { index, target } of heard) {
    const state = sources[index];
    if (target !== null && state !== undefined) {
      sources[index] = judged(state, { view, verdict: standingVerdict(bench, index) });
    }
  }
}

function judged(
  state: SourceState,
  { view, verdict }: { readonly view: ChainView; readonly verdict: SourceState["verdict"] },
): SourceState {
  const opinion = opinionOf(state, view);
  if (opinion === null) {
    return state;
  }
  const settled = settle(verdict, opinion);
  const reachedTip = state.reachedTip || (opinion.status === "ok" && isAtTip(state, view));
  const same = settled === state.verdict && reachedTip === state.reachedTip;
  return same ? state : changed(state, { verdict: settled, reachedTip });
}

/** One height alone proves nothing: a back-filling target may have set the reference itself. */
function isAtTip(state: SourceState, view: ChainView): boolean {
  return state.samples.length > 1 && behindMs(state, view) !== null;
}

/** The verdict so far, or null where the evidence for it had become stale: then there is nothing to be steady about. */
function standingVerdict(
  { before, nowMs, sources, watched }: Workbench,
  index: number,
): SourceState["verdict"] {
  const last = before.sources[index]?.last ?? null;
  const state = sources[index];
  if (last === null || state === undefined) {
    return null;
  }
  const staleMs = staleAfterMs(watched.chain.thresholds, state.pollIntervalMs);
  return nowMs - last.receivedAtMs > staleMs ? null : state.verdict;
}
