import { readAtMs } from "../model/sample.ts";
import { providersOf } from "./choose-head.ts";
import type { Pace } from "./pace.ts";
import type { Voice } from "./voice.ts";

/*
 * The heights of another chain may pass those of this one. For some minutes they are near each other, and without
 * contradicting block times only the pace tells the two chains apart.
 */

/** Over less time, a pace is mostly latency; over more, it is not the one that is measured of the chain. */
const LEAST_MS = 45_000;
const MOST_MS = 600_000;
/** A source is off the pace if it is off by more than this share, and by more blocks than this. */
const TOLERATED_SHARE = 0.1;
const TOLERATED_BLOCKS = 2;
/** A step between two answers is known to within a block, and what the chain makes in the latency of both. */
const STEP_MS = 1_000;
/** One step that is a larger share of the whole drift is a jump. */
const LARGEST_STEP_SHARE = 0.5;

type Steadiness = "steady" | "unsteady" | "unknown";

const NOBODY: ReadonlySet<Voice> = new Set();

/**
 * The sources whose heights advance at another pace than the chain: they may be catching up, but that they stand near
 * the others proves nothing. Empty while the pace of the chain is not measured, and where not most providers
 * keep it, for then the chain itself may have changed its pace.
 */
export function unsteadyOf(voices: readonly Voice[], { intervalMs, measured }: Pace): ReadonlySet<Voice> {
  if (intervalMs === null || !measured) {
    return NOBODY;
  }
  const found = voices.map((voice) => steadinessOf(voice, intervalMs));
  if (!found.includes("unsteady")) {
    return NOBODY;
  }
  const steady = voices.filter((_, index) => found[index] === "steady");
  const others = voices.filter((_, index) => found[index] !== "steady");
  return providersOf(steady) > providersOf(others)
    ? new Set(voices.filter((_, index) => found[index] === "unsteady"))
    : NOBODY;
}

/**
 * Who drifts away from the pace step by step keeps another one; replicas that take turns go up and down instead, and who
 * has come from elsewhere did so in one step, and keeps the pace before it and after.
 */
function steadinessOf({ samples }: Voice, intervalMs: number): Steadiness {
  const newest = samples.at(-1);
  const sinceMs = (newest?.receivedAtMs ?? 0) - MOST_MS;
  const from = samples.findIndex(({ receivedAtMs }) => receivedAtMs >= sinceMs);
  const oldest = samples[from];
  if (oldest === undefined || newest === undefined || readAtMs(newest) - readAtMs(oldest) < LEAST_MS) {
    return "unknown";
  }
  const usual = (readAtMs(newest) - readAtMs(oldest)) / intervalMs;
  const drift = newest.block - oldest.block - usual;
  if (Math.abs(drift) <= Math.max(TOLERATED_BLOCKS, TOLERATED_SHARE * usual)) {
    return "steady";
  }
  const noise = 1 + STEP_MS / intervalMs;
  const most = Math.abs(drift) * LARGEST_STEP_SHARE;
  const drifts = samples.every((sample, index) => {
    const before = samples[index - 1] ?? sample;
    const off = sample.block - before.block - (readAtMs(sample) - readAtMs(before)) / intervalMs;
    const step = Math.sign(drift) * off;
    return index <= from || (step >= -noise && step <= most);
  });
  return drifts ? "unsteady" : "steady";
}
