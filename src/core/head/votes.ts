import type { Thresholds } from "../model/fleet.ts";
import { readAtMs, type Sample } from "../model/sample.ts";
import { newestSample, reached, type SourceState } from "../source/source-state.ts";
import { FASTEST_INTERVAL_MS, type Pace } from "./pace.ts";
import type { Vote } from "./reference.ts";

/** Polls after which an observation is no longer evidence, if `stale` is shorter. */
const STALE_POLLS = 3;
/** A block this old when it was read is not the head, by its source's own word. */
const OLD_BLOCK_MS = 600_000;
/** A source that goes this much faster than its chain is back-filling ... */
const HASTE = 3;
/** ... but the replicas behind one URL may be so far apart. */
const HASTE_SLACK_BLOCKS = 300;
/** An RPC node's block may be this old, or ten blocks, and still be the head. */
const PROOF_MS = 60_000;
const PROOF_BLOCKS = 10;

/** How long an observation stays evidence. */
export function staleAfterMs(thresholds: Thresholds, pollIntervalMs: number): number {
  return Math.max(thresholds.staleMs, STALE_POLLS * pollIntervalMs);
}

/** What the sources say of the head, from those whose evidence is still fresh at `nowMs`. */
export function votesOf(
  sources: readonly SourceState[],
  context: { readonly nowMs: number; readonly thresholds: Thresholds; readonly pace: Pace },
): readonly Vote[] {
  const votes: Vote[] = [];
  for (const source of sources) {
    const vote = voteOf(source, context);
    if (vote !== null && vote.freshUntilMs >= context.nowMs) {
      votes.push(vote);
    }
  }
  return votes;
}

function voteOf(
  source: SourceState,
  context: { readonly thresholds: Thresholds; readonly pace: Pace },
): Vote | null {
  const sample = reached(source) ?? source.claim?.sample;
  const newest = source.claim?.sample ?? newestSample(source);
  if (sample === undefined || newest === null) {
    return null;
  }
  return {
    block: sample.block,
    atMs: readAtMs(sample),
    slackMs: (sample.receivedAtMs - sample.sentAtMs) / 2,
    timestampSec: sample.timestampSec,
    freshUntilMs: newest.receivedAtMs + staleAfterMs(context.thresholds, source.pollIntervalMs),
    pollIntervalMs: source.pollIntervalMs,
    weight: weightOf(source, sample, context),
    steady: source.samples.length > 1,
  };
}

function weightOf(
  source: SourceState,
  sample: Sample,
  { thresholds, pace }: { readonly thresholds: Thresholds; readonly pace: Pace },
): Vote["weight"] {
  if (source.doubt !== null || source.claim !== null) {
    return "suspect";
  }
  const ageMs = sample.timestampSec === null ? null : sample.receivedAtMs - sample.timestampSec * 1_000;
  if (
    source.kind === "rpc" &&
    ageMs !== null &&
    ageMs <= Math.max(PROOF_MS, PROOF_BLOCKS * (pace.intervalMs ?? 0))
  ) {
    return "proof";
  }
  const old = ageMs !== null && ageMs > Math.max(OLD_BLOCK_MS, thresholds.laggingMs);
  return old || isBackfilling(source, pace) ? "behind" : "normal";
}

/** Whether it goes so much faster than its chain, and still does, that it cannot be at the head. */
export function isBackfilling({ samples }: SourceState, pace: Pace): boolean {
  const [oldest, previous, newest] = [samples[0], samples.at(-2), samples.at(-1)];
  if (oldest === undefined || previous === undefined || newest === undefined) {
    return false;
  }
  return hurry(oldest, newest, pace) > HASTE_SLACK_BLOCKS && hurry(previous, newest, pace) > 0;
}

/** By how many blocks it went further than in a hurry. */
function hurry(from: Sample, to: Sample, pace: Pace): number {
  const usual = (readAtMs(to) - readAtMs(from)) / (pace.intervalMs ?? FASTEST_INTERVAL_MS);
  return to.block - from.block - HASTE * usual;
}
