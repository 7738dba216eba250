import type { PaceRange } from "../gap/gap.ts";
import type { ChainClock } from "../head/chain-clock.ts";
import { type Consensus, type HeadState, type Pace, paceOf } from "../head/consensus.ts";
import { CONFIGURED_FACTOR, isWithinMinute } from "../head/reach.ts";
import { type End, isReached } from "../model/end.ts";
import type { Chain, Target, Thresholds } from "../model/fleet.ts";
import { memoize } from "../model/memoize.ts";
import { madeAtMs, type WallOffset } from "../model/sample.ts";
import { isFresh, stalledAfterMs, thresholdsAtPace } from "../model/thresholds.ts";
import { highestSample, idleMs, newestSample, type SourceState } from "../source/source-state.ts";

/** The sources of a chain contradict each other, with equal weight on each side. */
export interface Dispute {
  /** The sources of each side. */
  readonly sides: readonly (readonly SourceState[])[];
  /** Whether an RPC node has fresh evidence. If so, another node would not decide the dispute. */
  readonly hasRpc: boolean;
}

/** What holds for a whole chain at one instant. */
export interface ChainView {
  readonly nowMs: number;
  /** The same instant by the wall clock. */
  readonly wallMs: number;
  /** The thresholds of the chain, at its pace. */
  readonly thresholds: Thresholds;
  /** Where the chain ends, as configured; null: it does not end. */
  readonly until: End | null;
  /** The configured targets of the chain, by their keys. */
  readonly targets: ReadonlyMap<string, Target>;
  readonly clock: ChainClock;
  /** Measured, else configured, else null. */
  readonly intervalMs: number | null;
  readonly pace: Pace;
  /** Null without a head, or if its evidence is stale. The last head of a chain that has ended stays. */
  readonly reference: HeadState | null;
  readonly consensus: Consensus;
  /** Null if there is none, or if a source that was never polled may decide it. */
  readonly dispute: Dispute | null;
  /** How many sources of the chain were never polled. */
  readonly unpolled: number;
  /** Whether no second source of the chain was ever polled. */
  readonly hasSingleSource: boolean;
  /** How many sources have fresh evidence. */
  readonly replying: number;
  readonly haltedAtBlock: number | null;
  /** Whether an RPC node at the head, with fresh evidence, could tell a halt of the chain from a stall. */
  readonly hasIndependentHead: boolean;
}

/** The error of a pace that was measured over a minute: at most about a second of latency at either end. */
const PACE_ERROR = 0.03;

/** A chain with its targets, as configured. */
interface Configured {
  readonly chain: Chain;
  readonly targets: readonly Target[];
  readonly sources: ReadonlyMap<string, unknown>;
}

/** What is known of a chain at `nowMs`. */
export function viewOf(
  state: {
    readonly clock: ChainClock;
    readonly consensus: Consensus;
    readonly sources: readonly SourceState[];
  },
  watched: Configured,
  nowMs: number,
): ChainView {
  const { chain } = watched;
  const { clock, consensus } = state;
  const { head } = consensus;
  const wallMs = nowMs + clock.wallOffsetMs;
  const pace = paceOf(clock, chain);
  const { intervalMs } = pace;
  const thresholds = thresholdsAtPace(chain.thresholds, intervalMs);
  const fresh = state.sources.filter((source) => isFresh(source, thresholds, nowMs));
  const rpcs = fresh.filter(
    (source) =>
      source.kind === "rpc" && !consensus.opposed.some((opposition) => opposition.source === source.key),
  );
  const unpolled = watched.sources.size - state.sources.length;
  return {
    nowMs,
    wallMs,
    thresholds,
    until: chain.until ?? null,
    targets: targetsByKey(watched),
    clock,
    intervalMs,
    pace,
    reference: head !== null && (nowMs <= head.freshUntilMs || isOver(chain, head, wallMs)) ? head : null,
    consensus,
    dispute: unpolled > 0 ? null : disputeOf(consensus.sides, state.sources, rpcs.length > 0),
    unpolled,
    hasSingleSource: state.sources.length < 2,
    replying: fresh.length,
    haltedAtBlock: findStandstill(rpcs, head?.block ?? 0, { clock, pace, thresholds }),
    hasIndependentHead: rpcs.some((rpc) => isAtHead(rpc, head?.block ?? 0, pace)),
  };
}

function isOver({ until }: Chain, { block }: HeadState, wallMs: number): boolean {
  return until !== undefined && isReached(until, block, wallMs);
}

