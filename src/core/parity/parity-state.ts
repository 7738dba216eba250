import type { ParityReading, ParityValue } from "../model/parity.ts";
import {
  addReading,
  forgetValues,
  highestShared,
  isContradictory,
  isSteady,
  isWellKnown,
  type KnownValues,
  newKnownValues,
  type SharedHeight,
} from "./known-values.ts";
import { type ParityPair, readingIntervalMs, type WatchedProbe } from "./watched-probe.ts";

/** What is known of the values of one chain: plain data, which its chain alone edits. */
export interface ParityState {
  /** By probe and target. */
  readonly values: Record<string, KnownValues>;
  /** By probe and the two targets. */
  readonly pairs: Record<string, PairState>;
}

/** What is known of two targets of one probe. */
export interface PairState {
  /** `unknown` until something could be compared. */
  result: "equal" | "different" | "unknown";
  /** Since when the result holds, Unix milliseconds; null while unknown. */
  sinceMs: number | null;
  /** What the result rests on; null while unknown. */
  comparison: { readonly block: number; readonly own: ParityValue; readonly against: ParityValue } | null;
  /** Differences in a row that are not enough for `different` yet. */
  streak: Streak | null;
  /** The latest comparison, whatever it said. */
  last: (ReadTimes & { readonly block: number; readonly atMs: number }) | null;
}

/** When the values of both were last read. */
interface ReadTimes {
  readonly ownMs: number;
  readonly againstMs: number;
}

/** Block and times are those of the last difference that counted. */
interface Streak extends ReadTimes {
  readonly firstMs: number;
  readonly count: number;
  readonly block: number;
  /** Whether that one was near the heads of both. */
  readonly isNear: boolean;
  /** Whether any of them rests on heights between readings. */
  readonly isBetween: boolean;
}

/** A reading, and whether its target can be relied on. */
export interface TakenReading {
  readonly reading: ParityReading;
  /** `doubted`: its heights may be of another chain or fork, so that nothing it said counts; `ignored`: this reading does not. */
  readonly trust: "trusted" | "doubted" | "ignored";
  /** The deployment that answered, where it is known. */
  readonly deployment: string | null;
}

/** So many differences in a row, over so long, are a difference. */
export const DIFFERENCES = 3;
export const DIFFERENT_AFTER_MS = 120_000;
/**
 * A reorg may have replaced so many blocks after one target was read there and before the other came to them: then
 * all comparisons within them are one.
 */
const REORG_BLOCKS = 64;
/** Where both were just read within so many blocks, a reorg between the two concerns these blocks alone. */
const NEAR_BLOCKS = 4;
/** A comparison is no longer evidence after so many of the longest intervals between readings. */
const STALE_INTERVALS = 3;

/** Folds in readings that came together, then compares every pair that they concern once. Their order does not matter. */
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
    for (const pair of probe.pairs) {
      if (read.has(pair.target.key) || read.has(pair.against.key)) {
        comparePair(state, probe, pair, staleMs, nowMs);
      }
    }
  }
}

/** The state without removed or changed probes, and without removed targets. */
export function retainParity(
  state: ParityState,
  probes: readonly WatchedProbe[],
  isKept: (target: string) => boolean,
): ParityState {
  const retained: ParityState = { values: {}, pairs: {} };
  for (const probe of probes) {
    for (const { target, query } of probe.targets) {
      const known = valuesOf(state, probe, target.key);
      if (known?.query === query && isKept(target.key)) {
        retained.values[`${probe.name} ${target.key}`] = known;
      }
    }
    for (const pair of probe.pairs) {
      const known = pairStateOf(state, probe, pair);
      const sides = [pair.target, pair.against];
      if (known !== undefined && sides.every(({ key }) => valuesOf(retained, probe, key) !== undefined)) {
        retained.pairs[pairKey(probe, pair)] = known;
      }
    }
  }
  return retained;
}

/** What is known of one target, or undefined. */
export function valuesOf(
  { values }: ParityState,
  { name }: WatchedProbe,
  target: string,
): KnownValues | undefined {
  return values[`${name} ${target}`];
}

/** What is known of a pair, or undefined. */
export function pairStateOf(
  { pairs }: ParityState,
  probe: WatchedProbe,
  pair: ParityPair,
): PairState | undefined {
  return pairs[pairKey(probe, pair)];
}

/** How long a comparison stays evidence. */
export function parityStaleMs(probe: WatchedProbe, { target, against }: ParityPair, staleMs: number): number {
  const intervalMs = Math.max(readingIntervalMs(probe, target), readingIntervalMs(probe, against));
  return Math.max(staleMs, STALE_INTERVALS * intervalMs);
}

/** A pair that was never compared. */
export function newPair(): PairState {
  return { result: "unknown", sinceMs: null, comparison: null, streak: null, last: null };
}

