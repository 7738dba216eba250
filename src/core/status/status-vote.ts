import { isBackfilling } from "../head/claim.ts";
import { contradictionOf } from "../head/consensus.ts";
import { DEVIATIONS } from "../head/reach.ts";
import type { Thresholds } from "../model/fleet.ts";
import { isBeyond } from "../model/limit.ts";
import { readAtMs, type Sample } from "../model/sample.ts";
import { type Status, statusOfFailure, traitsOf } from "../model/statuses.ts";
import { stalledAfterMs } from "../model/thresholds.ts";
import { hasFailingQuery } from "../source/queries.ts";
import {
  idleMs,
  newestSample,
  type SettledStatus,
  type SourceState,
  WOBBLE_SAMPLES,
} from "../source/source-state.ts";
import { type ChainView, endedOf, thresholdsOf } from "./view.ts";

/** The status that one poll indicates. */
export interface StatusVote {
  readonly status: Status;
  /**
   * How many polls in a row must indicate this status to settle it. One if there is nothing to doubt. Two as a rule. Three for
   * timeouts: a single timeout is common (1 % of polls even on a good day), and two in a row would occur every two days at a
   * poll every 15 s.
   */
  readonly polls: 1 | 2 | 3;
  /** Whether the track of the target has just begun again: if an impossible height began it, one good height proves little. */
  readonly isAfresh?: boolean;
}

/**
 * A target is catching up if it advances this much faster than its chain, and by more blocks than a random pace explains. A
 * slower target would need weeks (test/fixtures/stories/catch-up.txt).
 */
const CATCHING_UP = 1.05;

/** The status that the last poll of a target indicates, and how much that counts; null before the first poll. */
export function statusVote(target: SourceState, view: ChainView): StatusVote | null {
  const { last } = target;
  switch (last?.kind) {
    case undefined:
      return null;
    case "missing":
      return { status: "missing", polls: 2 };
    case "not_started":
      return { status: "syncing", polls: 2 };
    case "head":
      return voteOfHead(target, view);
    case "failed":
      return { status: statusOfFailure(last.reason), polls: pollsOfFailure(last.reason) };
  }
}

/**
 * Adds one vote to a status. A vote for the present status clears the dissent, unless the track has just begun again: replicas
 * that serve two chains take turns. Enough dissent changes the status to the latest vote.
 */
export function debounce(verdict: SettledStatus | null, vote: StatusVote, nowMs: number): SettledStatus {
  if (verdict?.status === vote.status) {
    const dissent = vote.isAfresh === true ? verdict.dissent : 0;
    return verdict.unconfirmed === null && verdict.dissent === dissent
      ? verdict
      : { ...verdict, unconfirmed: null, dissent };
  }
  const dissent = (verdict?.dissent ?? 0) + 1 / vote.polls;
  return verdict === null || dissent >= 1
    ? { status: vote.status, unconfirmed: null, dissent: 0, sinceMs: nowMs }
    : { ...verdict, unconfirmed: vote.status, dissent };
}

function pollsOfFailure(reason: string): StatusVote["polls"] {
  switch (reason) {
    case "timeout":
      return 3;
    // We count this ourselves, so there is nothing to doubt.
    case "budget":
      return 1;
    default:
      return 2;
  }
}

/** A height at the head ends a standstill at once. A failing query counts at once, because a second result has confirmed it. */
function voteOfHead(target: SourceState, view: ChainView): StatusVote {
  if (hasFailingQuery(target)) {
    return { status: "failed", polls: 1 };
  }
  const status = statusOfHead(target, view);
  const isAdvancing =
    status === "ok" && idleMs(target) === 0 && traitsOf(target.verdict?.status ?? status).isMotionless;
  const isAfresh = hasNewTrack(target);
  return {
    status,
    isAfresh,
    polls: isAdvancing ? 1 : pollsOfHead(target, status === "diverged" && isAfresh),
  };
}

/**
 * One poll is enough to change a status without a height, and a status that is based on at most three heights. `isJump`: an
 * impossible height may have begun the track, so that the status is based on more.
 */
function pollsOfHead({ samples, verdict }: SourceState, isJump: boolean): StatusVote["polls"] {
  const isCertain =
    (samples.length <= WOBBLE_SAMPLES && !isJump) ||
    (verdict !== null && !traitsOf(verdict.status).hasHeight);
  return isCertain ? 1 : 2;
}

