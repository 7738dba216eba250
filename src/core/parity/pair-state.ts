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
export interface Streak {
  readonly firstMs: number;
  readonly count: number;
  /** Of the last one that counted. */
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

/** Folds in what both have at the highest block that they share. A block is compared once. */
export function foldComparison(pair: PairState, compared: Compared): PairState {
  const { shared, own, against, nowMs } = compared;
  const [ownMs, againstMs] = [own.lastMs ?? nowMs, against.lastMs ?? nowMs];
  const { last } = pair;
  if (last !== null && shared.block <= last.block) {
    const isReadAgain = shared.block === last.block && ownMs > last.ownMs && againstMs > last.againstMs;
    return isReadAgain && saysTheSame(pair, shared)
      ? { ...pair, last: { ...last, atMs: nowMs, ownMs, againstMs } }
      : pair;
  }
  if (!isUsable(compared)) {
    return pair;
  }
  const seen = { ...pair, last: { block: shared.block, atMs: nowMs, ownMs, againstMs } };
  return shared.own.text === shared.against.text ? asEqual(seen, compared) : asDifferent(seen, compared);
}

/** Where values come and go quickly, only what both said of one very height counts. */
function isUsable({ shared, own, against }: Compared): boolean {
  const isEqual = shared.own.text === shared.against.text;
  const isBelieved = isEqual || (!isContradictory(own) && !isContradictory(against));
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

function nextStreak(streak: Streak | null, { shared, own, against, nowMs }: Compared): Streak {
  const { block, evidence } = shared;
  const isNear = shared.belowHead <= NEAR_BLOCKS;
  const [ownMs, againstMs] = [own.lastMs ?? nowMs, against.lastMs ?? nowMs];
  if (streak === null) {
    return { firstMs: nowMs, count: 1, block, ownMs, againstMs, isNear, evidence };
  }
  const isNewOfBoth = ownMs > streak.ownMs && againstMs > streak.againstMs;
  const isApart = (isNear && streak.isNear) || block - streak.block > REORG_BLOCKS;
  return isNewOfBoth && isApart
    ? {
        firstMs: streak.firstMs,
        count: streak.count + 1,
        block,
        ownMs,
        againstMs,
        isNear,
        evidence: evidence === "between" ? evidence : streak.evidence,
      }
    : streak;
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
