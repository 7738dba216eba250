import { contradictionOf } from "../head/consensus.ts";
import { isWithinMinute } from "../head/reach.ts";
import { endedText } from "../model/end.ts";
import { failureWords } from "../model/failure-words.ts";
import { targetName } from "../model/fleet.ts";
import type { TargetReport } from "../model/report.ts";
import { type Status, statusOfFailure, traitsOf } from "../model/statuses.ts";
import { formatCount, formatDuration, formatList, formatNumber } from "../model/text.ts";
import { staleAfterMs } from "../model/thresholds.ts";
import { failedQueries, type QueryState } from "../source/queries.ts";
import {
  disagreementOf,
  highestSample,
  idleMs,
  type Lag,
  type LastPoll,
  newestSample,
  type SourceState,
} from "../source/source-state.ts";
import { divergedText } from "../status/exclusion-text.ts";
import type { ChainView, Dispute, Ended } from "../status/view.ts";

export interface Facts {
  readonly status: Status;
  /** The status that the last poll indicates, if another poll has to confirm it; else null. */
  readonly unconfirmed: Status | null;
  /** Null: it has not ended. */
  readonly ended: Ended | null;
  readonly state: SourceState;
  readonly view: ChainView;
  readonly lag: Lag | null;
  readonly catchUp: TargetReport["catch_up"];
}

/** Why a target has its status, as a clause. */
const CLAUSES: Readonly<Record<Status, (facts: Facts) => string>> = {
  unknown: unknownText,
  rejected: (facts) => {
    const { last } = facts.state;
    const isUnpaid = last?.kind === "failed" && last.reason === "payment_required";
    return `${isUnpaid ? "the plan is unpaid or used up" : "rejects our requests"}${causeText(facts)}${lastSeenText(facts)}`;
  },
  throttled: (facts) => {
    const { last } = facts.state;
    const isOurs = last?.kind === "failed" && last.reason === "budget";
    const why = isOurs ? failureText(last, facts.view) : `rate-limited by the provider${causeText(facts)}`;
    return `${why}${lastSeenText(facts)}`;
  },
  not_found: (facts) => {
    const { last } = facts.state;
    const isElsewhere = last?.kind === "failed" && last.reason === "schema";
    const why = isElsewhere
      ? failureText(last, facts.view)
      : `no such subgraph or deployment${causeText(facts)}`;
    return `${why}${lastSeenText(facts)}`;
  },
  unreachable: (facts) => `${causeText(facts).slice(": ".length) || "no usable reply"}${lastSeenText(facts)}`,
  missing: (facts) => `the reply lacks this chain, though it is expected there${lastSeenText(facts)}`,
  failed: (facts) => {
    const { indexingErrors, last, queries } = facts.state;
    const failing = failedQueries(queries);
    if (last?.kind === "head" && indexingErrors !== true && failing.length > 0) {
      return `${failingProbesText(failing)}; it is ${behindText(facts)}`;
    }
    if (last?.kind === "head" && last.failure !== undefined) {
      return `the indexer reports a failed deployment: ${last.failure}; it is ${behindText(facts)}`;
    }
    return indexingErrors === true
      ? `the indexer reports indexing errors, and is ${behindText(facts)}`
      : `the indexer reports a failed deployment${causeText(facts)}`;
  },
  diverged: (facts) => {
    const contradiction = contradictionOf(facts.state, facts.view);
    return contradiction === null
      ? causeText(facts).slice(2) ||
          "its last heights contradict the other sources; waiting for one more poll"
      : divergedText(contradiction);
  },
  chain_halted: (facts) =>
    `the chain itself has halted, as an independent RPC node shows; this target is ${behindText(facts)}`,
  stalled: stalledText,
  syncing: (facts) =>
    facts.state.last?.kind === "not_started"
      ? "has not started indexing yet"
      : `${facts.catchUp === null ? "catching up, " : ""}${behindText(facts)}${catchUpText(facts)}`,
  lagging: (facts) => `${positionText(facts)}${catchUpText(facts)}`,
  ok: positionText,
};

function failingProbesText(queries: readonly QueryState[]): string {
  const each = queries.map(({ failure, probe, hasSucceeded }) => {
    const fails = hasSucceeded ? "fails" : "has never succeeded (check its query)";
    return `probe "${probe}" ${fails}: ${failure}`;
  });
  return `reports its height, but ${each.join(", and ")}`;
}

/** An advance is recent for this number of polls, or of block times if these are longer. */
const RECENT = 2;

