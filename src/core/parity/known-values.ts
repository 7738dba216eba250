import type { ParityValue } from "../model/parity.ts";
import { digestOf } from "./digest.ts";

/**
 * Heights at which a source is taken to have one value: it was read at `from` and at `to`, and no reading between them
 * said otherwise.
 */
export interface ValueRun extends ParityValue {
  readonly from: number;
  readonly to: number;
  /** How many readings it is made of. */
  readonly count: number;
}

/** What is known of one probe on one target: plain data of bounded size. */
export interface KnownValues {
  readonly probe: string;
  /** The target's key. */
  readonly target: string;
  /** The digest of what was asked. */
  readonly query: string;
  /** The deployment that answered, where it is known: another one may have other data. */
  readonly deployment: string | null;
  /** By height, the highest last. None overlap. */
  readonly runs: readonly ValueRun[];
  readonly readings: number;
  /** The number of the reading at which a value was last seen to return after a short while. */
  readonly returnedAt: number | null;
  /** The number of the reading that last gave another value for a height than the one before. */
  readonly contradictedAt: number | null;
  /** When the last value was read, unix milliseconds. */
  readonly lastMs: number | null;
  /** Why the last reading brought no value, or null. */
  readonly failure: string | null;
}

/** A value of one target, and the height of the same reply. */
export interface Reading {
  readonly block: number;
  readonly value: ParityValue;
  readonly atMs: number;
}

/** A changing value is remembered for this many readings, a constant one for as long as it stays. */
const KEPT_RUNS = 64;
/** A longer text is kept as its beginning and a digest. */
const KEPT_CHARS = 128;
/** A value that returns after fewer readings than this may also do so between two readings, unseen. */
const QUICK_RETURN_READINGS = 32;
/** After so many readings without a quick return, a source is steady again. */
const STEADY_READINGS = 64;
/** Below this number of readings it is unknown whether the values of a source return. */
const ENOUGH_READINGS = 20;
/** Two equal readings further apart than so many intervals prove nothing of the time between. */
const MAX_SILENT_INTERVALS = 3;

/** A source that was never read. */
export function newKnownValues(source: Pick<KnownValues, "probe" | "target" | "query">): KnownValues {
  const { probe, target, query } = source;
  return {
    probe,
    target,
    query,
    deployment: null,
    runs: [],
    readings: 0,
    returnedAt: null,
    contradictedAt: null,
    lastMs: null,
    failure: null,
  };
}

/**
 * Adds a reading. What was said of heights above it is forgotten, for a reorg may have changed it; where it contradicts
 * what was taken to hold at its height, everything is. `intervalMs` is the usual time between two readings.
 */
export function addReading(known: KnownValues, reading: Reading, intervalMs: number): KnownValues {
  const number = known.readings + 1;
  const value = bounded(reading.value);
  const upTo = runsUpTo(known.runs, reading.block);
  const last = upTo.at(-1);
  const isSameHeight = known.runs.at(-1)?.to === reading.block;
  const told = { ...known, readings: number, lastMs: reading.atMs, failure: null };
  if (last?.to === reading.block && last.text !== value.text) {
    return {
      ...told,
      runs: [newRun(reading.block, value)],
      contradictedAt: isSameHeight ? number : known.contradictedAt,
    };
  }
  const isConsecutive =
    known.lastMs !== null && reading.atMs - known.lastMs <= MAX_SILENT_INTERVALS * intervalMs;
  if (last !== undefined && last.text === value.text && (isConsecutive || last.to === reading.block)) {
    return { ...told, runs: upTo.with(-1, { ...last, to: reading.block, count: last.count + 1 }) };
  }
  return {
    ...told,
    runs: [...upTo, newRun(reading.block, value)].slice(-KEPT_RUNS),
    returnedAt: isQuickReturn(upTo, value) ? number : known.returnedAt,
  };
}

/** A reading that brought no value. What was known stays. */
export function addFailure(known: KnownValues, detail: string): KnownValues {
  return { ...known, failure: detail };
}

/** What is left once nothing that it said can be relied on: how steady its values are is still known. */
export function forgetValues(known: KnownValues): KnownValues {
  return { ...known, deployment: null, runs: [], lastMs: null };
}

/** Whether equal readings of this source hold for the heights between them. */
export function isSteady({ readings, returnedAt }: KnownValues): boolean {
  return returnedAt === null || readings - returnedAt >= STEADY_READINGS;
}

/** Whether it was read often enough to rule out a value that comes and goes unseen. */
export function isWellKnown({ readings }: KnownValues): boolean {
  return readings >= ENOUGH_READINGS;
}

/**
 * Whether it recently gave two values for one height: then its values may not belong to the heights of their
 * replies.
 */
export function isContradictory({ readings, contradictedAt }: KnownValues): boolean {
  return contradictedAt !== null && readings - contradictedAt < STEADY_READINGS;
}

function newRun(block: number, { text, isNumber }: ParityValue): ValueRun {
  return { from: block, to: block, text, isNumber, count: 1 };
}

/** The runs without the heights above `block`. */
function runsUpTo(runs: readonly ValueRun[], block: number): readonly ValueRun[] {
  const last = runs.at(-1);
  if (last === undefined || last.to <= block) {
    return runs;
  }
  return runs
    .filter(({ from }) => from <= block)
    .map((run) => (run.to > block ? { ...run, to: block } : run));
}

/** Whether the value was there before, and another one for a few readings only. */
function isQuickReturn(runs: readonly ValueRun[], { text }: ParityValue): boolean {
  const earlier = runs.findLastIndex((run) => run.text === text);
  const between = runs.slice(earlier + 1).reduce((readings, { count }) => readings + count, 0);
  return earlier >= 0 && between > 0 && between < QUICK_RETURN_READINGS;
}

function bounded({ text, isNumber }: ParityValue): ParityValue {
  return text.length <= KEPT_CHARS
    ? { text, isNumber }
    : { text: `${text.slice(0, KEPT_CHARS)}… (${digestOf(text)})`, isNumber: false };
}
