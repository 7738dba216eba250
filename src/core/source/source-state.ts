import { type GapMeasures, NO_MEASURES } from "../gap/gap.ts";
import type { Failure, PollTimes } from "../model/observation.ts";
import { readAtMs, type Sample, type Sighting } from "../model/sample.ts";
import type { Status } from "../model/statuses.ts";
import type { Queries } from "./queries.ts";

/** How the last poll ended. */
export type LastPoll = PollTimes &
  /**
   * `failure`: why the deployment failed, as the indexer reports it; `completed`: the indexer reports that it has completed.
   */
  (
    | { readonly kind: "head"; readonly failure?: string; readonly completed?: true }
    | { readonly kind: "not_started" | "missing" }
    | (Failure & { readonly kind: "failed"; readonly nextMs?: number })
  );

/** What the replies show about the replicas behind one URL, since the first reply that was far below the others. */
export interface Replicas {
  /** The latest replies, oldest first: `h` near the highest height that the source has shown, `l` far below. */
  readonly replies: string;
  /** The highest block of an `h` reply. */
  readonly highBlock: number;
  /** The latest heights of `l` replies, newest last. */
  readonly low: readonly Sample[];
  /** True once the height has fallen twice or returned in one step. A single fall may be a re-index. */
  readonly disagree: boolean;
  /** Whether users get low replies so often that the target is judged by the low heights. */
  readonly isStale: boolean;
}

/**
 * How far behind a target has been, at most one mark a minute. The time at which it reaches the head is estimated from this.
 */
export interface Approach {
  /** `behind`: the distance from the head in blocks. */
  readonly marks: readonly (Sighting & { readonly behind: number })[];
  /** Null while there are too few marks to tell. */
  readonly isClosing: boolean | null;
}

/** The lag of a target at the instant of its last reply. */
export interface Lag {
  /** Null without a reference. */
  readonly blocks: number | null;
  /** Null while the time of a block is unknown. */
  readonly ms: number | null;
  readonly isExtrapolated: boolean;
}

/** The settled status of a target, and what its latest polls indicate instead. */
export interface SettledStatus {
  readonly status: Status;
  /** The status that the last poll indicates, if it differs from the settled one. */
  readonly unconfirmed: Status | null;
  /** How much the latest polls contradict the settled status: at 1 it changes. */
  readonly dissent: number;
  readonly sinceMs: number;
}

/** The memory of one target or RPC node: plain data of bounded size, edited only through its `Chain`. */
export interface SourceState {
  /** The target's key, or the RPC endpoint's. */
  readonly key: string;
  kind: "indexer" | "rpc";
  /** Where its polls are sent, as in `WatchedSource`. */
  readonly sentTo: string;
  /** Time between two polls, as configured. */
  pollIntervalMs: number;
  last: LastPoll | null;
  /** The latest usable heights, newest last. */
  samples: readonly Sample[];
  /** Set while some of its latest replies are far below the others; else null. */
  replicas: Replicas | null;
  /** The highest block of its track, and when it was first seen; lower after a re-index or a rollback. */
  peak: Sighting | null;
  lastSuccessMs: number | null;
  lastAdvanceMs: number | null;
  /** Whether a poll since the last re-index has indicated `ok` with a known lag. */
  hasReachedTip: boolean;
  /** Whether a poll has ever indicated `ok` with a known lag, also before a re-index. */
  hasServed: boolean;
  /** Whether it made a large step back whose kind is not known yet. */
  hasSteppedBack: boolean;
  regressions: { readonly reorg: number; readonly reindex: number };
  /** Whether it once reported the same hash for a block as another source. */
  sharesHashes: boolean;
  indexingErrors: boolean | null;
  /** The latest results of probes' queries. */
  queries: Queries;
  deployment: string | null;
  deploymentChanges: number;
  /** As the last decision measured it: the status follows from it, and reports show it. Null while it is unknown. */
  lag: Lag | null;
  verdict: SettledStatus | null;
  statusChanges: number;
  /** From `followApproach`. */
  approach: Approach | null;
  /** The latest measures of the gap to the target that this one is compared with. */
  gap: GapMeasures;
}

export function newSource(
  key: string,
  { kind, pollIntervalMs, sentTo }: Pick<SourceState, "kind" | "pollIntervalMs" | "sentTo">,
): SourceState {
  return {
    key,
    kind,
    sentTo,
    pollIntervalMs,
    last: null,
    samples: [],
    replicas: null,
    peak: null,
    lastSuccessMs: null,
    lastAdvanceMs: null,
    hasReachedTip: false,
    hasServed: false,
    hasSteppedBack: false,
    regressions: { reorg: 0, reindex: 0 },
    sharesHashes: false,
    indexingErrors: null,
    queries: {},
    deployment: null,
    deploymentChanges: 0,
    lag: null,
    verdict: null,
    statusChanges: 0,
    approach: null,
    gap: NO_MEASURES,
  };
}

/**
 * A gateway races several indexers, so the highest of the last three replies is what the target has reached. A fall that lasts
 * for three replies is the target's own. A status that is based on at most three replies is provisional: the next poll alone
 * may change it.
 */
export const WOBBLE_SAMPLES = 3;

/** The highest of the last few heights: what the target has reached, whichever replica replies. */
export function highestSample({ samples }: SourceState): Sample | null {
  let best = samples.at(-1) ?? null;
  for (let index = 2; index <= WOBBLE_SAMPLES; index += 1) {
    const sample = samples.at(-index);
    best = sample !== undefined && sample.block > (best?.block ?? 0) ? sample : best;
  }
  return best;
}

/** The heights of a source, each raised to the highest of the few before it. So they do not wobble between replicas. */
export function steadySamples(samples: readonly Sample[]): readonly Sample[] {
  return samples.map((sample, index) => {
    let { block } = sample;
    for (let back = 1; back < WOBBLE_SAMPLES; back += 1) {
      block = Math.max(block, samples[index - back]?.block ?? 0);
    }
    return block === sample.block ? sample : { ...sample, block };
  });
}

/** The source as its users see it: with the heights of its low replicas, if these reply too often. */
export function servedOf(state: SourceState): SourceState {
  const newest = state.replicas?.low.at(-1);
  return state.replicas?.isStale === true && newest !== undefined
    ? { ...state, samples: state.replicas.low, peak: { block: newest.block, atMs: readAtMs(newest) } }
    : state;
}

/** The number of low replies in `Replicas.replies`. */
export function countLow(replies: string): number {
  return replies.split("l").length - 1;
}

/**
 * How many of the latest replies were low, and how far the newest low reply was below the highest; null if the replicas agree.
 */
export function disagreementOf(
  replicas: Replicas | null,
): { readonly low: number; readonly of: number; readonly blocks: number } | null {
  const newest = replicas?.low.at(-1);
  if (replicas?.disagree !== true || newest === undefined) {
    return null;
  }
  const { highBlock, replies } = replicas;
  return { low: countLow(replies), of: replies.length, blocks: highBlock - newest.block };
}

export function newestSample(state: SourceState): Sample | null {
  return state.samples.at(-1) ?? null;
}

/** How long its height had not grown at its last reply. */
export function idleMs(state: SourceState): number {
  const newest = newestSample(state);
  return newest === null || state.peak === null ? 0 : Math.max(0, readAtMs(newest) - state.peak.atMs);
}