/** Why a target has its status, or what the last poll indicates instead, in one sentence. */
export function detailOf(facts: Facts): string {
  const { unconfirmed } = facts;
  if (unconfirmed === null) {
    return `${clauseOf(facts)}${repliesText(facts)}`;
  }
  const now = { ...facts, status: unconfirmed, catchUp: null };
  const what = unconfirmed === "ok" ? "recovering: " : `not confirmed yet: ${unconfirmed}, `;
  return `${what}${clauseOf(now)}${repliesText(now)}`;
}

/** The clause of a target. Its end comes first, because it explains why the target has stopped or is gone. */
function clauseOf(facts: Facts): string {
  const { ended, state, status, view } = facts;
  if (ended === null) {
    return `${CLAUSES[status](facts)}${completedText(facts)}`;
  }
  const what = `${ended.isOwn ? "" : "its chain "}${endedText(String(ended.end))}`;
  if (status !== "ok") {
    return `${what}; ${CLAUSES[status](facts)}`;
  }
  const block = highestSample(state)?.block;
  const at = block === undefined || typeof ended.end === "number" ? "" : `, at block ${formatNumber(block)}`;
  return ended.isOwn || view.reference === null ? `${what}${at}` : `${what}, ${behindText(facts)}`;
}

/** Says that the indexer reports its completion. Only `until` in chains.yaml makes it an end. */
function completedText({ state: { last }, status }: Facts): string {
  return last?.kind === "head" && last.completed === true && status !== "ok"
    ? "; the indexer reports that it has completed: if this is its end, set until in chains.yaml"
    : "";
}

/** Which sources contradict each other, how far they are apart, and what would decide between them. */
export function disputeText({ hasRpc, sides }: Dispute): string {
  const blocks = sides.map((side) => Math.max(...side.map((source) => newestSample(source)?.block ?? 0)));
  const all = sides.map((side, index) => {
    const names = side.map(({ key, kind }) => (kind === "rpc" ? "an RPC node" : targetName({ key })));
    return `${formatList(names)} (block ${formatNumber(blocks[index] ?? 0)})`;
  });
  const distance = Math.max(...blocks) - Math.min(...blocks);
  const apart = distance === 0 ? "at the same height" : `${formatCount(distance, "block")} apart`;
  const decider = hasRpc ? "one more variant" : "an RPC node (rpc) or one more variant";
  return `${all.join(" against ")}, ${apart}, with equal weight on each side; ${decider} would decide it`;
}

/** How far the replicas of a URL are apart and how often the low ones replied, or how far the last reply fell. */
function repliesText({ state, status }: Facts): string {
  const between = disagreementOf(state.replicas);
  const fallen = (highestSample(state)?.block ?? 0) - (newestSample(state)?.block ?? 0);
  if (!traitsOf(status).hasHeight || (between === null && (fallen === 0 || !state.hasSteppedBack))) {
    return "";
  }
  return between === null
    ? `; its last reply was ${formatCount(fallen, "block")} lower (not confirmed yet)`
    : `; its replicas disagree by ${formatCount(between.blocks, "block")}: ${formatNumber(between.low)} of its last ${formatNumber(between.of)} replies were that far behind the others`;
}

/** The failure of the last poll, if it is the reason of the status. */
function causeText({ state: { last }, status, view }: Facts): string {
  return last?.kind === "failed" && statusOfFailure(last.reason) === status
    ? `: ${failureText(last, view)}`
    : "";
}

function unknownText({ state: { last, pollIntervalMs }, view }: Facts): string {
  if (last === null) {
    return "not polled yet";
  }
  const agoMs = view.nowMs - last.receivedAtMs;
  if (agoMs > staleAfterMs(view.thresholds, pollIntervalMs)) {
    return `the last reply is ${formatDuration(agoMs)} old, too old to be evidence`;
  }
  return last.kind === "failed"
    ? `the last poll failed: ${failureText(last, view)}`
    : `first round: waiting for the first poll of ${formatCount(view.unpolled, "source")} of its chain`;
}

function stalledText(facts: Facts): string {
  const { lag, state, view } = facts;
  const { consensus, reference } = view;
  const idleForMs = idleMs(state);
  const stoppedMs = state.peak?.atMs ?? 0;
  const motion = `has not advanced for ${formatDuration(idleForMs)}`;
  // A reference far above the target has advanced, even if the chain has halted since.
  const isFarBelow = lag?.blocks != null && !isWithinMinute(lag.blocks, view.pace);
  if (reference !== null && (isFarBelow || reference.reachedMs > stoppedMs + idleForMs / 2)) {
    return `${motion} although its chain has, ${behindText(facts, idleForMs)}`;
  }
  // Until its sources fell silent, the last reference may have shown that the chain advances.
  const last = reference === null ? consensus.head : null;
  const ahead = (last?.block ?? 0) - (state.peak?.block ?? 0);
  return last !== null && ahead > 0 && last.reachedMs > (stoppedMs + last.atMs) / 2
    ? `${motion} although its chain has, ${formatCount(ahead, "block")} behind a source that no longer replies`
    : `${motion}, ${othersText(view)}`;
}

