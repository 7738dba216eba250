import { addMeasure, NO_MEASURES, type PaceRange } from "../gap/gap.ts";
import { agreeOnHead, type Decision } from "../head/agree.ts";
import { forgetTimestamps, measurePace, newClock, noteTimestamp, recordHead } from "../head/chain-clock.ts";
import { type Bounds, boundsOf, type Claim, claimOf } from "../head/claim.ts";
import { contradictionOf } from "../head/consensus.ts";
import { mostBlocksIn } from "../head/reach.ts";
import type { Target } from "../model/fleet.ts";
import { atPace } from "../model/limit.ts";
import type { Sample } from "../model/sample.ts";
import { isFresh, staleAfterMs } from "../model/thresholds.ts";
import { newestSample, type SourceState, steadySamples } from "../source/source-state.ts";
import { followApproach, measureLags } from "../status/lag.ts";
import { debounce, statusVote } from "../status/status-vote.ts";
import { type ChainView, hasOwnEnd, paceRangeOf, targetsByKey, viewOf } from "../status/view.ts";
import { baselineOf, type ChainAt, type ChainState, sourceOf } from "./chain-state.ts";

/** A chain at the instant of a decision, with the sources that were polled since the last decision. */
export interface Instant extends ChainAt {
  readonly polled: readonly PolledSource[];
}

/** A source that was polled since the last decision, with its last poll and status before that. */
export interface PolledSource {
  readonly source: SourceState;
  /** Whether the poll gave a height. */
  readonly hasHeight: boolean;
  readonly before: Pick<SourceState, "last" | "verdict">;
}

/** Decides the head from the observations of all sources, and updates the chain's clock. */
export function decideHead(instant: Instant): void {
  const { polled, state } = instant;
  noteSharedHashes(polled, state.sources);
  const decision = decideFrom(instant);
  followClock(instant, decision);
  state.consensus = decision.consensus;
}

/** The head on which the sources of a chain agree at an instant. */
export function decideFrom(at: ChainAt): Decision {
  const { nowMs, pace, state, watched } = at;
  const { consensus: before, proofs } = state;
  return agreeOnHead(claimsOf(at), { before, proofs, pace, laggingMs: laggingMsOf(watched, pace), nowMs });
}

/** The bounds of each source with fresh evidence, by its key. */
export function boundsIn(at: ChainAt): ReadonlyMap<string, Bounds> {
  const { nowMs, pace, watched } = at;
  const laggingMs = laggingMsOf(watched, pace);
  const claims = claimsOf(at);
  return new Map(claims.map((claim) => [claim.key, boundsOf(claim, claims, { nowMs, laggingMs, pace })]));
}

/**
 * The `lagging` threshold as a time. A threshold in blocks has no time without a pace; the result is then 0, and has no effect.
 */
function laggingMsOf({ chain }: ChainAt["watched"], { intervalMs }: ChainAt["pace"]): number {
  return atPace(chain.thresholds.lagging, intervalMs).ms ?? 0;
}

/**
 * The claims of all sources with fresh evidence, in the order of their keys. Indexers that have ended are left out: several
 * that ended at one block would agree forever. If all sources have one provider, each counts as its own provider.
 */
function claimsOf({ nowMs, pace, state, watched }: ChainAt): readonly Claim[] {
  const { thresholds } = watched.chain;
  const { clock } = state;
  const wallMs = nowMs + clock.wallOffsetMs;
  const targets = targetsByKey(watched);
  const fresh = state.sources.filter(
    (source) => isFresh(source, thresholds, nowMs) && !hasOwnEnd(source, targets.get(source.key), wallMs),
  );
  const providers = fresh.map(({ key }) => watched.sources.get(key)?.provider ?? key);
  const isOneProvider = providers.every((provider) => provider === providers[0]);
  return fresh.flatMap((source, index) => {
    const provider = isOneProvider ? source.key : (providers[index] ?? source.key);
    const staleMs = staleAfterMs(thresholds, source.pollIntervalMs);
    return claimOf(source, { provider, staleMs, pace, wall: clock }) ?? [];
  });
}

/**
 * Marks sources that reported the same hash as another source: their hashes are comparable, so a later difference means a fork.
 */
function noteSharedHashes(polled: Instant["polled"], sources: readonly SourceState[]): void {
  for (const { source } of polled) {
    const newest = newestSample(source);
    const alike = sources.filter(
      ({ samples }) =>
        newest?.hash != null &&
        samples.some(({ block, hash }) => block === newest.block && hash === newest.hash),
    );
    for (const one of alike.length > 1 ? alike : []) {
      one.sharesHashes = true;
    }
  }
}

