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

/** What is known of the values of one chain: plain data, which its chain alone edits. */
export interface ParityState {
  /** By what is asked of a target. */
  readonly values: Record<string, KnownValues>;
  /** By what is asked of both. */
  readonly pairs: Record<string, KnownComparison>;
}

/** What is known of two targets of one probe. */
export interface KnownComparison {
  /** `unknown` until something could be compared. */
  result: "equal" | "different" | "unknown";
  /** Since when the result holds, Unix milliseconds; null while unknown. */
  sinceMs: number | null;
  /** What the result rests on; null while unknown. */
  comparison: Comparison | null;
  /** Differences in a row that are not enough for `different` yet. */
  streak: Streak | null;
  /** The latest comparison, whatever it said. */
  last: (Compared & { readonly atMs: number }) | null;
}

/** When the values of both were last read. */
interface ReadTimes {
  readonly ownMs: number;
  readonly againstMs: number;
}

/** At which block both were compared. */
interface Compared extends ReadTimes {
  readonly block: number;
}

/** Block and times are those of the last difference that counted. */
interface Streak extends Compared {
  readonly firstMs: number;
  readonly count: number;
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

/** This number of differences in a row, over this long, are a difference. */
export const DIFFERENCES = 3;
export const DIFFERENT_AFTER_MS = 120_000;
/**
 * A reorg may have replaced this number of blocks after one target was read there and before the other came to them: then
 * all comparisons within them are one.
 */
const REORG_BLOCKS = 64;
/** Where both were just read within this number of blocks, a reorg between the two concerns these blocks alone. */
const NEAR_BLOCKS = 4;
/** After how many of the longest intervals between readings a comparison is no longer evidence. */
const STALE_INTERVALS = 3;

/** Folds in readings that came together, then compares the targets that they concern once. Their order does not matter. */
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
  { values, pairs }: ParityState,
  probes: readonly WatchedProbe[],
  isKept: (target: string) => boolean,
): ParityState {
  const asked = probes.flatMap((probe) => probe.targets).filter(({ key }) => isKept(key));
  const kept = picked(values, new Set(asked.map((one) => one.asked)));
  const compared = probes
    .flatMap((probe) => probe.compared)
    .filter(({ target, against }) => target.asked in kept && against.asked in kept);
  return { values: kept, pairs: picked(pairs, new Set(compared.map(({ key }) => key))) };
}

function picked<Value>(all: Readonly<Record<string, Value>>, keys: ReadonlySet<string>) {
  return Object.fromEntries(Object.entries(all).filter(([key]) => keys.has(key)));
}

/** How long a comparison stays evidence. */
export function parityStaleMs(
  probe: WatchedProbe,
  { target, against }: ComparedTargets,
  staleMs: number,
): number {
  const intervalMs = Math.max(readingIntervalMs(probe, target), readingIntervalMs(probe, against));
  return Math.max(staleMs, STALE_INTERVALS * intervalMs);
}

/** Of two targets that were never compared. */
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
  const known = values[target.asked] ?? newKnownValues();
  values[target.asked] = known;
  if (reading.kind === "unreadable") {
    known.unreadable = reading.detail;
  } else if (trust === "doubted") {
    forgetValues(known);
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
  const known = state.pairs[compared.key] ?? newKnownComparison();
  state.pairs[compared.key] = known;
  const { last } = known;
  const isStale = last !== null && nowMs - last.atMs > parityStaleMs(probe, compared, staleMs);
  if (isStale) {
    // Differences in a row are still in a row.
    Object.assign(known, { result: "unknown", sinceMs: null, comparison: null });
  }
  const own = state.values[compared.target.asked];
  const against = state.values[compared.against.asked];
  if (own === undefined || against === undefined) {
    return;
  }
  const shared = highestShared(own, against);
  const isUnreliable = own.runs.length === 0 || against.runs.length === 0;
  // After a silence both are below what was compared: the chain has started again.
  const isBelow = isStale && shared !== null && shared.block + shared.belowHead < last.block;
  if (isUnreliable || isBelow) {
    Object.assign(known, newKnownComparison());
  }
  const times = { ownMs: own.lastMs ?? nowMs, againstMs: against.lastMs ?? nowMs };
  if (shared !== null && isComparable(shared, own, against) && isNews(known, shared, times)) {
    foldComparison(known, shared, times, nowMs, isWellKnown(own) && isWellKnown(against));
  }
}

/** Where values come and go quickly, only what both said of one very height counts. */
function isComparable(shared: SharedHeight, own: KnownValues, against: KnownValues): boolean {
  const isBelieved = isEqual(shared) || (!isContradictory(own) && !isContradictory(against));
  return isBelieved && (!shared.isBetween || (isSteady(own) && isSteady(against)));
}

/** Whether a comparison is new: a block is compared once, and again only if both targets have stopped there. */
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

/** Whether both were read again. */
function isLater(times: ReadTimes, before: ReadTimes): boolean {
  return times.ownMs > before.ownMs && times.againstMs > before.againstMs;
}
