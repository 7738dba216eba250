import { staleAfterMs } from "../model/thresholds.ts";
import { debounce } from "../source/settled-status.ts";
import { type SourceState, servedOf } from "../source/source-state.ts";
import { lagIn } from "../status/ended.ts";
import { statusVote } from "../status/judge.ts";
import { followApproach } from "../status/lag.ts";
import { type ChainView, viewOf } from "../status/view.ts";
import type { Instant } from "./decide.ts";

/**
 * Updates the status of every target that was polled at this instant. In the first round of a chain there are no statuses: what its
 * first source says may be wrong, and would make the next look wrong. So a target gets its first status once each source was asked.
 */
export function settleStatuses(instant: Instant): void {
  const { heard, nowMs, state, watched } = instant;
  const view = viewOf(state, watched, nowMs);
  for (const { before, source } of heard) {
    const staleMs = staleAfterMs(watched.chain.thresholds, source.pollIntervalMs);
    // Where the evidence for the status so far had become stale, there is nothing to be steady about.
    const isStale = before.last === null || nowMs - before.last.receivedAtMs > staleMs;
    settle(source, isStale ? null : source.verdict, view);
  }
  for (const source of state.sources.filter(({ verdict }) => verdict === null)) {
    settle(source, null, view);
  }
}

function settle(source: SourceState, verdict: SourceState["verdict"], view: ChainView): void {
  if (source.kind === "rpc" || (source.verdict === null && view.unasked > 0)) {
    return;
  }
  const lag = lagIn(servedOf(source), view);
  const vote = statusVote(source, view, lag);
  if (vote === null) {
    return;
  }
  const former = source.verdict;
  source.verdict = debounce(verdict, vote, view.nowMs);
  source.statusChanges += Number(former !== null && former.status !== source.verdict.status);
  source.approach = followApproach(source, lag, view);
  // One height alone proves nothing: a back-filling target may have set the reference itself.
  source.reachedTip ||= vote.status === "ok" && source.samples.length > 1 && lag?.ms != null;
  source.hasServed ||= source.reachedTip;
}