/** Updates the clock by the head, and by the block times of the sources that agree. */
function followClock(instant: Instant, decision: Decision): void {
  const { pace, state } = instant;
  const { head } = decision.consensus;
  const former = state.consensus.head;
  const isNewHead = head !== null && (head.block !== former?.block || head.atMs !== former.atMs);
  const continuesFormer =
    isNewHead &&
    former !== null &&
    head.block >= former.block &&
    head.block <= former.block + mostBlocksIn(head.atMs - former.reachedMs, pace);
  state.clock = isNewHead && !continuesFormer ? newClock(state.clock.wallOffsetMs) : state.clock;
  followTimes(instant, decision);
  if (isNewHead) {
    recordHead(state.clock, head, pace.intervalMs);
  }
  measurePace(state.clock);
}

/**
 * Adds the block times of the sources that agree, without misdated ones. In four cases the clock forgets all block times, and
 * takes them from all samples of these sources that were not taken back: the clock is new; a source is newly opposed; no source
 * agreed at the last decision; or sources contradict each other with equal weight.
 */
function followTimes({ polled, state }: Instant, { consensus, misdated }: Decision): void {
  const { members, opposed, sides } = consensus;
  const { clock, consensus: former } = state;
  const readsAll =
    clock.seen.blocks.length === 0 ||
    former.members.length === 0 ||
    sides.length > 0 ||
    opposed.some(({ source }) => former.opposed.every((one) => one.source !== source));
  if (readsAll) {
    forgetTimestamps(clock);
  }
  const agreeing = (readsAll ? state.sources : polled.map(({ source }) => source)).filter(
    ({ key }) => members.includes(key) && !misdated.includes(key),
  );
  for (const { block, timestampSec } of agreeing.flatMap(({ samples }) =>
    readsAll ? withoutTakenBack(samples) : samples.slice(-1),
  )) {
    if (timestampSec !== null) {
      noteTimestamp(clock, block, timestampSec);
    }
  }
}

/** Drops each sample that is higher than a later sample: the source went back, so the block may not be on this chain. */
function withoutTakenBack(samples: readonly Sample[]): readonly Sample[] {
  return samples.filter(({ block }, index) => samples.slice(index).every((later) => later.block >= block));
}

/** Adds this instant's heights to the gaps between the targets that are compared with each other. */
export function measureGaps({ polled, state, watched }: Instant): void {
  const pace = paceRangeOf(state.clock, watched.chain);
  const withHeight = new Set(
    polled.flatMap(({ source }) => (source.last?.kind === "head" ? [source.key] : [])),
  );
  for (const target of pace === null ? [] : watched.targets) {
    const against = baselineOf(watched, target);
    if (pace !== null && against !== null && (withHeight.has(target.key) || withHeight.has(against.key))) {
      measureGap(target, against, pace, state);
    }
  }
}

/**
 * The driver is the newest height of the target that is polled less often. `addMeasure` chooses its partner among the heights of
 * the other target. If one of the two targets is contradicted, the earlier measures are cleared.
 */
function measureGap(target: Target, against: Target, pace: PaceRange, state: ChainState): void {
  const own = sourceOf(state, target.key);
  const other = sourceOf(state, against.key);
  if (own === undefined || other === undefined) {
    return;
  }
  const targetDrives = target.pollIntervalMs >= against.pollIntervalMs;
  const driver = steadySamples((targetDrives ? own : other).samples).at(-1);
  const partners = steadySamples((targetDrives ? other : own).samples);
  if (contradictionOf(own, state) !== null || contradictionOf(other, state) !== null) {
    own.gap = NO_MEASURES;
  } else if (driver !== undefined) {
    own.gap = addMeasure(own.gap, { driver, partners, driverIs: targetDrives ? "target" : "against" }, pace);
  }
}

/**
 * Measures the lag of every target, and updates the status of each target that was polled at this instant or has no status
 * yet. A target gets its first status once each source of its chain was polled: otherwise a first source that is wrong would
 * make the next one look wrong.
 */
export function settleStatuses(instant: Instant): void {
  const { polled, nowMs, state, watched } = instant;
  const view = viewOf(state, watched, nowMs);
  measureLags(state.sources, view);
  for (const { before, source } of polled) {
    const staleMs = staleAfterMs(watched.chain.thresholds, source.pollIntervalMs);
    // If the evidence for the present status had become stale, the new vote counts at once, without confirmation.
    const isStale = before.last === null || nowMs - before.last.receivedAtMs > staleMs;
    settle(source, isStale ? null : source.verdict, view);
  }
  for (const source of state.sources.filter(({ verdict }) => verdict === null)) {
    settle(source, null, view);
  }
}

function settle(source: SourceState, settled: SourceState["verdict"], view: ChainView): void {
  if (source.kind === "rpc" || (source.verdict === null && view.unpolled > 0)) {
    return;
  }
  const vote = statusVote(source, view);
  if (vote === null) {
    return;
  }
  const former = source.verdict;
  source.verdict = debounce(settled, vote, view.nowMs);
  source.statusChanges += Number(former !== null && former.status !== source.verdict.status);
  source.approach = followApproach(source, view);
  // A single height does not show that the target reached the head: it may back-fill, and have set the reference itself.
  source.hasReachedTip ||= vote.status === "ok" && source.samples.length > 1 && source.lag?.ms != null;
  source.hasServed ||= source.hasReachedTip;
}
