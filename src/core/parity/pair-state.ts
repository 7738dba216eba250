import type { ParityValue } from "../model/parity.ts";
import type { SharedHeight } from "./compare.ts";
import { isContradictory, isSteady, isWellKnown, type KnownValues } from "./known-values.ts";

/** What is said of two targets: `unknown` until something could be compared. */
export type ParityResult = "equal" | "different" | "unknown";

/** Two values at one height. */
export interface Comparison {
  readonly block: number;
  readonly own: ParityValue;
  readonly against: ParityValue;
}

/** Differences in a row that are not enough for `different` yet. */
interface Streak {
  readonly firstMs: number;
  readonly count: number;
  /** Block and reading times of the last comparison that counted. */
  readonly block: number;
  readonly ownMs: number;
  readonly againstMs: number;
  /** Whether that one was near the heads of both. */
  readonly isNear: boolean;
  /** `between` if any of them rests on heights between readings. */
  readonly evidence: SharedHeight["evidence"];
}

/** What is known of two targets of one probe: plain data. */
export interface PairState {
  readonly probe: string;
  /** Keys of targets. */
  readonly target: string;
  readonly against: string;
  readonly result: ParityResult;
  /** Since when the result holds, unix milliseconds; null while unknown. */
  readonly sinceMs: number | null;
  /** What the result rests on; null while unknown. */
  readonly comparison: Comparison | null;
  readonly streak: Streak | null;
  /** The latest comparison, whatever it said, and when the values of both were last read by then. */
  readonly last: {
    readonly block: number;
    readonly atMs: number;
    readonly ownMs: number;
    readonly againstMs: number;
  } | null;
}

/** What a comparison is made from. */
export interface Compared {
  readonly shared: SharedHeight;
  readonly own: KnownValues;
  readonly against: KnownValues;
  readonly nowMs: number;
}

/** So many differences in a row, over so long, are a difference. */
export const DIFFERENCES = 3;
export const DIFFERENT_AFTER_MS = 120_000;
/**
 * A reorg may have replaced so many blocks after one source was read there and before the other came to them: then
 * all comparisons within them are one.
 */
const REORG_BLOCKS = 64;
/** Where both were just read within so many blocks, a reorg between the two concerns these blocks alone. */
const NEAR_BLOCKS = 4;

/** A pair that was never compared. */
export function newPair(pair: Pick<PairState, "probe" | "target" | "against">): PairState {
  const { probe, target, against } = pair;
  return {
    probe,
    target,
    against,
    result: "unknown",
    sinceMs: null,
    comparison: null,
    streak: null,
    last: null,
  };
}

/** What is left once the last comparison is no longer evidence: differences in a row are still in a row. */
export function withoutResult(pair: PairState): PairState {
  return { ...pair, result: "unknown", sinceMs: null, comparison: null };
}

/** Folds in what both have at the highest block that they share. A block is compared once. */
export function foldComparison(pair: PairState, compared: Compared): PairState {
  const { shared, nowMs } = compared;
  const { last } = pair;
  if (last !== null && shared.block <= last.block) {
    return shared.block === last.block ? seenAgain({ ...pair, last }, compared) : pair;
  }
  if (!isUsable(compared)) {
    return pair;
  }
  const seen = { ...pair, last: { block: shared.block, atMs: nowMs, ...readTimes(compared) } };
  return isEqual(shared) ? asEqual(seen, compared) : asDifferent(seen, compared);
}

/** The block compared last once more: what was said of it still holds where both were read there since. */
function seenAgain(
  pair: PairState & { readonly last: NonNullable<PairState["last"]> },
  compared: Compared,
): PairState {
  const { shared, nowMs } = compared;
  const times = readTimes(compared);
  const isReadAgain = times.ownMs > pair.last.ownMs && times.againstMs > pair.last.againstMs;
  if (!isReadAgain || shared.belowHead > 0) {
    return pair;
  }
  const seen = { ...pair, last: { ...pair.last, atMs: nowMs, ...times } };
  if (saysTheSame(pair, shared)) {
    return seen;
  }
  // After a silence both are still at that height.
  const isAnew = pair.result === "unknown" && isEqual(shared);
  return isAnew ? asEqual(seen, compared) : pair;
}

function readTimes({ own, against, nowMs }: Compared): Pick<Streak, "ownMs" | "againstMs"> {
  return { ownMs: own.lastMs ?? nowMs, againstMs: against.lastMs ?? nowMs };
}

function isEqual({ own, against }: SharedHeight): boolean {
  return own.text === against.text;
}

/** Where values come and go quickly, only what both said of one very height counts. */
function isUsable({ shared, own, against }: Compared): boolean {
  const isBelieved = isEqual(shared) || (!isContradictory(own) && !isContradictory(against));
  return isBelieved && (shared.evidence === "read" || (isSteady(own) && isSteady(against)));
}

function saysTheSame({ comparison, streak }: PairState, { own, against }: SharedHeight): boolean {
  return (
    streak === null &&
    comparison !== null &&
    comparison.own.text === own.text &&
    comparison.against.text === against.text
  );
}

function asEqual(pair: PairState, { shared, nowMs }: Compared): PairState {
  const sinceMs = pair.result === "equal" ? pair.sinceMs : nowMs;
  return { ...pair, result: "equal", sinceMs, streak: null, comparison: comparisonOf(shared) };
}

function asDifferent(pair: PairState, compared: Compared): PairState {
  const comparison = comparisonOf(compared.shared);
  if (pair.result === "different") {
    return { ...pair, comparison };
  }
  const streak = nextStreak(pair.streak, compared);
  return isEnough(streak, compared)
    ? { ...pair, result: "different", sinceMs: streak.firstMs, comparison, streak: null }
    : { ...pair, streak };
}

function nextStreak(streak: Streak | null, compared: Compared): Streak {
  const { shared, nowMs } = compared;
  const { block, belowHead, evidence } = shared;
  const isNear = belowHead <= NEAR_BLOCKS;
  const first = { firstMs: nowMs, count: 1, block, ...readTimes(compared), isNear, evidence };
  if (streak === null || block <= streak.block) {
    return first;
  }
  const isNewOfBoth = first.ownMs > streak.ownMs && first.againstMs > streak.againstMs;
  const isApart = (isNear && streak.isNear) || block - streak.block > REORG_BLOCKS;
  if (!isNewOfBoth || !isApart) {
    return streak;
  }
  return {
    ...first,
    firstMs: streak.firstMs,
    count: streak.count + 1,
    evidence: streak.evidence === "between" ? "between" : evidence,
  };
}

function isEnough({ count, evidence, firstMs }: Streak, { own, against, nowMs }: Compared): boolean {
  return (
    count >= DIFFERENCES &&
    nowMs - firstMs >= DIFFERENT_AFTER_MS &&
    (evidence === "read" || (isWellKnown(own) && isWellKnown(against)))
  );
}

function comparisonOf({ block, own, against }: SharedHeight): Comparison {
  return { block, own: withoutHeights(own), against: withoutHeights(against) };
}

function withoutHeights({ text, isNumber }: ParityValue): ParityValue {
  return { text, isNumber };
}