/** Whether the status was settled before the first of at most three heights of the track. */
function hasNewTrack({ samples, verdict }: SourceState): boolean {
  const [first] = samples;
  return (
    verdict !== null &&
    first !== undefined &&
    samples.length <= WOBBLE_SAMPLES &&
    verdict.sinceMs < readAtMs(first)
  );
}

function statusOfHead(target: SourceState, view: ChainView): Status {
  if (target.indexingErrors === true) {
    return "failed";
  }
  if (contradictionOf(target, view) !== null) {
    return "diverged";
  }
  const thresholds = thresholdsOf(target, view);
  const standstill = standstillOf(target, view, thresholds);
  if (standstill !== null) {
    return standstill;
  }
  // Low replicas do not make a target `syncing`, even while they advance: other replicas of the target are ahead.
  const isServedLow = target.replicas?.isStale === true;
  const isBehind = target.lag === null ? null : isBeyond(target.lag, thresholds.lagging);
  if (isBehind === false) {
    return "ok";
  }
  if (isServedLow) {
    return "lagging";
  }
  if (isBehind === null) {
    return isBackfilling(target, view.pace) ? "syncing" : "ok";
  }
  return !target.hasReachedTip && isCatchingUp(target, view) ? "syncing" : "lagging";
}

/**
 * The status of a target that has stopped although it should advance; null if it has not stopped, or has ended. A halt of the
 * chain explains only that a target stays near the head: the blocks further below are there to be indexed.
 */
function standstillOf(target: SourceState, view: ChainView, thresholds: Thresholds): Status | null {
  if (endedOf(target, view) !== null) {
    return null;
  }
  // A target that has just advanced beyond the supposed halt shows that the chain continues.
  const idle = idleMs(target);
  const block = newestSample(target)?.block ?? 0;
  const isHalted = view.haltedAtBlock !== null && (idle > 0 || block <= view.haltedAtBlock);
  if (isHalted && !lacksBlocks(target, view, thresholds)) {
    return "chain_halted";
  }
  const isAtEnd = isHalted && target.replicas?.isStale === true;
  return !isAtEnd && idle > stalledAfterMs(thresholds, view.pace) ? "stalled" : null;
}

/** Whether a target is further behind than `lagging` by its blocks alone, without the time for which the chain has halted. */
function lacksBlocks({ lag }: SourceState, { intervalMs }: ChainView, { lagging }: Thresholds): boolean {
  const blocks = lag?.blocks ?? 0;
  const ms = intervalMs === null ? null : blocks * intervalMs;
  return isBeyond({ blocks, ms }, lagging) === true;
}

/**
 * Whether the target advances faster than its chain: since its first mark if its distance shrinks, else since its oldest
 * sample. Unless the target is `syncing` already, the difference must exceed what random blocks explain.
 */
function isCatchingUp({ approach, samples, verdict }: SourceState, view: ChainView): boolean {
  const [oldest, newest] = [samples[0], samples.at(-1)];
  if (oldest === undefined || newest === undefined) {
    return false;
  }
  const { intervalMs, reference } = view;
  const isMeasured = reference !== null && intervalMs !== null;
  // The distance does not shrink over minutes: the target only shows its blocks in batches.
  if (isMeasured && approach?.isClosing === false) {
    return false;
  }
  const sample = { atMs: readAtMs(oldest), block: oldest.block };
  const [from = sample] = isMeasured && approach?.isClosing === true ? approach.marks : [];
  const coveredMs = isMeasured ? (newest.block - from.block) * intervalMs : datedBetween(oldest, newest);
  const elapsedMs = readAtMs(newest) - from.atMs;
  const randomMs = DEVIATIONS * Math.sqrt(elapsedMs * (intervalMs ?? 0));
  return coveredMs > elapsedMs * CATCHING_UP + (verdict?.status === "syncing" ? 0 : randomMs);
}

/** The time between two blocks by their timestamps; 0 without timestamps. */
function datedBetween(from: Sample, to: Sample): number {
  const isDated = from.timestampSec !== null && to.timestampSec !== null;
  return isDated ? (to.timestampSec - from.timestampSec) * 1_000 : 0;
}
