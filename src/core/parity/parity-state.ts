import type { ParityReading } from "../model/parity.ts";
import {
  addReading,
  type Comparison,
  forgetValues,
  highestShared,
  isContradictory,
  isSteady,
  isWellKnown,
  type KnownValues,
  newKnownValues,
  type SharedHeight,
} from "./known-values.ts";
import { type ComparedTargets, readingIntervalMs, type WatchedProbe } from "./watched-probe.ts";

/** What is known of the values of one chain: plain data, which only the class `Chain` edits. */
export interface ParityState {
  /** By the key of the query of a target. */
  readonly values: Record<string, KnownValues>;
  /** By the keys of the queries of two targets. */
  readonly comparisons: Record<string, KnownComparison>;
}

/** What is known of two targets of one probe. */
export interface KnownComparison {
  /** `unknown` until comparisons confirm a result, and again when they are stale. */
  result: "equal" | "different" | "unknown";
  /** Since when the result holds, by our own clock; null while unknown. */
  sinceMs: number | null;
  /** The latest comparison that confirmed the result; null while unknown. */
  comparison: Comparison | null;
  /** Differences in a row that are not enough for `different` yet. */
  streak: Streak | null;
  /** The latest comparison that counted, whatever its result. */
  last: (Compared & { readonly atMs: number }) | null;
}

/** When the values of two targets were last read. */
interface ReadTimes {
  readonly ownMs: number;
  readonly againstMs: number;
}

/** At which block two targets were compared. */
interface Compared extends ReadTimes {
  readonly block: number;
}

/** `block` and the times are from the last difference that counted. */
interface Streak extends Compared {
  readonly firstMs: number;
  readonly count: number;
  /** Whether the last counted difference was at most `NEAR_BLOCKS` below the highest block read. */
  readonly isNear: boolean;
  /** Whether any of the differences is at a block at which a target was not read. */
  readonly isBetween: boolean;
}

/** A reading, and whether its target can be relied on. */
export interface TakenReading {
  readonly reading: ParityReading;
  /**
   * `doubted`: the target may be on another chain or fork, so none of its values count; `ignored`: only this reading does not
   * count.
   */
  readonly trust: "trusted" | "doubted" | "ignored";
  /** The deployment that replied, if it is known. */
  readonly deployment: string | null;
}

/** The result is `different` after this number of differences in a row, over this time. */
export const DIFFERENCES = 3;
export const DIFFERENT_AFTER_MS = 120_000;
/**
 * A reorg may replace this number of blocks between the readings of two targets. So of several differences within this number
 * of blocks only one counts, except near the heads.
 */
const REORG_BLOCKS = 64;
/**
 * At most this number of blocks below the highest block read, each difference counts. Both targets are read again before the
 * next one, so a reorg cannot explain two.
 */
const NEAR_BLOCKS = 4;
/** A comparison is stale after this number of intervals between readings; the longer interval of the two targets counts. */
const STALE_INTERVALS = 3;

/** Adds readings that came together, and then compares their targets once. The order of the readings does not matter. */
export function observeReadings(
  state: ParityState,
  { probes, staleMs }: { readonly probes: readonly WatchedProbe[]; readonly staleMs: number },
  taken: readonly TakenReading[],
): void {
  for (const probe of probes) {
    const read = new Set<string>();
    let nowMs = 0;
    for (const one of taken.filter(({ reading }) => reading.probe === probe.name)) {
      takeReading(state, probe, one);
      read.add(one.reading.target);
      nowMs = Math.max(nowMs, one.reading.receivedAtMs);
    }
    for (const compared of probe.compared) {
      if (read.has(compared.target.key) || read.has(compared.against.key)) {
        compareTargets(state, probe, compared, staleMs, nowMs);
      }
    }
  }
}

/** The state without removed or changed probes, and without removed targets. */
export function retainParity(
  { values, comparisons }: ParityState,
  probes: readonly WatchedProbe[],
  isKept: (target: string) => boolean,
): ParityState {
  const targets = probes.flatMap((probe) => probe.targets).filter(({ key }) => isKept(key));
  const kept = picked(values, new Set(targets.map(({ queryKey }) => queryKey)));
  const compared = probes
    .flatMap((probe) => probe.compared)
    .filter(({ target, against }) => target.queryKey in kept && against.queryKey in kept);
  return { values: kept, comparisons: picked(comparisons, new Set(compared.map(({ key }) => key))) };
}

function picked<Value>(all: Readonly<Record<string, Value>>, keys: ReadonlySet<string>) {
  return Object.fromEntries(Object.entries(all).filter(([key]) => keys.has(key)));
}

/** After what time a comparison is stale. */
export function parityStaleMs(
  probe: WatchedProbe,
  { target, against }: ComparedTargets,
  staleMs: number,
): number {
  const intervalMs = Math.max(readingIntervalMs(probe, target), readingIntervalMs(probe, against));
  return Math.max(staleMs, STALE_INTERVALS * intervalMs);
}

export function newKnownComparison(): KnownComparison {
  return { result: "unknown", sinceMs: null, comparison: null, streak: null, last: null };
}