function pairKey({ name }: WatchedProbe, { target, against }: ParityPair): string {
  return `${name} ${target.key} ${against.key}`;
}

function takeReading(
  { values }: ParityState,
  probe: WatchedProbe,
  { reading, trust, deployment }: TakenReading,
): void {
  const asked = probe.targets.find(({ target }) => target.key === reading.target);
  if (asked === undefined) {
    return;
  }
  const key = `${probe.name} ${reading.target}`;
  const former = values[key];
  const known = former?.query === asked.query ? former : newKnownValues(asked.query);
  values[key] = known;
  if (reading.kind === "failed") {
    known.failure = reading.detail;
  } else if (trust === "doubted") {
    forgetValues(known);
  } else if (trust === "trusted") {
    if (known.deployment !== null && deployment !== null && known.deployment !== deployment) {
      forgetValues(known);
    }
    addReading(known, reading, readingIntervalMs(probe, asked.target));
    known.deployment = deployment ?? known.deployment;
  }
}

function comparePair(
  state: ParityState,
  probe: WatchedProbe,
  pair: ParityPair,
  staleMs: number,
  nowMs: number,
): void {
  const key = pairKey(probe, pair);
  const known = state.pairs[key] ?? newPair();
  state.pairs[key] = known;
  const { last } = known;
  const isStale = last !== null && nowMs - last.atMs > parityStaleMs(probe, pair, staleMs);
  if (isStale) {
    // Differences in a row are still in a row.
    Object.assign(known, { result: "unknown", sinceMs: null, comparison: null });
  }
  const own = valuesOf(state, probe, pair.target.key);
  const against = valuesOf(state, probe, pair.against.key);
  if (own === undefined || against === undefined) {
    return;
  }
  const shared = highestShared(own, against);
  const isUnreliable = own.runs.length === 0 || against.runs.length === 0;
  // After a silence both are below what was compared: the chain has started again.
  const isBelow = isStale && shared !== null && shared.block + shared.belowHead < last.block;
  if (isUnreliable || isBelow) {
    Object.assign(known, newPair());
  }
  const times = { ownMs: own.lastMs ?? nowMs, againstMs: against.lastMs ?? nowMs };
  if (shared !== null && isUsable(shared, own, against) && isNews(known, shared, times)) {
    foldComparison(known, shared, times, nowMs, isWellKnown(own) && isWellKnown(against));
  }
}

/** Where values come and go quickly, only what both said of one very height counts. */
function isUsable(shared: SharedHeight, own: KnownValues, against: KnownValues): boolean {
  const isBelieved = isEqual(shared) || (!isContradictory(own) && !isContradictory(against));
  return isBelieved && (!shared.isBetween || (isSteady(own) && isSteady(against)));
}

/** A block is compared once, and again where both stand still there. */
function isNews({ last, result }: PairState, shared: SharedHeight, times: ReadTimes): boolean {
  if (last === null || shared.block > last.block) {
    return true;
  }
  const isReadAgain = shared.block === last.block && shared.belowHead === 0 && isLater(times, last);
  return isReadAgain && (isEqual(shared) || result === "different");
}

function foldComparison(
  pair: PairState,
  shared: SharedHeight,
  times: ReadTimes,
  nowMs: number,
  areWellKnown: boolean,
): void {
  const { block, own, against } = shared;
  const comparison = { block, own, against };
  pair.last = { block, atMs: nowMs, ...times };
  if (isEqual(shared)) {
    const sinceMs = pair.result === "equal" ? pair.sinceMs : nowMs;
    Object.assign(pair, { result: "equal", sinceMs, comparison, streak: null });
  } else if (pair.result === "different") {
    pair.comparison = comparison;
  } else {
    const streak = nextStreak(pair.streak, shared, times, nowMs);
    const isEnough = streak.count >= DIFFERENCES && nowMs - streak.firstMs >= DIFFERENT_AFTER_MS;
    if (isEnough && (!streak.isBetween || areWellKnown)) {
      Object.assign(pair, { result: "different", sinceMs: streak.firstMs, comparison, streak: null });
    } else {
      pair.streak = streak;
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
  if (streak === null) {
    return { firstMs: nowMs, count: 1, block, ...times, isNear, isBetween };
  }
  const isApart = (isNear && streak.isNear) || block - streak.block > REORG_BLOCKS;
  return isApart && isLater(times, streak)
    ? {
        firstMs: streak.firstMs,
        count: streak.count + 1,
        block,
        ...times,
        isNear,
        isBetween: streak.isBetween || isBetween,
      }
    : streak;
}

function isEqual({ own, against }: SharedHeight): boolean {
  return own.text === against.text;
}

/** Whether both were read again. */
function isLater(times: ReadTimes, before: ReadTimes): boolean {
  return times.ownMs > before.ownMs && times.againstMs > before.againstMs;
}