function othersText({ hasIndependentHead, hasSingleSource, replying }: ChainView): string {
  const silent = hasSingleSource ? "and its chain has no other source" : "and no other source replies";
  const others = replying > 1 ? "nor has any other source" : silent;
  return hasIndependentHead ? others : `${others}: no RPC node shows whether the chain itself has halted`;
}

/** Whether the target advances, if that is known, and how far it is behind. */
function positionText(facts: Facts): string {
  const { lastAdvanceMs, peak, replicas } = facts.state;
  const idleForMs = facts.view.nowMs - (peak?.atMs ?? facts.view.nowMs);
  const wasSeen = peak?.atMs === lastAdvanceMs;
  if (replicas?.isStale === true) {
    return `users reach late replicas, ${behindText(facts)}`;
  }
  if (isRecent(idleForMs, facts)) {
    return `${wasSeen ? "advances, " : ""}${behindText(facts)}`;
  }
  const idleFor = formatDuration(idleForMs);
  const motion = wasSeen ? `last advanced ${idleFor} ago` : `has not advanced for ${idleFor}`;
  return `${motion}, ${behindText(facts, idleForMs)}`;
}

function isRecent(agoMs: number, { state, view }: Facts): boolean {
  return agoMs <= RECENT * Math.max(view.intervalMs ?? 0, state.pollIntervalMs);
}

/**
 * How far the target is behind. `idleForMs`: how long ago it stopped, which the detail already says. A lag of the same length is
 * not repeated.
 */
function behindText(facts: Facts, idleForMs: number | null = null): string {
  const { lag, view } = facts;
  const isSaid = idleForMs !== null && lag?.ms != null && isRecent(Math.abs(lag.ms - idleForMs), facts);
  if (view.reference === null) {
    return isBelowLast(facts) ? behindLastText(lag?.ms ?? null) : behindClockText(lag?.ms ?? null, view);
  }
  if (lag?.blocks == null) {
    return "lag unknown";
  }
  const seen = `the reference seen by ${formatCount(view.consensus.members.length, "source")}`;
  if (lag.blocks === 0) {
    return `level with ${seen}`;
  }
  const blocks = formatCount(lag.blocks, "block");
  const behind = lag.ms === null || isSaid ? blocks : `${formatDuration(lag.ms)} (${blocks})`;
  return `${lag.isExtrapolated ? "about " : ""}${behind} behind ${seen}`;
}

/** Whether there is no reference because the sources that showed the last one, above this target, no longer reply. */
function isBelowLast({ state, view: { consensus, reference } }: Facts): boolean {
  return reference === null && (consensus.head?.block ?? 0) > (highestSample(state)?.block ?? 0);
}

function behindLastText(lagMs: number | null): string {
  const behind = lagMs === null ? "lag unknown" : `${formatDuration(lagMs)} behind`;
  return `${behind}: no source at the head replies`;
}

function behindClockText(lagMs: number | null, { dispute, hasSingleSource }: ChainView): string {
  const behind = lagMs === null ? "" : `${formatDuration(lagMs)} behind, measured against the clock`;
  if (dispute !== null) {
    return `${behind && `${behind}, as there is `}no reference: ${disputeText(dispute)}`;
  }
  const sources = `its chain has ${hasSingleSource ? "a single source" : "too few sources that agree on a head"}`;
  return behind === "" ? `lag unknown: ${sources}, without block times` : `${behind}: ${sources}`;
}

function catchUpText({ catchUp }: Facts): string {
  if (catchUp === null) {
    return "";
  }
  const { blocks_per_second: perSecond, eta_seconds: eta } = catchUp;
  if (eta === null) {
    return "; at this pace it never catches up";
  }
  const pace =
    perSecond >= 1
      ? `${formatCount(perSecond, "block")} a second`
      : `${formatCount(perSecond * 60, "block")} a minute`;
  return `; catching up at ${pace}, at the head in about ${formatDuration(eta * 1_000)}`;
}

/** The provider's words in quotation marks, or ours, and when the next request is sent. */
function failureText(
  { detail, nextMs, reason }: Extract<LastPoll, { kind: "failed" }>,
  { nowMs }: ChainView,
): string {
  const text = failureWords(reason, detail);
  const waitMs = (nextMs ?? nowMs) - nowMs;
  return waitMs > 0 ? `${text}; next attempt in ${formatDuration(waitMs)}` : text;
}

function lastSeenText({ state, view }: Facts): string {
  return state.lastSuccessMs === null
    ? ""
    : `; last height ${formatDuration(Math.max(0, view.nowMs - state.lastSuccessMs))} ago`;
}