export const targetsByKey = memoize(
  ({ targets }: Configured): ReadonlyMap<string, Target> =>
    new Map(targets.map((target) => [target.key, target])),
);

/** The thresholds of a target, at the pace of its chain. */
export function thresholdsOf(
  { key }: Pick<SourceState, "key">,
  { intervalMs, targets, thresholds }: Pick<ChainView, "intervalMs" | "targets" | "thresholds">,
): Thresholds {
  const own = targets.get(key)?.thresholds;
  return own === undefined ? thresholds : thresholdsAtPace(own, intervalMs);
}

/** The end that a target has reached. `isOwn`: its indexer has ended, and its chain may continue. */
export interface Ended {
  readonly end: End;
  readonly isOwn: boolean;
}

/** The end that a target has reached: its own, else the chain's. Null: it has not ended. */
export function endedOf(source: SourceState, view: ChainView): Ended | null {
  const { consensus, targets, until, wallMs } = view;
  const own = targets.get(source.key)?.until;
  if (own !== undefined && hasReached(source, own, wallMs)) {
    return { end: own, isOwn: true };
  }
  const isOver =
    until !== null &&
    (hasReached(source, until, wallMs) || isReached(until, consensus.head?.block ?? 0, wallMs));
  return isOver ? { end: until, isOwn: false } : null;
}

/** Whether a source is at its own end. From then on it is not evidence for the head of its chain. */
export function hasOwnEnd(source: SourceState, target: Target | undefined, wallMs: number): boolean {
  return target?.until !== undefined && hasReached(source, target.until, wallMs);
}

function hasReached(source: SourceState, end: End, wallMs: number): boolean {
  return isReached(end, highestSample(source)?.block ?? 0, wallMs);
}

function disputeOf(
  keysOfSides: Consensus["sides"],
  sources: readonly SourceState[],
  hasRpc: boolean,
): Dispute | null {
  const sides = keysOfSides.map((keys) => sources.filter(({ key }) => keys.includes(key)));
  return sides.length === 0 ? null : { sides, hasRpc };
}

/** The bounds of the current pace; null while it is unknown. */
export function paceRangeOf(clock: ChainClock, chain: Chain): PaceRange | null {
  const intervals = [clock.recentMs, clock.intervalMs].filter((value) => value !== null);
  if (intervals.length > 0) {
    return {
      least: (1 - PACE_ERROR) / Math.max(...intervals),
      most: (1 + PACE_ERROR) / Math.min(...intervals),
    };
  }
  const { blockTimeMs } = chain;
  return blockTimeMs === null
    ? null
    : { least: 1 / CONFIGURED_FACTOR / blockTimeMs, most: CONFIGURED_FACTOR / blockTimeMs };
}

/** Whether the reference is above the highest block of a node by at most a minute's blocks. A node that is late shows no halt. */
function isAtHead({ peak }: SourceState, referenceBlock: number, pace: Pace): boolean {
  return isWithinMinute(referenceBlock - (peak?.block ?? 0), pace);
}

/**
 * The block at which the chain has halted: the highest head of the RPC nodes, if none of them has moved for long, and the
 * reference is above it by at most a minute's blocks. Else null.
 */
function findStandstill(
  rpcs: readonly SourceState[],
  referenceBlock: number,
  { clock, pace, thresholds }: Pick<ChainView, "clock" | "pace" | "thresholds">,
): number | null {
  const highest = Math.max(...rpcs.map((rpc) => rpc.peak?.block ?? 0));
  const hasHalted =
    rpcs.some((rpc) => isAtHead(rpc, referenceBlock, pace)) &&
    rpcs.every((rpc) => pausedMs(rpc, clock) > stalledAfterMs(thresholds, pace));
  return hasHalted ? highest : null;
}

/** How long the head of a node has been the same. Once two replies were equal, at least the age of its block. */
function pausedMs(rpc: SourceState, wall: WallOffset): number {
  const newest = newestSample(rpc);
  const idle = idleMs(rpc);
  // A block below the highest does not show how long the highest has been the head.
  const isHighest = newest !== null && newest.block >= (rpc.peak?.block ?? 0);
  if (newest === null || newest.timestampSec === null || idle === 0 || !isHighest) {
    return idle;
  }
  return Math.max(idle, newest.receivedAtMs - madeAtMs(newest.timestampSec, wall));
}
