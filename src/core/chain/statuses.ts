import { sourceOf } from "../head/chain-state.ts";
import { staleAfterMs } from "../head/claim.ts";
import type { Consensus } from "../head/consensus.ts";
import type { Status } from "../model/report.ts";
import { debounce } from "../source/settled-status.ts";
import { hasReadHeight, type SourceState } from "../source/source-state.ts";
import { followApproach } from "../status/catch-up.ts";
import { behindMs, statusVote } from "../status/judge.ts";
import { type ChainView, viewOf } from "../status/view.ts";
import type { Heard, Instant } from "./decide-head.ts";

/*
 * The first replies on a chain may be wrong, and make the next ones look wrong. So that a status does not depend on the
 * order of replies, a status that rests on a source's first heights is judged again when another source gives its first;
 * and a source with a single height is not `lagging` or `diverged` before all other sources were asked, or most of the
 * chain's providers agree.
 */

/** A source with no more heights than this is still giving its first. */
const FIRST_HEIGHTS = 2;
/** Statuses that follow from a comparison with the other sources. */
const COMPARED: ReadonlySet<Status> = new Set(["lagging", "diverged"]);

/**
 * Updates the status of every target that was polled at this instant or whose first heights are judged again.
 */
export function settleStatuses(instant: Instant): void {
  const { heard, nowMs, state, watched } = instant;
  const view = viewOf(state, watched.chain, nowMs);
  for (const one of heard) {
    if (one.target !== null) {
      judge(one.source, standingVerdict(one, instant), view, instant);
    }
  }
  for (const source of judgedAgain(instant)) {
    if (source.kind === "indexer") {
      judge(source, source.verdict, view, instant);
    }
  }
}

function judge(
  source: SourceState,
  verdict: SourceState["verdict"],
  view: ChainView,
  instant: Instant,
): void {
  const opinion = statusVote(source, view);
  if (opinion === null || isTooEarly(source, opinion.status, () => isDecided(instant, view.consensus))) {
    return;
  }
  const former = source.verdict;
  source.verdict = debounce(verdict, opinion, instant.nowMs);
  source.statusChanges += Number(former !== null && former.status !== source.verdict.status);
  source.approach = followApproach(source, view);
  source.reachedTip ||= opinion.status === "ok" && isAtTip(source, view);
}

/** One height alone proves nothing: a back-filling target may have set the reference itself. */
function isAtTip(source: SourceState, view: ChainView): boolean {
  return source.samples.length > 1 && behindMs(source, view) !== null;
}

/** The verdict so far, or null where the evidence for it had become stale: then there is nothing to be steady about. */
function standingVerdict({ before, source }: Heard, { nowMs, watched }: Instant): SourceState["verdict"] {
  const staleMs = staleAfterMs(watched.chain.thresholds, source.pollIntervalMs);
  return before.last === null || nowMs - before.last.receivedAtMs > staleMs ? null : source.verdict;
}

/** The sources that were not polled at this instant, but whose first heights are judged again. */
export function judgedAgain({ heard, state }: Instant): readonly SourceState[] {
  return heard.some(({ isNew }) => isNew)
    ? state.sources.filter(
        (source) =>
          source.samples.length <= FIRST_HEIGHTS &&
          source.beforeJump === null &&
          hasReadHeight(source) &&
          heard.every((one) => one.source !== source),
      )
    : [];
}

/** Whether what a source says next is one of its first heights. One that jumps, or is back from a jump, has given others. */
export function isNewSource({ beforeJump, lastAdvanceMs, samples }: SourceState): boolean {
  return samples.length < FIRST_HEIGHTS && lastAdvanceMs === null && beforeJump === null;
}

/** Whether it is too early for `status`: sources that have not been asked yet may show that this one is right. */
export function isTooEarly(
  { samples, verdict }: SourceState,
  status: Status,
  isEnough: () => boolean,
): boolean {
  const isFirst = samples.length <= 1 && (verdict === null || verdict.status === "ok");
  return isFirst && COMPARED.has(status) && !isEnough();
}

/** Whether every source of the chain was polled, or the agreeing sources have most of its providers. */
export function isDecided({ state, watched }: Instant, { members }: Pick<Consensus, "members">): boolean {
  const { sources } = watched;
  if ([...sources.keys()].every((key) => sourceOf(state, key)?.last != null)) {
    return true;
  }
  const providers = new Set([...sources.values()].map(({ provider }) => provider));
  const agreeing = new Set(members.map((key) => sources.get(key)?.provider ?? key));
  return agreeing.size * 2 > providers.size;
}
