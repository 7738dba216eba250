import type { ParityReading, ParityValue } from "../model/parity.ts";

/**
 * A range of heights at which a target has one value, as far as is known: the value was read at `from` and at `to`, and no
 * reading between them differed.
 */
interface ValueRun extends ParityValue {
  readonly from: number;
  to: number;
  /** The number of readings in the range. */
  count: number;
}

/** What is known of one probe on one target: plain data of bounded size. */
export interface KnownValues {
  /** The deployment that replied, if it is known. Another deployment may have other data. */
  deployment: string | null;
  /** By height, the highest last. None overlap. */
  runs: ValueRun[];
  readings: number;
  /** The number of the last reading that brought back a former value after few other readings. */
  returnedAt: number | null;
  /** The number of the last reading that gave a new value for the height of the reading before. */
  contradictedAt: number | null;
  /** When the last value was read, by the clock of the chain. */
  lastMs: number | null;
  /** Why the last reading had no value that can be compared; null: it had one. */
  unreadable: string | null;
}

/** A block, and the values that two targets have there. */
export interface Comparison {
  readonly block: number;
  readonly own: ParityValue;
  readonly against: ParityValue;
}

/** The highest block at which the values of two targets are known. */
export interface SharedHeight extends Comparison {
  /** Whether one target was not read at this block, so that its value is inferred from equal readings below and above. */
  readonly isBetween: boolean;
  /** How many blocks this is below the highest block at which either target was read. */
  readonly belowHead: number;
}

/** A value that always changes is remembered for this number of readings, a constant value for as long as it stays. */
const KEPT_RUNS = 64;
/** If a value returns after fewer readings than this, it may also change and return unseen between two readings. */
const QUICK_RETURN_READINGS = 32;
/** How many readings without a quick return or a contradiction make a target reliable again. */
const STEADY_READINGS = 64;
/** Below this number of readings it is unknown whether the values of a target return. */
const ENOUGH_READINGS = 20;
/** Two equal readings that are further apart than this number of intervals prove nothing about the time between. */
const MAX_INTERVALS_APART = 3;

export function newKnownValues(): KnownValues {
  return {
    deployment: null,
    runs: [],
    readings: 0,
    returnedAt: null,
    contradictedAt: null,
    lastMs: null,
    unreadable: null,
  };
}

/**
 * Adds a reading. The values at heights above it are forgotten, because a reorg may have changed them. If the reading
 * contradicts the known value at its height, all other values are forgotten. `intervalMs`: from `readingIntervalMs`.
 */
export function addReading(
  known: KnownValues,
  reading: Pick<Extract<ParityReading, { kind: "value" }>, "block" | "value" | "receivedAtMs">,
  intervalMs: number,
): void {
  const { block, receivedAtMs } = reading;
  const { text, isNumber } = reading.value;
  const isSameHeight = known.runs.at(-1)?.to === block;
  const isConsecutive =
    known.lastMs !== null && receivedAtMs - known.lastMs <= MAX_INTERVALS_APART * intervalMs;
  known.readings += 1;
  known.lastMs = receivedAtMs;
  known.unreadable = null;
  const runs = known.runs.filter(({ from }) => from <= block);
  const last = runs.at(-1);
  if (last !== undefined && last.to > block) {
    last.to = block;
  }
  if (last?.text === text && (isConsecutive || last.to === block)) {
    known.runs = runs;
    last.to = block;
    last.count += 1;
    return;
  }
  const isContradicted = last?.to === block && last.text !== text;
  if (isContradicted && isSameHeight) {
    known.contradictedAt = known.readings;
  } else if (!isContradicted && isQuickReturn(runs, text)) {
    known.returnedAt = known.readings;
  }
  const run = { from: block, to: block, text, isNumber, count: 1 };
  known.runs = isContradicted ? [run] : [...runs, run].slice(-KEPT_RUNS);
}

/** Forgets all values, because they can no longer be relied on. Whether values come and go is still known. */
export function forgetValues(known: KnownValues): void {
  known.deployment = null;
  known.runs = [];
  known.lastMs = null;
}

/** Whether equal readings of this target hold for the heights between them. */
export function isSteady({ readings, returnedAt }: KnownValues): boolean {
  return returnedAt === null || readings - returnedAt >= STEADY_READINGS;
}

/** Whether the target was read often enough to rule out a value that comes and goes unseen. */
export function isWellKnown({ readings }: KnownValues): boolean {
  return readings >= ENOUGH_READINGS;
}

/**
 * Whether the target recently gave two values for one height. If so, its values may belong to other heights than its replies
 * say.
 */
export function isContradictory({ readings, contradictedAt }: KnownValues): boolean {
  return contradictedAt !== null && readings - contradictedAt < STEADY_READINGS;
}

export function highestShared(own: KnownValues, against: KnownValues): SharedHeight | null {
  const head = Math.max(own.runs.at(-1)?.to ?? 0, against.runs.at(-1)?.to ?? 0);
  for (const one of own.runs.toReversed()) {
    const other = against.runs.findLast(({ from, to }) => from <= one.to && to >= one.from);
    if (other !== undefined) {
      const block = Math.min(one.to, other.to);
      const isBetween = [one, other].some(({ from, to }) => block !== from && block !== to);
      return { block, own: valueIn(one), against: valueIn(other), isBetween, belowHead: head - block };
    }
  }
  return null;
}

function valueIn({ text, isNumber }: ParityValue): ParityValue {
  return { text, isNumber };
}

/** Whether the target had this value before, and another value since for a few readings only. */
function isQuickReturn(runs: readonly ValueRun[], text: string): boolean {
  const earlier = runs.findLastIndex((run) => run.text === text);
  const between = runs.slice(earlier + 1).reduce((readings, { count }) => readings + count, 0);
  return earlier >= 0 && between > 0 && between < QUICK_RETURN_READINGS;
}
