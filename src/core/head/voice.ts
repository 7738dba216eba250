import type { Thresholds } from "../model/fleet.ts";
import { readAtMs, type Sample } from "../model/sample.ts";
import { reached, type SourceState } from "../source/source-state.ts";
import { FASTEST_INTERVAL_MS, type Pace } from "./pace.ts";

/** What one source says of its chain's head: made from its own last answers alone. */
export interface Voice {
  readonly key: string;
  /** The host that answers: sources behind one host have their faults in common. */
  readonly provider: string;
  readonly kind: SourceState["kind"];
  /** The highest of its last few heights, and when that was read, to within `slackMs`. */
  readonly block: number;
  readonly atMs: number;
  readonly slackMs: number;
  /** The block's own time. */
  readonly timestampMs: number | null;
  /** The last block that it gave a time for, with that time. */
  readonly dated: { readonly block: number; readonly timeMs: number } | null;
  /** What that time says: `fresh`, the block was new when it was read; `old`, the source is behind by its own word. */
  readonly age: "fresh" | "old" | "unknown";
  /** When its height was last seen to grow; null where it never was, on its present track. */
  readonly advancedMs: number | null;
  /** How long its height had not grown when it last answered. */
  readonly idleMs: number;
  /** It goes so much faster than its chain that it cannot be at the head. */
  readonly isBackfilling: boolean;
  readonly samples: readonly Sample[];
  readonly pollIntervalMs: number;
  readonly freshUntilMs: number;
}

export interface VoiceContext {
  readonly nowMs: number;
  readonly pace: Pace;
  readonly thresholds: Thresholds;
  /** By the source's key; one without a provider stands for itself. */
  readonly providers: Readonly<Record<string, string>>;
}

/** Polls after which an observation is no longer evidence, if `stale` is shorter. */
const STALE_POLLS = 3;
/** A block that was so old when it was read, or ten blocks, may still have been the head. */
const FRESH_MS = 60_000;
const FRESH_BLOCKS = 10;
/** A block this old was not, by its source's own word. */
const OLD_MS = 600_000;
/** A source that goes this much faster than its chain is back-filling ... */
const BACKFILL_FACTOR = 3;
/** ... but the replicas behind one URL may be so far apart. */
const BACKFILL_SLACK_BLOCKS = 300;

/** How long an observation stays evidence. */
export function staleAfterMs(thresholds: Thresholds, pollIntervalMs: number): number {
  return Math.max(thresholds.staleMs, STALE_POLLS * pollIntervalMs);
}

/** The voices of all sources whose evidence is still fresh, by key: the order in which they came plays no part. */
export function voicesOf(sources: readonly SourceState[], context: VoiceContext): readonly Voice[] {
  const voices: Voice[] = [];
  for (const source of sources) {
    const voice = voiceOf(source, context);
    if (voice !== null) {
      voices.push(voice);
    }
  }
  return voices.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Until a source is heard again, its voice seldom changes: only with the pace. */
const lastVoices = new WeakMap<SourceState, Voice>();

function voiceOf(source: SourceState, context: VoiceContext): Voice | null {
  const highest = reached(source);
  const newest = source.samples.at(-1);
  if (highest === null || newest === undefined) {
    return null;
  }
  const freshUntilMs = newest.receivedAtMs + staleAfterMs(context.thresholds, source.pollIntervalMs);
  if (freshUntilMs < context.nowMs) {
    return null;
  }
  const provider = context.providers[source.key] ?? source.key;
  const age = ageOf(highest, context);
  const backfills = isBackfilling(source, context.pace);
  const last = lastVoices.get(source);
  const isSame =
    last?.provider === provider &&
    last.age === age &&
    last.isBackfilling === backfills &&
    last.freshUntilMs === freshUntilMs;
  if (isSame) {
    return last;
  }
  const { peak } = source;
  const voice: Voice = {
    key: source.key,
    provider,
    kind: source.kind,
    block: highest.block,
    atMs: readAtMs(highest),
    slackMs: (highest.receivedAtMs - highest.sentAtMs) / 2,
    timestampMs: highest.timestampSec === null ? null : highest.timestampSec * 1_000,
    dated: datedOf(source),
    age,
    advancedMs: peak !== null && peak.atMs === source.lastAdvanceMs ? peak.atMs : null,
    idleMs: peak === null ? 0 : Math.max(0, readAtMs(newest) - peak.atMs),
    isBackfilling: backfills,
    samples: source.samples,
    pollIntervalMs: source.pollIntervalMs,
    freshUntilMs,
  };
  lastVoices.set(source, voice);
  return voice;
}

function datedOf({ samples }: SourceState): Voice["dated"] {
  for (let index = samples.length - 1; index >= 0; index -= 1) {
    const sample = samples[index];
    if (sample !== undefined && sample.timestampSec !== null) {
      return { block: sample.block, timeMs: sample.timestampSec * 1_000 };
    }
  }
  return null;
}

function ageOf(sample: Sample, { pace, thresholds }: VoiceContext): Voice["age"] {
  if (sample.timestampSec === null) {
    return "unknown";
  }
  const ageMs = sample.receivedAtMs - sample.timestampSec * 1_000;
  if (ageMs <= Math.max(FRESH_MS, FRESH_BLOCKS * (pace.intervalMs ?? 0))) {
    return "fresh";
  }
  return ageMs > Math.max(OLD_MS, thresholds.laggingMs) ? "old" : "unknown";
}

/** Whether it goes so much faster than its chain, and still does, that it cannot be at the head. */
export function isBackfilling({ samples }: Pick<SourceState, "samples">, pace: Pace): boolean {
  const [oldest, previous, newest] = [samples[0], samples.at(-2), samples.at(-1)];
  if (oldest === undefined || previous === undefined || newest === undefined) {
    return false;
  }
  return (
    excessBlocks(oldest, newest, pace) > BACKFILL_SLACK_BLOCKS && excessBlocks(previous, newest, pace) > 0
  );
}

/** By how many blocks it went further than the chain can be believed to. */
function excessBlocks(from: Sample, to: Sample, pace: Pace): number {
  const usual = (readAtMs(to) - readAtMs(from)) / (pace.intervalMs ?? FASTEST_INTERVAL_MS);
  return to.block - from.block - BACKFILL_FACTOR * usual;
}
