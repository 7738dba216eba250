import type { Observation } from "../model/observation.ts";
import { readAtMs, type Sample, sampleOf } from "../model/sample.ts";
import { formatNumber } from "../model/text.ts";
import { foldProgress } from "./progress.ts";
import { changed, type FoldContext, newestSample, type SourceState } from "./source-state.ts";

/** Heights kept per target: enough to pair with a slower neighbour and to tell a catching-up from a standstill. */
const KEPT_SAMPLES = 8;
/** Folds one poll into what is known of its target. `aborted` polls say nothing and change nothing. */
export function foldPoll(state: SourceState, observation: Observation, context: FoldContext): SourceState {
  const { sentAtMs, receivedAtMs } = observation;
  switch (observation.kind) {
    case "head":
      return foldHead(state, observation, context);
    case "not_started":
    case "missing":
      return changed(state, { claim: null, last: { kind: observation.kind, sentAtMs, receivedAtMs } });
    case "failed": {
      const { kind, reason, detail } = observation;
      const last = { kind, reason, detail, sentAtMs, receivedAtMs };
      return reason === "aborted" ? state : changed(state, { last });
    }
  }
}

/** Takes a claim for a height after all: the source starts afresh from there, and so it is not hasty. */
export function acceptClaim(state: SourceState): SourceState {
  if (state.claim === null) {
    return state;
  }
  const { sample } = state.claim;
  const atMs = readAtMs(sample);
  return changed(state, {
    claim: null,
    samples: [sample],
    peak: { block: sample.block, atMs },
    lastSuccessMs: sample.receivedAtMs,
    lastAdvanceMs: state.peak === null ? state.lastAdvanceMs : atMs,
    last: { kind: "head", sentAtMs: sample.sentAtMs, receivedAtMs: sample.receivedAtMs },
  });
}

type HeadObservation = Extract<Observation, { kind: "head" }>;

function foldHead(state: SourceState, observation: HeadObservation, context: FoldContext): SourceState {
  const { head } = observation;
  const sample = sampleOf(head, observation);
  if (context.highestPossible !== null && head.block > context.highestPossible) {
    return foldClaim(state, sample, context.highestPossible);
  }
  const isRedeployed =
    head.deployment !== null && state.deployment !== null && head.deployment !== state.deployment;
  const folded = changed(state, {
    last: {
      kind: "head",
      sentAtMs: sample.sentAtMs,
      receivedAtMs: sample.receivedAtMs,
      ...(head.failure === undefined ? {} : { failure: head.failure }),
    },
    claim: null,
    lastSuccessMs: sample.receivedAtMs,
    // This takes just the room that is needed, where a list literal leaves some to grow.
    samples: state.samples.slice(1 - KEPT_SAMPLES).toSpliced(KEPT_SAMPLES, 0, sample),
    indexingErrors: head.indexingErrors,
    deployment: head.deployment ?? state.deployment,
    deploymentChanges: state.deploymentChanges + Number(isRedeployed),
  });
  return foldProgress(folded, newestSample(state), context);
}

function foldClaim(state: SourceState, sample: Sample, highestPossible: number): SourceState {
  return changed(state, {
    claim: { sample, polls: (state.claim?.polls ?? 0) + 1 },
    last: {
      kind: "failed",
      reason: "implausible",
      detail: `block ${formatNumber(sample.block)}, where the chain can have reached ${formatNumber(Math.floor(highestPossible))} at most`,
      sentAtMs: sample.sentAtMs,
      receivedAtMs: sample.receivedAtMs,
    },
  });
}
