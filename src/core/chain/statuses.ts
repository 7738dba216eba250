import type { Consensus } from "../head/consensus.ts";
import type { Status } from "../model/statuses.ts";
import { traitsOf } from "../model/statuses.ts";
import { staleAfterMs } from "../model/thresholds.ts";
import { debounce } from "../source/settled-status.ts";
import { hasReadHeight, type SourceState } from "../source/source-state.ts";
import { lagIn } from "../status/ended.ts";
import { statusVote } from "../status/judge.ts";
import { followApproach } from "../status/lag.ts";
import { type ChainView, viewOf } from "../status/view.ts";
import type { Instant } from "./decide.ts";

/*
 * The first replies on a chain may be wrong, and make the next ones look wrong. So that a status does not depend on the
 * order of replies, a status that rests on a source's first heights is judged again when another source gives its first;
 * and a source with a single height is not `lagging` or `diverged` before all other sources were asked, or most of the
 * chain's providers agree.
 */

/** A source with no more heights than this is still giving its first. */
const FIRST_HEIGHTS = 2;

/** Updates the status of every target that was polled at this instant or whose first heights are judged again. */
export function settleStatuses(instant: Instant, isDecided: boolean): void {
  const { again, heard, nowMs, state, watched } = instant;
  const view = viewOf(state, watched, nowMs);
  for (const { before, source } of heard) {
    const staleMs = staleAfterMs(watched.chain.thresholds, source.pollIntervalMs);
    // Where the evidence for the status so far had become stale, there is nothing to be steady about.
    const isStale = before.last === null || nowMs - before.last.receivedAtMs > staleMs;
    settle(source, isStale ? null : source.verdict, view, isDecided);
  }
  for (const source of again) {
    settle(source, source.verdict, view, isDecided);
  }
}

function settle(
  source: SourceState,
  verdict: SourceState["verdict"],
  view: ChainView,
  isDecided: boolean,
): void {
  const vote = source.kind === "indexer" ? statusVote(source, view) : null;
  if (vote === null || (!isDecided && isTooEarly(source, vote.status))) {
    return;
  }
  const former = source.verdict;
  source.verdict = debounce(verdict, vote, view.nowMs);
  source.statusChanges += Number(former !== null && former.status !== source.verdict.status);
  source.approach = followApproach(source, view);
  // One height alone proves nothing: a back-filling target may have set the reference itself.
  source.reachedTip ||= vote.status === "ok" && source.samples.length > 1 && lagIn(source, view)?.ms != null;
  source.hasServed ||= source.reachedTip;
}

/** The sources that were not polled at this instant, but whose first heights are judged again. */
export function judgedAgain(
  heard: Instant["heard"],
  sources: readonly SourceState[],
): readonly SourceState[] {
  return sources.filter(
    (source) =>
      source.samples.length <= FIRST_HEIGHTS &&
      hasReadHeight(source) &&
      heard.every((one) => one.source !== source),
  );
}

/** Whether it is too early for `status` before every source was asked: those that were not may show that this one is right. */
export function isTooEarly({ samples, verdict }: SourceState, status: Status): boolean {
  return samples.length <= 1 && (verdict === null || verdict.status === "ok") && traitsOf(status).isCompared;
}

/** Whether every source of the chain has replied, or the agreeing sources have most of its providers. */
export function isDecided({ state, watched }: Instant, { members }: Consensus): boolean {
  const { sources } = watched;
  if (state.sources.length >= sources.size) {
    return true;
  }
  const providers = new Set([...sources.values()].map(({ provider }) => provider));
  const agreeing = new Set(members.map((key) => sources.get(key)?.provider ?? key));
  return agreeing.size * 2 > providers.size;
}
