import { readAtMs, type Sample } from "./sample.ts";

/** Blocks per millisecond, at least and at most. */
export interface PaceRange {
  readonly least: number;
  readonly most: number;
}

/** What one pair of polls says of the gap: an interval that holds it. */
export interface GapMeasure {
  /** When the driving sample, and its partner, were read. */
  readonly atMs: number;
  readonly partnerMs: number;
  readonly low: number;
  readonly high: number;
}

/** The gap between two targets, and how sure it is. */
export interface GapEstimate {
  readonly blocks: number;
  readonly uncertaintyBlocks: number;
}

/** So many pairs, an equal gap provided, bring the uncertainty below one block; older ones say little of now. */
const KEPT_MEASURES = 16;
/** A gap that so many measures agree on holds still. */
const STEADY_MEASURES = 5;
/** Both heights are whole numbers: half a block; and half as much again, because blocks come unevenly (bench/accuracy.ts). */
const ROUNDING_BLOCKS = 0.75;

/**
 * Adds what a driving sample (of the target that is polled less often) and the nearest samples of the other say.
 * `sign` is 1 where the driver is the target and -1 where it is what the target is compared with.
 */
export function addMeasure(
  measures: readonly GapMeasure[],
  pair: {
    readonly driver: Sample;
    readonly partners: readonly Sample[];
    readonly driverIs: "target" | "against";
  },
  pace: PaceRange,
): readonly GapMeasure[] {
  const partner = nearest(pair.driver, pair.partners);
  if (partner === null) {
    return measures;
  }
  const atMs = readAtMs(pair.driver);
  const partnerMs = readAtMs(partner);
  const last = measures.at(-1);
  const isKnown = last?.atMs === atMs;
  if (isKnown && Math.abs(last.partnerMs - atMs) <= Math.abs(partnerMs - atMs)) {
    return measures;
  }
  const [target, against] = pair.driverIs === "target" ? [pair.driver, partner] : [partner, pair.driver];
  const kept = isKnown ? measures.slice(0, -1) : measures.slice(1 - KEPT_MEASURES);
  const { low, high } = holdingInterval(target, against, pace);
  return kept.concat({ atMs, partnerMs, low, high });
}

/**
 * The interval that all recent measures share, newest first; where an older one no longer meets it, the gap has
 * changed, and what is older is left out. A gap that never holds still for a few polls (an indexer that works in
 * batches) is told by the newest measure alone: those before it would only pull it back.
 */
export function estimateGap(measures: readonly GapMeasure[]): GapEstimate | null {
  const newest = measures.at(-1);
  if (newest === undefined) {
    return null;
  }
  let { low, high } = newest;
  let met = 0;
  for (const measure of measures.toReversed()) {
    if (measure.low > high || measure.high < low) {
      break;
    }
    low = Math.max(low, measure.low);
    high = Math.min(high, measure.high);
    met += 1;
  }
  const steady = met >= Math.min(STEADY_MEASURES, measures.length);
  return steady ? middleOf({ low, high }) : middleOf(newest);
}

function middleOf({ low, high }: Pick<GapMeasure, "low" | "high">): GapEstimate {
  return { blocks: (low + high) / 2, uncertaintyBlocks: (high - low) / 2 };
}

/** The gap `against - target` at one instant, from heights read somewhere between request and reply. */
function holdingInterval(
  target: Sample,
  against: Sample,
  pace: PaceRange,
): { readonly low: number; readonly high: number } {
  const difference = against.block - target.block;
  const earliestMs = against.sentAtMs - target.receivedAtMs;
  const latestMs = against.receivedAtMs - target.sentAtMs;
  return {
    low: difference - furthest(latestMs, pace) - ROUNDING_BLOCKS,
    high: difference + furthest(-earliestMs, pace) + ROUNDING_BLOCKS,
  };
}

/** The most that a chain of this pace moves in `ms`; for a negative time the least, as a negative number. */
function furthest(ms: number, pace: PaceRange): number {
  return ms * (ms > 0 ? pace.most : pace.least);
}

function nearest(driver: Sample, partners: readonly Sample[]): Sample | null {
  let best: Sample | null = null;
  for (const partner of partners) {
    if (best === null || distanceMs(driver, partner) < distanceMs(driver, best)) {
      best = partner;
    }
  }
  return best;
}

function distanceMs(a: Sample, b: Sample): number {
  return Math.abs(readAtMs(a) - readAtMs(b));
}
