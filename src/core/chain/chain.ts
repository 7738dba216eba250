import { isFarAhead } from "../head/agree.ts";
import { followWall } from "../head/chain-clock.ts";
import { type Consensus, contradictionOf, type Pace, paceOf, type Suspicion } from "../head/consensus.ts";
import { LARGE_STEP_BLOCKS, mostBlocksIn } from "../head/reach.ts";
import { atPace } from "../model/limit.ts";
import type { Observation, ReportedBlock } from "../model/observation.ts";
import type { ParityReading } from "../model/parity.ts";
import { isHeight } from "../model/sample.ts";
import { staleAfterMs } from "../model/thresholds.ts";
import { observeReadings, type TakenReading } from "../parity/parity-state.ts";
import { type FoldContext, foldPoll } from "../source/fold-poll.ts";
import { broughtDoubt } from "../source/queries.ts";
import { newestSample, newSource, type SourceState } from "../source/source-state.ts";
import { type ChainState, chainAt, sourceOf, type WatchedChain, type WatchedSource } from "./chain-state.ts";
import { decideHead, measureGaps, type PolledSource, settleStatuses } from "./decide.ts";
import { forgetProofs, isSuspect, proofOf, suspicionsOf } from "./proofs.ts";

/** What a decision changed, by the keys of the sources. */
export interface Changes {
  /** Targets that another poll should confirm: their status is about to change, has just changed, or a query has just failed. */
  readonly changing: string[];
  /** Targets whose status has just changed, including a first status. */
  readonly turned: string[];
  /** Sources whose last height is impossible, as other sources show. */
  readonly implausible: string[];
  /** Blocks that RPC nodes should be asked for. */
  readonly suspicions: Suspicion[];
}

/**
 * Replies of different sources within this time count as one instant, and are decided together. Their order means little,
 * because a poll takes about this time.
 */
const INSTANT_MS = 1_000;

/**
 * One chain: keeps the observations of its sources until `decide`, which its owner calls about once a second. `state` is as of
 * the last decision.
 */
export class Chain {
  readonly watched: WatchedChain;
  readonly state: ChainState;
  /** When the state changed last. */
  changedMs: number;
  /** The observations and values since the last decision, in their order. */
  #news: { observations: Observation[]; readings: ParityReading[] } = { observations: [], readings: [] };
  /** By their keys, the sources that were polled at the present instant, which is decided as a whole. */
  #polled = new Map<string, PolledSource>();
  #polledFromMs = 0;

  constructor(watched: WatchedChain, nowMs: number, state: ChainState) {
    this.watched = watched;
    this.changedMs = nowMs;
    this.state = state;
  }

  /** Keeps an observation for the next decision. */
  observe(observation: Observation): void {
    this.#news.observations.push(observation);
  }

  /** Keeps a reading of a parity probe for the next decision. */
  observeParity(reading: ParityReading): void {
    this.#news.readings.push(reading);
  }

  /** Decides what follows from the observations since the last decision. */
  decide(nowMs: number): Changes {
    const changes: Changes = { changing: [], turned: [], implausible: [], suspicions: [] };
    const { observations, readings } = this.#news;
    this.#news = { observations: [], readings: [] };
    for (const observation of observations) {
      this.#fold(observation, changes);
    }
    this.#decideInstant(changes);
    if (readings.length > 0) {
      this.#compare(readings);
    }
    this.#changed(nowMs);
    return changes;
  }

  /** Records the RPC node's block at the height of a suspicion. `found`: null if the node does not have that block. */
  noteProof(suspicion: Suspicion, found: ReportedBlock | null, nowMs: number): void {
    const source = sourceOf(this.state, suspicion.source);
    if (source !== undefined) {
      this.state.proofs[source.key] = proofOf(source, suspicion, found);
      this.#changed(nowMs);
    }
  }

  /** Follows the wall clock after it was set. */
  followWall(wallOffsetMs: number): void {
    followWall(this.state.clock, wallOffsetMs);
    this.#changed(this.changedMs);
  }

