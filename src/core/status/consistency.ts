import { type ChainClock, contradictionMs } from "../head/chain-clock.ts";
import type { Sample } from "../model/sample.ts";
import { formatDuration, formatNumber } from "../model/text.ts";
import { newestSample, type SourceState } from "../source/source-state.ts";

/** What came of holding one sample against the clock and the other sources. */
export interface ConsistencyCheck {
  /** A clause for people, or null where nothing speaks against it. */
  readonly doubt: string | null;
  readonly hashMismatches: number;
  /** It agrees with the others where the clock does not: the clock was set by a liar. */
  readonly clockIsWrong: boolean;
}

/** Two mismatches in a row: a single one is what a reorg at the tip looks like. */
const FORKED = 2;
/** Two indexers that differ cannot be told apart: it takes two against one, or an RPC node. */
const DECISIVE = 2;
const TOLERANCE_MS = 120_000;
/** Old blocks may have been made at another pace. */
const DISTANCE_SHARE = 0.6;

/** Whether a sample is of this chain and fork at all, by its timestamp and by its hash. Its own source is no witness. */
export function checkConsistency(
  sample: Sample,
  witnesses: readonly SourceState[],
  context: {
    readonly clock: ChainClock;
    readonly intervalMs: number | null;
    readonly hashMismatches: number;
  },
): ConsistencyCheck {
  const hashMismatches = countMismatches(sample, witnesses, context.hashMismatches);
  const time = examineTime(sample, witnesses, context);
  if (time.doubt === null && hashMismatches >= FORKED) {
    const doubt = `its hash of block ${formatNumber(sample.block)} is not that of the other sources`;
    return { doubt, hashMismatches, clockIsWrong: false };
  }
  return { ...time, hashMismatches };
}

function examineTime(
  sample: Sample,
  witnesses: readonly SourceState[],
  context: { readonly clock: ChainClock; readonly intervalMs: number | null },
): Omit<ConsistencyCheck, "hashMismatches"> {
  const { block, timestampSec } = sample;
  if (timestampSec === null) {
    return { doubt: null, clockIsWrong: false };
  }
  const offMs = contradictionMs(context.clock, { block, timestampSec }, context.intervalMs);
  let agreeing = 0;
  let opposing = 0;
  for (const witness of witnesses) {
    const newest = newestSample(witness);
    const answer = newest === sample ? "silent" : agreement(sample, newest, context.intervalMs);
    agreeing += Number(answer === "agrees");
    opposing += Number(answer === "opposes");
  }
  // Its own side counts it as well; between sides of equal size the clock decides.
  const outvoted = opposing > agreeing + 1;
  const upheld = agreeing > 0 && agreeing + 1 > opposing;
  if (outvoted || (offMs > 0 && !upheld)) {
    const off = offMs > 0 ? ` by ${formatDuration(offMs)}` : "";
    return {
      doubt: `its time of block ${formatNumber(block)} contradicts the other sources${off}`,
      clockIsWrong: false,
    };
  }
  return { doubt: null, clockIsWrong: offMs > 0 };
}

/** Whether two (block, time) pairs can lie on one chain. */
function agreement(a: Sample, b: Sample | null, intervalMs: number | null): "agrees" | "opposes" | "silent" {
  if (b === null || a.timestampSec === null || b.timestampSec === null) {
    return "silent";
  }
  const timeMs = (a.timestampSec - b.timestampSec) * 1_000;
  const blocks = a.block - b.block;
  if (intervalMs === null) {
    return timeMs * Math.sign(blocks) < -TOLERANCE_MS ? "opposes" : "silent";
  }
  const expectedMs = blocks * intervalMs;
  const tolerance = TOLERANCE_MS + Math.abs(expectedMs) * DISTANCE_SHARE;
  return Math.abs(timeMs - expectedMs) > tolerance ? "opposes" : "agrees";
}

/** Mismatches in a row, this sample included; a height at which the others do not decide changes nothing. */
function countMismatches(sample: Sample, witnesses: readonly SourceState[], before: number): number {
  if (sample.hash === null) {
    return before;
  }
  let balance = 0;
  for (const witness of witnesses) {
    balance += newestSample(witness) === sample ? 0 : hashVote(sample, witness);
  }
  if (balance <= -DECISIVE) {
    return before + 1;
  }
  return balance > 0 ? 0 : before;
}

/** Positive where a witness has the same hash at that height, negative where it has another, else 0. */
function hashVote(sample: Sample, { kind, samples }: SourceState): number {
  for (const { block, hash } of samples) {
    if (block === sample.block && hash !== null) {
      const weight = kind === "rpc" ? DECISIVE : 1;
      return hash === sample.hash ? weight : -weight;
    }
  }
  return 0;
}
