import type { ChainState, WatchedChain } from "../chain/chain-state.ts";
import { reportChain } from "../chain/watch-chain.ts";
import { staleAfterMs } from "../head/votes.ts";
import { type Reach, reachOf } from "../incidents/local-outage.ts";
import type { ChainReport, Status, TargetReport } from "../model/report.ts";
import { newestSample, type SourceState } from "../source/source-state.ts";

/** A chain's report, and how long it stays true if nothing more is heard. */
export interface CachedReport {
  readonly report: ChainReport;
  /** What it was made from. */
  readonly state: ChainState;
  readonly reach: Reach;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Tells of a chain what `reportChain` does: what was told before if that still holds, for most of a large fleet is as it was. */
export function cachedReport(
  former: CachedReport | null,
  { watched, state }: { readonly watched: WatchedChain; readonly state: ChainState },
  nowMs: number,
): CachedReport {
  if (former !== null && former.state === state && former.fromMs <= nowMs && nowMs <= former.untilMs) {
    return former;
  }
  const report = reportChain(state, watched, nowMs);
  const untilMs = tellsAge(report, state) ? nowMs : nextTurnMs(state, watched, nowMs);
  return { report, state, reach: reachOf(state.sources), fromMs: nowMs, untilMs };
}

/** Until when the same evidence counts: all else that time changes. */
function nextTurnMs({ reference, sources }: ChainState, watched: WatchedChain, nowMs: number): number {
  const lives = livesOf(sources, watched);
  let nextMs =
    reference !== null && reference.freshUntilMs >= nowMs ? reference.freshUntilMs : Number.POSITIVE_INFINITY;
  for (const source of sources) {
    for (const heard of [source.last, newestSample(source)]) {
      const turnMs = heard === null ? Number.POSITIVE_INFINITY : firstFrom(nowMs, heard.receivedAtMs, lives);
      nextMs = Math.min(nextMs, turnMs);
    }
  }
  return nextMs;
}

/** How long what is heard counts: mostly one time for a whole chain. */
function livesOf(sources: readonly SourceState[], { chain, targets }: WatchedChain): readonly number[] {
  const lives = new Set<number>();
  for (const polled of [targets, sources]) {
    for (const { pollIntervalMs } of polled) {
      lives.add(staleAfterMs(chain.thresholds, pollIntervalMs));
    }
  }
  return [...lives];
}

/** When the first of these lives ends that has not ended yet. */
function firstFrom(nowMs: number, bornMs: number, lives: readonly number[]): number {
  let firstMs = Number.POSITIVE_INFINITY;
  for (const lifeMs of lives) {
    const endMs = bornMs + lifeMs;
    firstMs = endMs >= nowMs && endMs < firstMs ? endMs : firstMs;
  }
  return firstMs;
}

/** Statuses whose details say how old something is, of a target that was heard at all. */
const AGED: ReadonlySet<Status> = new Set([
  "unknown",
  "rejected",
  "throttled",
  "not_found",
  "unreachable",
  "missing",
]);

function tellsAge({ targets }: ChainReport, { sources }: ChainState): boolean {
  if (!targets.some(isAged)) {
    return false;
  }
  const heard = new Set(sources.map(({ key }) => key));
  return targets.some((report) => isAged(report) && heard.has(report.target.key));
}

function isAged({ status }: TargetReport): boolean {
  return AGED.has(status);
}