  #changed(nowMs: number): void {
    this.changedMs = nowMs;
    this.state.revision += 1;
  }

  /**
   * Adds one observation. If it begins a new instant, the last instant is decided first. An observation of a source that is not
   * watched is ignored.
   */
  #fold(observation: Observation, changes: Changes): void {
    const { receivedAtMs } = observation;
    const watched = this.watched.sources.get(observation.source);
    if (watched === undefined) {
      return;
    }
    if (this.#polled.has(observation.source) || receivedAtMs - this.#polledFromMs >= INSTANT_MS) {
      this.#decideInstant(changes);
    }
    const source = this.#sourceFor(observation.source, watched);
    const { last, verdict } = source;
    this.#polledFromMs = this.#polled.size === 0 ? receivedAtMs : this.#polledFromMs;
    const hasHeight = observation.kind === "head";
    this.#polled.set(source.key, { source, hasHeight, before: { last, verdict } });
    foldPoll(source, withCredibleHeight(observation), this.#contextOf(source, watched, receivedAtMs));
  }

  #compare(readings: readonly ParityReading[]): void {
    const { state } = this;
    const { chain, probes } = this.watched;
    const taken = readings.map((reading): TakenReading => {
      const source = sourceOf(state, reading.target);
      return { reading, trust: trustOf(source, state), deployment: source?.deployment ?? null };
    });
    observeReadings(state.parity, { probes, staleMs: chain.thresholds.staleMs }, taken);
  }

  #decideInstant(changes: Changes): void {
    // Sorted, so that decisions do not depend on which reply came first.
    const polled = [...this.#polled.values()].sort((a, b) => (a.source.key < b.source.key ? -1 : 1));
    if (polled.length === 0) {
      return;
    }
    const { state } = this;
    const nowMs = Math.max(...polled.map(({ source }) => source.last?.receivedAtMs ?? 0));
    const instant = { ...chainAt(state, this.watched, nowMs), polled };
    decideHead(instant);
    measureGaps(instant);
    settleStatuses(instant);
    forgetProofs(state);
    changes.suspicions.push(...suspicionsOf(instant));
    this.#polled.clear();
    for (const { before, hasHeight, source } of polled) {
      if (
        isChanging(before.verdict, source.verdict) ||
        broughtDoubt(source, source.last?.receivedAtMs ?? 0)
      ) {
        changes.changing.push(source.key);
      }
      if (before.verdict?.status !== source.verdict?.status) {
        changes.turned.push(source.key);
      }
      if (hasHeight && isFarAhead(contradictionOf(source, state))) {
        changes.implausible.push(source.key);
      }
    }
  }

  #sourceFor(key: string, watched: WatchedSource): SourceState {
    const { sources } = this.state;
    let source = sourceOf(this.state, key);
    if (source === undefined) {
      source = newSource(key, watched);
      const after = sources.findIndex((other) => other.key > key);
      sources.splice(after === -1 ? sources.length : after, 0, source);
    }
    return source;
  }

  #contextOf(source: SourceState, { queries }: WatchedSource, atMs: number): FoldContext {
    const { clock, consensus } = this.state;
    const { chain } = this.watched;
    const { lagging, stalledMs } = chain.thresholds;
    const pace = paceOf(clock, chain);
    const laggingMs = atPace(lagging, pace.intervalMs).ms ?? 0;
    const blocksUntilUnhealthy =
      Math.min(laggingMs, stalledMs) / (pace.intervalMs ?? Number.POSITIVE_INFINITY);
    return {
      highestPossible: highestFor(source, consensus, pace, atMs),
      isOpposed: consensus.opposed.some(({ source: key }) => key === source.key),
      largeStepBlocks: Math.max(LARGE_STEP_BLOCKS, blocksUntilUnhealthy),
      staleAfterMs: staleAfterMs(chain.thresholds, source.pollIntervalMs),
      wall: clock,
      queries,
    };
  }
}

/** A poll with an impossible height counts as failed. */
function withCredibleHeight(observation: Observation): Observation {
  if (observation.kind === "head" && !isHeight(observation.head.block)) {
    const detail = `block ${observation.head.block}, which is not a valid height`;
    const { receivedAtMs, sentAtMs, source } = observation;
    return { source, sentAtMs, receivedAtMs, kind: "failed", reason: "implausible", detail };
  }
  return observation;
}

/**
 * The highest block that a source can have reached without a jump, from its own last height or from the head. For a contradicted
 * source the head does not count, so its return to the chain is a jump. Null: nothing bounds the source.
 */
function highestFor(
  source: SourceState,
  { confirmed, head, opposed }: Consensus,
  pace: Pace,
  atMs: number,
): number | null {
  const own = newestSample(source);
  // A head that was not confirmed bounds nothing: a source that back-fills may have set it.
  if (head === null || confirmed === null || own === null) {
    return null;
  }
  const byItself = own.block + mostBlocksIn(atMs - own.receivedAtMs, pace);
  return contradictionOf(source, { consensus: { opposed } }) !== null
    ? byItself
    : Math.max(byItself, head.block + mostBlocksIn(atMs - head.reachedMs, pace));
}

/** Whether the status of a source is about to change, or has just changed. RPC nodes have no status. */
function isChanging(before: SourceState["verdict"], after: SourceState["verdict"]): boolean {
  return before !== null && after !== null && (after.unconfirmed !== null || after.status !== before.status);
}

/** Whether the data of a source can be compared: unreliable heights prove nothing about the data. */
function trustOf(source: SourceState | undefined, { consensus }: ChainState): TakenReading["trust"] {
  if (source === undefined) {
    return "ignored";
  }
  if (isSuspect(source, { consensus }) || source.verdict?.status === "diverged") {
    return "doubted";
  }
  const hasFailed = source.last?.kind !== "head" || source.indexingErrors === true;
  return hasFailed ? "ignored" : "trusted";
}
