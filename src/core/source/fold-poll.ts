import { MINUTE_MS } from "../model/durations.ts";
import type { Observation } from "../model/observation.ts";
import { readAtMs, type Sample, sampleOf, type WallOffset } from "../model/sample.ts";
import { traitsOf } from "../model/statuses.ts";
import { foldQueries } from "./queries.ts";
import {
  countLow,
  highestSample,
  newestSample,
  type Replicas,
  type SourceState,
  WOBBLE_SAMPLES,
} from "./source-state.ts";

/*
 * A source's heights do not only grow. A track is a run of heights that can be compared with each other: its samples and its
 * peak.
 *
 * - A height that its chain cannot have reached starts a new track. If other sources contradict the source and its height then
 *   falls, another track starts.
 * - A small step back is a reorg, or a wobble between replicas.
 * - A large step back that lasts for three replies is a re-index.
 * - If the height falls a second time, or returns in one step, several replicas serve one URL, and some are far behind the
 *   others (`replicas`). The samples come from the high replicas, which show how far the chain is. Users reach all replicas, so
 *   the target is judged by its low heights once most replies of the last half hour were low. This ends after three polls and
 *   three minutes without a low reply.
 */

/** What has to be known of the chain when a source's poll is folded in. */
export interface FoldContext {
  /** The highest block that the source can have reached by now without a jump; null if nothing bounds it. */
  readonly highestPossible: number | null;
  /** Whether the other sources contradict its last height. */
  readonly isOpposed: boolean;
  /** A step back of more blocks than this is large. */
  readonly largeStepBlocks: number;
  /** How long an observation stays evidence. */
  readonly staleAfterMs: number;
  /** The clock of its chain. */
  readonly wall: WallOffset;
  /** As in `WatchedSource`. */
  readonly queries: ReadonlyMap<string, string>;
}

/**
 * Heights kept per source: enough to compare with a target that is polled less often, and to see whether a source is catching
 * up or has stopped.
 */
const KEPT_SAMPLES = 8;
/**
 * A source that indexes again climbs steadily. A step that is faster than its pace by this factor is the return of a high
 * replica. The worlds "one or two index again" fail if this is smaller.
 */
const FASTER = 2;
/** Replies are compared for this time. A target is judged by its low heights once most of these replies were low. */
const COMPARED_MS = 30 * MINUTE_MS;
/** At least this number of replies is compared. Fewer replies would too often be mostly low by chance. */
const LEAST_COMPARED = 20;

export function foldPoll(source: SourceState, observation: Observation, context: FoldContext): void {
  const { sentAtMs, receivedAtMs } = observation;
  if (receivedAtMs - (source.last?.receivedAtMs ?? receivedAtMs) > context.staleAfterMs) {
    // The results of queries are as stale as the heights.
    source.queries = {};
  }
  if (observation.kind === "head") {
    foldHead(source, observation, context);
  } else if (observation.kind === "failed") {
    const { kind, reason, detail, nextMs } = observation;
    const wait = nextMs === undefined ? {} : { nextMs };
    source.last = { kind, reason, detail, sentAtMs, receivedAtMs, ...wait };
  } else {
    source.last = { kind: observation.kind, sentAtMs, receivedAtMs };
  }
}

function foldHead(
  source: SourceState,
  observation: Extract<Observation, { kind: "head" }>,
  context: FoldContext,
): void {
  const { completed, deployment, failure, indexingErrors } = observation.head;
  const results = observation.queries?.filter(({ queryKey }) => context.queries.has(queryKey)) ?? [];
  const sample = sampleOf(observation.head, observation, context.wall);
  const { sentAtMs, receivedAtMs } = sample;
  const said = { ...(failure !== undefined && { failure }), ...(completed && { completed }) };
  source.last = { kind: "head", sentAtMs, receivedAtMs, ...said };
  source.lastSuccessMs = receivedAtMs;
  source.indexingErrors = indexingErrors;
  source.queries = results.length === 0 ? source.queries : foldQueries(source.queries, results, receivedAtMs);
  if (deployment !== null) {
    source.deploymentChanges += Number(source.deployment !== null && source.deployment !== deployment);
    source.deployment = deployment;
  }
  addSample(source, sample, context);
  if (newestSample(source) === sample) {
    foldProgress(source, sample, context);
  }
}

function addSample(source: SourceState, sample: Sample, context: FoldContext): void {
  const { highestPossible, isOpposed } = context;
  const isJump = highestPossible !== null && sample.block > highestPossible;
  if (isJump || (isOpposed && sample.block < (source.peak?.block ?? 0))) {
    source.replicas = null;
    startTrack(source, sample);
  } else {
    addToTrack(source, sample, context);
  }
}

function startTrack(source: SourceState, sample: Sample): void {
  source.samples = [sample];
  source.peak = null;
}

function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  return [...samples.slice(1 - KEPT_SAMPLES), sample];
}

/** Adds a height to its track: while replicas disagree, low heights are kept apart from the samples. */
function addToTrack(
  source: SourceState,
  sample: Sample,
  { largeStepBlocks, staleAfterMs }: FoldContext,
): void {
  const former = source.replicas;
  const peakBlock = source.peak?.block ?? 0;
  const highBlock = former?.highBlock ?? peakBlock;
  const floor = highBlock - largeStepBlocks;
  const isLow = sample.block < floor;
  // A height that returns in one step shows that the fall was not a re-index: a source that indexes again catches up slowly.
  const leastStep = Math.max((highBlock - peakBlock) / 2, FASTER * blocksClimbed(former?.low ?? [], sample));
  const hasReturned = peakBlock < floor && !isLow && sample.block - peakBlock > leastStep;
  if (former !== null) {
    source.replicas = replicasAfter(former, source, sample, { isLow, hasReturned, staleAfterMs });
  } else if (isLow) {
    source.replicas = { replies: "hl", highBlock, low: [sample], disagree: false, isStale: false };
  }
  if (isLow && source.replicas?.disagree === true) {
    source.samples = source.samples.filter(({ block }) => block >= floor);
    source.hasSteppedBack = false;
  } else if (hasReturned) {
    startTrack(source, sample);
    source.hasSteppedBack = false;
  } else if (isLow && former?.disagree === true) {
    // Only the low replicas are left.
    startTrack(source, sample);
    countReindex(source);
  } else {
    source.samples = withSample(source.samples, sample);
  }
}

