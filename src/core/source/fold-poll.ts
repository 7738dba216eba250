import type { Observation } from "../model/observation.ts";
import type { Status } from "../model/report.ts";
import { readAtMs, type Sample, sampleOf } from "../model/sample.ts";
import { type AnswersBefore, hasReturned, isFarBelow, noteAnswer } from "./replicas.ts";
import { newestSample, reached, type SourceState, WOBBLE_SAMPLES } from "./source-state.ts";

/** What has to be known of the chain when a source's poll is folded in. */
export interface FoldContext {
  /** The highest block that the source can have reached by now without a jump, or null where nothing bounds it. */
  readonly highestPossible: number | null;
  /** Whether the other sources contradict its last height. */
  readonly isOpposed: boolean;
  /** A step back of more blocks than this, if it persists, is a re-index. */
  readonly largeStepBlocks: number;
  /** How long an observation stays evidence. */
  readonly staleAfterMs: number;
}

/** Heights kept per target: enough to pair with a slower neighbour and to tell a catching-up from a standstill. */
const KEPT_SAMPLES = 8;
/** Of the heights that showed a re-index: what was before, of another track, goes. */
const KEPT_AFTER_REINDEX = 2;
/** Statuses that a replica far behind the others gives a target. */
const BEHIND: ReadonlySet<Status> = new Set(["lagging", "stalled", "syncing"]);

/** Folds one poll into the state of its source. */
export function foldPoll(source: SourceState, observation: Observation, context: FoldContext): void {
  const { sentAtMs, receivedAtMs } = observation;
  switch (observation.kind) {
    case "head":
      foldHead(source, observation, context);
      break;
    case "not_started":
    case "missing":
      source.last = { kind: observation.kind, sentAtMs, receivedAtMs };
      break;
    case "failed": {
      const { kind, reason, detail } = observation;
      source.last = { kind, reason, detail, sentAtMs, receivedAtMs };
    }
  }
}

type HeadObservation = Extract<Observation, { kind: "head" }>;

function foldHead(source: SourceState, observation: HeadObservation, context: FoldContext): void {
  const { deployment, failure, indexingErrors } = observation.head;
  const sample = sampleOf(observation.head, observation);
  const { sentAtMs, receivedAtMs } = sample;
  source.last = { kind: "head", sentAtMs, receivedAtMs, ...(failure === undefined ? {} : { failure }) };
  source.lastSuccessMs = receivedAtMs;
  source.indexingErrors = indexingErrors;
  if (deployment !== null) {
    source.deploymentChanges += Number(source.deployment !== null && source.deployment !== deployment);
    source.deployment = deployment;
  }
  addSample(source, sample, context);
  if (newestSample(source) === sample) {
    foldProgress(source, sample, context);
  }
}

/**
 * Adds a height. One that the chain cannot have reached begins a track of its own, until the source returns from it.
 * What a source has said before it takes back a height that the others contradict is not held against it.
 */
function addSample(source: SourceState, sample: Sample, context: FoldContext): void {
  const { highestPossible, isOpposed, largeStepBlocks } = context;
  const { beforeJump, peak, samples } = source;
  if (highestPossible !== null && sample.block > highestPossible) {
    source.beforeJump ??= { samples, peak };
    startTrack(source, sample, null);
  } else if (beforeJump !== null && isBackFromJump(source, sample, largeStepBlocks)) {
    source.beforeJump = null;
    source.peak = beforeJump.peak;
    source.samples = added(beforeJump.samples, sample);
  } else if (isOpposed && sample.block < (peak?.block ?? 0)) {
    source.replicas = null;
    startTrack(source, sample, null);
  } else if (beforeJump === null) {
    addAnswer(source, sample, context);
  } else {
    source.samples = added(samples, sample);
  }
}

function startTrack(source: SourceState, sample: Sample, peak: SourceState["peak"]): void {
  source.samples = [sample];
  source.peak = peak;
}

/** Adds a height to its track: while replicas disagree, low heights are kept apart from the samples. */
function addAnswer(source: SourceState, sample: Sample, context: FoldContext): void {
  const before = answersBefore(source);
  const former = source.replicas;
  const replicas = noteAnswer(before, sample, context);
  const here = { block: sample.block, atMs: readAtMs(sample) };
  source.replicas = replicas;
  if (replicas?.disagree === true && replicas.low.at(-1) === sample) {
    source.samples = source.samples.filter(({ block }) => !isFarBelow(block, replicas.highBlock, context));
    source.stepBackPending = false;
  } else if (hasReturned(before, sample, context)) {
    startTrack(source, sample, here);
    source.stepBackPending = false;
  } else if (former?.disagree === true && isFarBelow(sample.block, former.highBlock, context)) {
    // Only the low ones are left.
    startTrack(source, sample, here);
    countReindex(source);
  } else {
    source.samples = added(source.samples, sample);
  }
}

function answersBefore(source: SourceState): AnswersBefore {
  const { peak, replicas, verdict } = source;
  return {
    replicas,
    peakBlock: peak?.block ?? 0,
    newest: newestSample(source),
    isBehind: verdict !== null && BEHIND.has(verdict.status),
  };
}

function isBackFromJump(
  { beforeJump, peak }: SourceState,
  { block }: Sample,
  largeStepBlocks: number,
): boolean {
  const floor = (beforeJump?.peak?.block ?? 0) - largeStepBlocks;
  return block >= floor && block < (peak?.block ?? 0) - largeStepBlocks;
}

function added(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  return [...samples.slice(1 - KEPT_SAMPLES), sample];
}

/** Counts steps forward and back, after the sample was added. */
function foldProgress(source: SourceState, sample: Sample, { largeStepBlocks }: FoldContext): void {
  const { peak, samples } = source;
  const here = { block: sample.block, atMs: readAtMs(sample) };
  if (peak === null) {
    source.peak = here;
    return;
  }
  const floor = peak.block - largeStepBlocks;
  if (hasReindexed(source, floor)) {
    source.samples = samples.slice(-KEPT_AFTER_REINDEX);
    source.peak = here;
    source.stepBackPending = false;
    countReindex(source);
  } else if (sample.block < floor) {
    source.stepBackPending = true;
  } else {
    countStepsBack(source, sample);
    if (sample.block > peak.block) {
      source.peak = here;
      source.lastAdvanceMs = here.atMs;
    }
  }
}

/** A large step back lasts if none of the last few replies is near the old height. */
function hasReindexed(source: SourceState, floor: number): boolean {
  const highest = reached(source);
  return source.samples.length >= WOBBLE_SAMPLES && highest !== null && highest.block < floor;
}

function countReindex(source: SourceState): void {
  source.reachedTip = false;
  source.regressions = { ...source.regressions, reindex: source.regressions.reindex + 1 };
}

/** A small step back counts at once; a large one when the target returns, because until then it may be a re-index. */
function countStepsBack(source: SourceState, { block }: Sample): void {
  const fell = block < (source.samples.at(-2)?.block ?? block);
  const steps = Number(source.stepBackPending) + Number(fell);
  source.stepBackPending = false;
  if (steps > 0) {
    source.regressions = { ...source.regressions, reorg: source.regressions.reorg + steps };
  }
}
