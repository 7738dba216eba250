import { readAtMs, type Sample } from "../model/sample.ts";

/** Blocks per millisecond, at least and at most. */
export interface PaceRange {
  readonly least: number;
  readonly most: number;
}

/**
 * The latest measures of the gap, oldest first: each is an interval in blocks that contains the gap, from one poll of each
 * target. Two lists of numbers are small in memory and as text.
 */
export interface GapMeasures {
  readonly lows: readonly number[];
  readonly highs: readonly number[];
  /** When the two samples of the newest measure were read: the driver and its partner. Null without a measure. */
  readonly newest: { readonly atMs: number; readonly partnerMs: number } | null;
}

export const NO_MEASURES: GapMeasures = { lows: [], highs: [], newest: null };

/** The gap between two targets, and how sure it is. */
export interface GapEstimate {
  readonly blocks: number;
  readonly uncertaintyBlocks: number;
}

/**
 * If the gap stays the same, this number of measures brings the uncertainty below one block. Older measures say little about
 * the present gap.
 */
const KEPT_MEASURES = 16;
/** A gap on which this number of measures agree is steady. */
const STEADY_MEASURES = 5;
/**
 * Half a block, because both heights are whole numbers; and a quarter, because blocks come unevenly
 * (test/worlds/measured-cases.ts).
 */
const ROUNDING_BLOCKS = 0.75;
/** Bounds are rounded outward to a thousandth of a block. */
const PARTS_OF_BLOCK = 1_000;

/**
 * Adds the measure of two samples. The driver is a sample of the target that is polled less often, and its partner is the sample
 * of the other target that was read nearest to it.
 */
export function addMeasure(
  measures: GapMeasures,
  read: {
    readonly driver: Sample;
    readonly partners: readonly Sample[];
    readonly driverIs: "target" | "against";
  },
  pace: PaceRange,
): GapMeasures {
  const atMs = readAtMs(read.driver);
  const distanceMs = (sample: Sample) => Math.abs(readAtMs(sample) - atMs);
  let [partner] = read.partners;
  for (const one of read.partners) {
    partner = partner !== undefined && distanceMs(one) < distanceMs(partner) ? one : partner;
  }
  if (partner === undefined) {
    return measures;
  }
  const partnerMs = readAtMs(partner);
  const { lows, highs, newest } = measures;
  const isSameDriver = newest?.atMs === atMs;
  if (isSameDriver && Math.abs(newest.partnerMs - atMs) <= distanceMs(partner)) {
    return measures;
  }
  const [target, against] = read.driverIs === "target" ? [read.driver, partner] : [partner, read.driver];
  const { low, high } = gapInterval(target, against, pace);
  const [from, to] = isSameDriver ? [0, lows.length - 1] : [1 - KEPT_MEASURES, lows.length];
  return {
    // `toSpliced` appends here. `concat` with a bare number would make an array that holds each number as an object.
    lows: lows.slice(from, to).toSpliced(KEPT_MEASURES, 0, low),
    highs: highs.slice(from, to).toSpliced(KEPT_MEASURES, 0, high),
    newest: { atMs, partnerMs },
  };
}

/**
 * The middle of the interval that all recent measures share. An older measure that does not overlap the newer ones shows that
 * the gap has changed since, so it ends the search. A gap that is never steady (an indexer that works in batches) is estimated
 * from the newest measure alone.
 */
export function estimateGap({ lows, highs }: GapMeasures): GapEstimate | null {
  const [newestLow, newestHigh] = [lows.at(-1), highs.at(-1)];
  if (newestLow === undefined || newestHigh === undefined) {
    return null;
  }
  let low = newestLow;
  let high = newestHigh;
  let met = 1;
  while (met < lows.length) {
    const [olderLow, olderHigh] = [lows.at(-1 - met) ?? low, highs.at(-1 - met) ?? high];
    if (olderLow > high || olderHigh < low) {
      break;
    }
    low = Math.max(low, olderLow);
    high = Math.min(high, olderHigh);
    met += 1;
  }
  const steady = met >= Math.min(STEADY_MEASURES, lows.length);
  return steady ? middleOf(low, high) : middleOf(newestLow, newestHigh);
}

function middleOf(low: number, high: number): GapEstimate {
  return { blocks: (low + high) / 2, uncertaintyBlocks: (high - low) / 2 };
}

/** The gap `against - target` at one instant, from heights read somewhere between request and reply. */
function gapInterval(
  target: Sample,
  against: Sample,
  pace: PaceRange,
): { readonly low: number; readonly high: number } {
  const difference = against.block - target.block;
  const earliestMs = against.sentAtMs - target.receivedAtMs;
  const latestMs = against.receivedAtMs - target.sentAtMs;
  const low = difference - furthest(latestMs, pace) - ROUNDING_BLOCKS;
  const high = difference + furthest(-earliestMs, pace) + ROUNDING_BLOCKS;
  return {
    low: Math.floor(low * PARTS_OF_BLOCK) / PARTS_OF_BLOCK,
    high: Math.ceil(high * PARTS_OF_BLOCK) / PARTS_OF_BLOCK,
  };
}

/** The most blocks that a chain of this pace makes in `ms`. For a negative time, the fewest blocks, as a negative number. */
function furthest(ms: number, pace: PaceRange): number {
  return Math.max(ms * pace.most, ms * pace.least);
}
