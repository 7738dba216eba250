import type { Observation } from "../model/observation.ts";
import type { Status } from "../model/report.ts";
import { readAtMs, type Sample, sampleOf } from "../model/sample.ts";
import { foldProgress } from "./progress.ts";
import { type AnswersBefore, hasReturned, isFarBelow, noteAnswer } from "./replicas.ts";
import { changed, type FoldContext, newestSample, type SourceState } from "./source-state.ts";

/** Heights kept per target: enough to pair with a slower neighbour and to tell a catching-up from a standstill. */
const KEPT_SAMPLES = 8;
/** Statuses that a replica far behind the others gives a target. */
const BEHIND: ReadonlySet<Status> = new Set(["lagging", "stalled", "syncing"]);

/** Folds one poll into what is known of its target. `aborted` polls say nothing and change nothing. */
export function foldPoll(state: SourceState, observation: Observation, context: FoldContext): SourceState {
  const { sentAtMs, receivedAtMs } = observation;
  switch (observation.kind) {
    case "head":
      return foldHead(state, observation, context);
    case "not_started":
    case "missing":
      return changed(state, { last: { kind: observation.kind, sentAtMs, receivedAtMs } });
    case "failed": {
      const { kind, reason, detail } = observation;
      const last = { kind, reason, detail, sentAtMs, receivedAtMs };
      return reason === "aborted" ? state : changed(state, { last });
    }
  }
}

type HeadObservation = Extract<Observation, { kind: "head" }>;

function foldHead(state: SourceState, observation: HeadObservation, context: FoldContext): SourceState {
  const { head } = observation;
  const sample = sampleOf(head, observation);
  const isRedeployed =
    head.deployment !== null && state.deployment !== null && head.deployment !== state.deployment;
  const told = changed(state, {
    last: {
      kind: "head",
      sentAtMs: sample.sentAtMs,
      receivedAtMs: sample.receivedAtMs,
      ...(head.failure === undefined ? {} : { failure: head.failure }),
    },
    lastSuccessMs: sample.receivedAtMs,
    indexingErrors: head.indexingErrors,
    deployment: head.deployment ?? state.deployment,
    deploymentChanges: state.deploymentChanges + Number(isRedeployed),
  });
  const folded = withSample(told, sample, context);
  return newestSample(folded) === sample
    ? foldProgress(folded, folded.samples.at(-2) ?? null, context)
    : folded;
}

/**
 * Adds a height. One that the chain cannot have reached begins a track of its own, until the source returns from it.
 * What a source has said before it takes back a height that the others contradict is not held against it.
 */
function withSample(state: SourceState, sample: Sample, context: FoldContext): SourceState {
  const { highestPossible, largeStepBlocks } = context;
  if (highestPossible !== null && sample.block > highestPossible) {
    const beforeJump = state.beforeJump ?? { samples: state.samples, peak: state.peak };
    return changed(state, { beforeJump, samples: [sample], peak: null });
  }
  const { beforeJump } = state;
  if (beforeJump !== null && isBackFromJump(state, sample, largeStepBlocks)) {
    return changed(state, { ...beforeJump, beforeJump: null, samples: added(beforeJump.samples, sample) });
  }
  if (context.isOpposed && sample.block < (state.peak?.block ?? 0)) {
    return changed(state, { samples: [sample], peak: null, replicas: null });
  }
  return beforeJump === null
    ? withAnswer(state, sample, context)
    : changed(state, { samples: added(state.samples, sample) });
}

/** Adds a height to its track: while replicas disagree, those of the low ones stand beside the samples. */
function withAnswer(state: SourceState, sample: Sample, context: FoldContext): SourceState {
  const before = answersBefore(state);
  const replicas = noteAnswer(before, sample, context);
  const here = { block: sample.block, atMs: readAtMs(sample) };
  if (replicas?.disagree === true && replicas.low.at(-1) === sample) {
    const samples = state.samples.filter(({ block }) => !isFarBelow(block, replicas.highBlock, context));
    return changed(state, { replicas, samples, stepBackPending: false });
  }
  if (hasReturned(before, sample, context)) {
    return changed(state, { replicas, samples: [sample], peak: here, stepBackPending: false });
  }
  if (state.replicas?.disagree === true && isFarBelow(sample.block, state.replicas.highBlock, context)) {
    // Only the low ones are left.
    const regressions = { ...state.regressions, reindex: state.regressions.reindex + 1 };
    return changed(state, { replicas, samples: [sample], peak: here, reachedTip: false, regressions });
  }
  return changed(state, { replicas, samples: added(state.samples, sample) });
}

function answersBefore(state: SourceState): AnswersBefore {
  const { peak, replicas, verdict } = state;
  return {
    replicas,
    peakBlock: peak?.block ?? 0,
    newest: newestSample(state),
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