/** How far the source advances until `to`, at the pace of its latest low heights. */
function blocksClimbed(low: readonly Sample[], to: Sample): number {
  const [first, last] = [low[0], low.at(-1)];
  if (first === undefined || last === undefined || first === last) {
    return 0;
  }
  const perMs = (last.block - first.block) / (readAtMs(last) - readAtMs(first));
  return perMs * (readAtMs(to) - readAtMs(last));
}

/** What is known of the replicas after one more reply; null if they agree, or if the source itself fell back. */
function replicasAfter(
  replicas: Replicas,
  { pollIntervalMs, samples, verdict }: SourceState,
  sample: Sample,
  is: { readonly isLow: boolean; readonly hasReturned: boolean; readonly staleAfterMs: number },
): Replicas | null {
  const { hasReturned, isLow, staleAfterMs } = is;
  const { highBlock, low } = replicas;
  const compared = Math.max(LEAST_COMPARED, Math.round(COMPARED_MS / pollIntervalMs));
  const replies = `${replicas.replies}${isLow ? "l" : "h"}`.slice(-compared);
  const fallenMs = (replies.length - 1 - replies.lastIndexOf("h")) * pollIntervalMs;
  // A fall that lasts is not due to a lagging replica.
  const isOwnFall = !replicas.disagree && fallenMs >= staleAfterMs;
  const areAlike = new Set(replies).size < 2 || (replicas.isStale && hasRecovered(replies, low, sample));
  if (isOwnFall || areAlike) {
    return null;
  }
  const disagree = replicas.disagree || hasReturned || replies.indexOf("hl") !== replies.lastIndexOf("hl");
  const highMs = samples.at(-1)?.receivedAtMs ?? Number.POSITIVE_INFINITY;
  const isHighOld = replicas.disagree && isLow && sample.receivedAtMs - highMs >= staleAfterMs;
  // When the replicas are first known to disagree, the target keeps its status.
  const wasStale = replicas.disagree
    ? replicas.isStale
    : verdict !== null && traitsOf(verdict.status).isBehind;
  return {
    replies,
    highBlock: isLow ? highBlock : Math.max(highBlock, sample.block),
    low: isLow ? [...low.slice(1 - WOBBLE_SAMPLES), sample] : low,
    disagree,
    isStale: disagree && (isHighOld || wasStale || isMostlyLow(replies)),
  };
}

/** Whether the last three replies were high, and the last low reply is at least three minutes old. */
function hasRecovered(replies: string, low: readonly Sample[], { receivedAtMs }: Sample): boolean {
  const isHigh = !replies.slice(-WOBBLE_SAMPLES).includes("l");
  return isHigh && receivedAtMs - (low.at(-1)?.receivedAtMs ?? 0) >= WOBBLE_SAMPLES * MINUTE_MS;
}

function isMostlyLow(replies: string): boolean {
  return replies.length >= LEAST_COMPARED && countLow(replies) > replies.length / 2;
}

/** Counts steps forward and back, after the sample was added. */
function foldProgress(source: SourceState, sample: Sample, { largeStepBlocks }: FoldContext): void {
  const { peak, samples } = source;
  const here = { block: sample.block, atMs: readAtMs(sample) };
  const floor = (peak?.block ?? 0) - largeStepBlocks;
  if (peak === null) {
    source.peak = here;
  } else if (samples.length >= WOBBLE_SAMPLES && (highestSample(source)?.block ?? 0) < floor) {
    // None of the last few replies is near the old height.
    source.samples = samples.slice(-WOBBLE_SAMPLES);
    source.peak = here;
    source.hasSteppedBack = false;
    countReindex(source);
  } else if (advancesBelow(peak.block, samples)) {
    source.peak = here;
    source.lastAdvanceMs = here.atMs;
  } else if (sample.block < floor) {
    // This may be a re-index, unless the height comes back.
    source.hasSteppedBack = true;
  } else {
    const fell = sample.block < (samples.at(-2)?.block ?? 0);
    const reorg = source.regressions.reorg + Number(source.hasSteppedBack) + Number(fell);
    source.regressions = { ...source.regressions, reorg };
    source.hasSteppedBack = false;
    if (sample.block > peak.block) {
      source.peak = here;
      source.lastAdvanceMs = here.atMs;
    }
  }
}

/**
 * Whether the source has advanced for long below its highest block, as after a rollback. If replicas took turns, its height
 * would have fallen again.
 */
function advancesBelow(peakBlock: number, samples: readonly Sample[]): boolean {
  const lowest = samples[0]?.block ?? 0;
  const neverFell = samples.every(({ block }, index) => block >= (samples[index - 1]?.block ?? lowest));
  const highest = samples.at(-1)?.block ?? 0;
  return samples.length === KEPT_SAMPLES && neverFell && highest > lowest && highest < peakBlock;
}

function countReindex(source: SourceState): void {
  source.hasReachedTip = false;
  source.regressions = { ...source.regressions, reindex: source.regressions.reindex + 1 };
}