function takeReading(
  { values }: ParityState,
  probe: WatchedProbe,
  { reading, trust, deployment }: TakenReading,
): void {
  const target = probe.targets.find(({ key }) => key === reading.target);
  if (target === undefined) {
    return;
  }
  const known = values[target.queryKey] ?? newKnownValues();
  values[target.queryKey] = known;
  if (trust === "doubted") {
    forgetValues(known);
  } else if (reading.kind === "unreadable") {
    known.unreadable = reading.detail;
  } else if (trust === "trusted") {
    if (known.deployment !== null && deployment !== null && known.deployment !== deployment) {
      forgetValues(known);
    }
    addReading(known, reading, readingIntervalMs(probe, target));
    known.deployment = deployment ?? known.deployment;
  }
}

function compareTargets(
  state: ParityState,
  probe: WatchedProbe,
  compared: ComparedTargets,
  staleMs: number,
  nowMs: number,
): void {
  const known = state.comparisons[compared.key] ?? newKnownComparison();
  state.comparisons[compared.key] = known;
  const { last } = known;
  const isStale = last !== null && nowMs - last.atMs > parityStaleMs(probe, compared, staleMs);
  if (isStale) {
    // The streak is kept: a time without comparisons does not interrupt it.
    Object.assign(known, { result: "unknown", sinceMs: null, comparison: null });
  }
  const own = state.values[compared.target.queryKey];
  const against = state.values[compared.against.queryKey];
  if (own === undefined || against === undefined) {
    return;
  }
  const shared = highestShared(own, against);
  const isUnreliable = own.runs.length === 0 || against.runs.length === 0;
  // If the last comparison is stale, and both targets are below its block, the chain was reset.
  const isBelow = isStale && shared !== null && shared.block + shared.belowHead < last.block;
  if (isUnreliable || isBelow) {
    Object.assign(known, newKnownComparison());
  }
  const times = { ownMs: own.lastMs ?? nowMs, againstMs: against.lastMs ?? nowMs };
  if (shared !== null && isComparable(shared, own, against) && isNews(known, shared, times)) {
    foldComparison(known, shared, times, nowMs, isWellKnown(own) && isWellKnown(against));
  }
}

/**
 * Whether a comparison counts. A difference does not count if a target recently gave two values for one height. If the values
 * of a target come and go quickly, only readings of both targets at the same block count.
 */
function isComparable(shared: SharedHeight, own: KnownValues, against: KnownValues): boolean {
  const isBelieved = isEqual(shared) || (!isContradictory(own) && !isContradictory(against));
  return isBelieved && (!shared.isBetween || (isSteady(own) && isSteady(against)));
}

/** Whether a comparison is new. A block counts once, and again only if both targets have stopped there and were read again. */
function isNews({ last, result }: KnownComparison, shared: SharedHeight, times: ReadTimes): boolean {
  if (last === null || shared.block > last.block) {
    return true;
  }
  const isReadAgain = shared.block === last.block && shared.belowHead === 0 && isLater(times, last);
  return isReadAgain && (isEqual(shared) || result === "different");
}

function foldComparison(
  known: KnownComparison,
  shared: SharedHeight,
  times: ReadTimes,
  nowMs: number,
  areWellKnown: boolean,
): void {
  const { block, own, against } = shared;
  const comparison = { block, own, against };
  known.last = { block, atMs: nowMs, ...times };
  if (isEqual(shared)) {
    const sinceMs = known.result === "equal" ? known.sinceMs : nowMs;
    Object.assign(known, { result: "equal", sinceMs, comparison, streak: null });
  } else if (known.result === "different") {
    known.comparison = comparison;
  } else {
    const streak = nextStreak(known.streak, shared, times, nowMs);
    const isEnough = streak.count >= DIFFERENCES && nowMs - streak.firstMs >= DIFFERENT_AFTER_MS;
    if (isEnough && (!streak.isBetween || areWellKnown)) {
      Object.assign(known, { result: "different", sinceMs: streak.firstMs, comparison, streak: null });
    } else {
      known.streak = streak;
    }
  }
}

function nextStreak(
  streak: Streak | null,
  { block, belowHead, isBetween }: SharedHeight,
  times: ReadTimes,
  nowMs: number,
): Streak {
  const isNear = belowHead <= NEAR_BLOCKS;
  const { count, firstMs } = streak ?? { count: 0, firstMs: nowMs };
  const next = { firstMs, count: count + 1, block, ...times, isNear };
  if (streak === null) {
    return { ...next, isBetween };
  }
  const isApart = (isNear && streak.isNear) || block - streak.block > REORG_BLOCKS;
  return isApart && isLater(times, streak) ? { ...next, isBetween: streak.isBetween || isBetween } : streak;
}

function isEqual({ own, against }: SharedHeight): boolean {
  return own.text === against.text;
}

/** Whether both targets were read again. */
function isLater(times: ReadTimes, before: ReadTimes): boolean {
  return times.ownMs > before.ownMs && times.againstMs > before.againstMs;
}
