import type { Observation } from "../../src/core/model/observation.ts";
import type { ChainReport, TargetReport } from "../../src/core/model/report.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import type { Core, StartCore } from "./core.ts";
import { chainsOf } from "./fleet.ts";
import { type ChainSpec, createWorldChain, type WorldChain } from "./world-chain.ts";

/*
 * Worlds that look like the fleets that people run: a chain, the sources that watch it, and what each of them does over time. What the
 * core reports is compared with the truth every fifteen seconds.
 */

/** What a source does from one instant on. */
export type Conduct =
  /** It is so long behind its chain; 0: at the head. */
  | { readonly kind: "follows"; readonly delayMs: number }
  /** It shows every so many blocks only, so many blocks deep: a follower of final blocks. */
  | { readonly kind: "steps"; readonly blocks: number; readonly depth: number }
  /** It indexes in batches, one in so much time. */
  | { readonly kind: "batches"; readonly everyMs: number }
  /** So many blocks away from its chain. */
  | { readonly kind: "offset"; readonly blocks: number }
  /** From its beginning on it makes blocks at this multiple of the chain's pace. */
  | { readonly kind: "drifts"; readonly pace: number }
  /** Another chain, which is so many blocks away at the start of the world, and goes at this multiple of the pace. */
  | { readonly kind: "other chain"; readonly blocks: number; readonly pace: number }
  | { readonly kind: "stopped" }
  | { readonly kind: "fails" };

export interface FleetSource {
  readonly kind: "indexer" | "rpc";
  readonly host: string;
  readonly everyMs: number;
  readonly reportsTimes: boolean;
  /** What it adds to the times that it reports. */
  readonly timeShiftMs: number;
  /** How it hashes blocks: two sources with the same word report the same hashes; null: none. */
  readonly hashing: string | null;
  /** Share of polls that time out. */
  readonly timeouts: number;
  /** In the order of time, from 0. */
  readonly conducts: readonly { readonly fromMs: number; readonly conduct: Conduct }[];
}

export interface FleetWorld {
  readonly seed: string;
  readonly chain: ChainSpec;
  readonly sources: readonly FleetSource[];
  readonly lastsMs: number;
  readonly restarts: readonly { readonly atMs: number; readonly state: "kept" | "lost" }[];
  /** Whether the evidence shows where the head is: two providers are at it, or one that can prove it. */
  readonly isReferenceKnown: boolean;
}

/** What was wrong in one play, each with the minute and what was said. */
export interface FleetPlay {
  /** A source that is right, or merely late by less than is judged, has another status than it should. */
  readonly accused: readonly string[];
  /** A source that is far behind, or far off, is `ok` for more than three polls. */
  readonly untold: readonly string[];
  readonly referenceLow: readonly string[];
  readonly referenceHigh: readonly string[];
  readonly noReference: readonly string[];
  readonly wrongLag: readonly string[];
}

/** An instant to count from: 2026-11-20T00:00:00Z. */
const T0 = 1_795_132_800_000;
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
/** The default thresholds of chains.yaml. */
const LAGGING_MS = 10 * MINUTE;
const STALLED_MS = 10 * MINUTE;
const TICK_MS = 5 * SECOND;
const LOOK_EVERY_MS = 15 * SECOND;
const TIMEOUT_MS = 10 * SECOND;
const POLLS = 3;
/** So long after its start, or after a loss of its state, the daemon is not judged. */
const SETTLES_MS = 5 * MINUTE;
/** How old the reference may be. */
const REFERENCE_TOLERATED_MS = 75 * SECOND;
/** A source that is a little ahead of its chain may carry the reference so far. */
const REFERENCE_AHEAD_MS = 15 * SECOND;
/** How wrong a lag may be, and how near to a threshold either status is right. */
const LAG_TOLERATED_MS = 150 * SECOND;
/** At the edges of a standstill a lag depends on the instant at which each source was asked. */
const EDGE_MS = 4 * MINUTE;

/** Plays a world and returns all that was wrong. */
export function playFleet(world: FleetWorld, start: StartCore): FleetPlay {
  return new Play(world, start).run();
}

/** What is known of a source while its world is played. */
interface Actor {
  readonly source: FleetSource;
  readonly key: string;
  /** The last height that it gave. */
  read: { readonly block: number; readonly atMs: number } | null;
  /** Heights in a row that were given since its conduct changed. */
  steady: number;
  since: number;
  /** Polls in a row that failed. */
  lost: number;
}

class Play {
  readonly #world: FleetWorld;
  readonly #random: () => number;
  readonly #chain: WorldChain;
  readonly #actors: readonly Actor[];
  readonly #wrong = {
    accused: [] as string[],
    untold: [] as string[],
    referenceLow: [] as string[],
    referenceHigh: [] as string[],
    noReference: [] as string[],
    wrongLag: [] as string[],
  };
  readonly #core: Core;
  #nowMs = T0;
  #judgedFromMs = T0 + SETTLES_MS;

  constructor(world: FleetWorld, start: StartCore) {
    this.#world = world;
    this.#random = createRandom(`${world.seed}/play`);
    this.#chain = createWorldChain(world.chain, T0, world.lastsMs, createRandom(`${world.seed}/chain`));
    this.#actors = world.sources.map((source, index) => ({
      source,
      key: keyOf(world, source, index),
      read: null,
      steady: 0,
      since: 0,
      lost: 0,
    }));
    const sources = this.#actors.map(({ key, source: { everyMs, host } }) => ({
      key,
      pollIntervalMs: everyMs,
      provider: host,
    }));
    this.#core = start(chainsOf(sources, world.chain.blockTimeMs));
  }

  run(): FleetPlay {
    const restarts = [...this.#world.restarts];
    for (let atMs = 0; atMs < this.#world.lastsMs; atMs += TICK_MS) {
      const [next] = restarts;
      if (next !== undefined && next.atMs <= atMs) {
        restarts.shift();
        this.#restart(next.state);
      }
      this.#ask(atMs);
      this.#nowMs = T0 + atMs + TICK_MS - 1;
      if (atMs % LOOK_EVERY_MS === 0) {
        this.#look();
      }
    }
    return this.#wrong;
  }

  #restart(state: "kept" | "lost"): void {
    this.#core.restart(state, this.#nowMs);
    if (state === "lost") {
      this.#judgedFromMs = this.#nowMs + SETTLES_MS;
    }
  }

  #ask(atMs: number): void {
    const replies = this.#actors
      .filter(({ source }) => atMs % source.everyMs === 0)
      .map((actor) => this.#reply(actor, T0 + atMs));
    for (const { actor, observation } of replies.toSorted(
      (a, b) => a.observation.receivedAtMs - b.observation.receivedAtMs,
    )) {
      this.#nowMs = Math.max(this.#nowMs, observation.receivedAtMs);
      actor.lost = observation.kind === "head" ? 0 : actor.lost + 1;
      if (actor.lost > 1) {
        actor.steady = 0;
      }
      if (observation.kind === "head") {
        const { sentAtMs, receivedAtMs } = observation;
        actor.read = { block: observation.head.block, atMs: (sentAtMs + receivedAtMs) / 2 };
        actor.steady += 1;
      }
      this.#core.observe(observation);
    }
  }

  #reply(actor: Actor, atMs: number): { readonly actor: Actor; readonly observation: Observation } {
    const { source, key } = actor;
    const sentAtMs = atMs + this.#random() * 200;
    const at = source.conducts.findLastIndex(({ fromMs }) => T0 + fromMs <= sentAtMs);
    if (at !== actor.since) {
      actor.since = at;
      actor.steady = 0;
    }
    const { conduct, fromMs } = source.conducts[at] ?? { conduct: { kind: "fails" }, fromMs: 0 };
    if (conduct.kind === "fails" || this.#random() < source.timeouts) {
      const receivedAtMs = conduct.kind === "fails" ? sentAtMs + 20 : sentAtMs + TIMEOUT_MS;
      const reason = conduct.kind === "fails" ? "connect" : "timeout";
      return {
        actor,
        observation: { kind: "failed", source: key, sentAtMs, receivedAtMs, reason, detail: "" },
      };
    }
    const receivedAtMs = sentAtMs + 20 + this.#random() * 880;
    if (conduct.kind === "other chain" && fromMs === 0 && source.kind === "rpc") {
      // The daemon asks a node for its chain before it believes its first block.
      const observation = { kind: "failed", source: key, sentAtMs, receivedAtMs } as const;
      return { actor, observation: { ...observation, reason: "wrong_chain", detail: "" } };
    }
    const { block, timeMs } = shownBy(conduct, this.#chain, (sentAtMs + receivedAtMs) / 2, T0 + fromMs);
    const timestampSec = source.reportsTimes ? Math.floor((timeMs + source.timeShiftMs) / SECOND) : null;
    const hash = source.hashing === null ? null : `0x${source.hashing}${block}`;
    const head = { block, timestampSec, hash, deployment: null, indexingErrors: null };
    return { actor, observation: { kind: "head", source: key, sentAtMs, receivedAtMs, head } };
  }

  #look(): void {
    if (this.#nowMs < this.#judgedFromMs) {
      return;
    }
    const report = this.#core.report(this.#nowMs);
    this.#judgeReference(report);
    for (const target of report.targets) {
      const actor = this.#actors.find(({ key }) => key === target.key);
      if (actor !== undefined) {
        this.#judgeTarget(actor, target, report);
      }
    }
  }

  #judgeReference({ reference }: ChainReport): void {
    if (!this.#world.isReferenceKnown || !this.#isHeadShown()) {
      return;
    }
    const nowMs = this.#nowMs;
    if (reference === null) {
      this.#note("noReference", "");
    } else if (reference.block_number > this.#chain.headAt(nowMs + REFERENCE_AHEAD_MS)) {
      this.#note("referenceHigh", `${reference.block_number - this.#chain.headAt(nowMs)} blocks`);
    } else if (reference.block_number < this.#chain.headAt(nowMs - REFERENCE_TOLERATED_MS)) {
      this.#note("referenceLow", `${this.#chain.headAt(nowMs) - reference.block_number} blocks`);
    }
  }

  /** Whether sources of two hosts that are asked each minute have been at the head for some polls. */
  #isHeadShown(): boolean {
    const atHead = this.#actors.filter(
      (actor) => actor.source.everyMs <= MINUTE && actor.steady > POLLS && this.#isAtHead(actor),
    );
    const dated = atHead.some(({ source }) => source.reportsTimes && source.timeShiftMs === 0);
    return new Set(atHead.map(({ source }) => source.host)).size > 1 || dated;
  }

  #isAtHead({ read }: Actor): boolean {
    return (
      read !== null &&
      this.#nowMs - read.atMs < 2 * MINUTE &&
      read.block <= this.#chain.headAt(read.atMs) &&
      read.block >= this.#chain.headAt(read.atMs - 15 * SECOND)
    );
  }

  #judgeTarget(actor: Actor, target: TargetReport, { reference }: ChainReport): void {
    const { read, source, steady } = actor;
    if (read === null || this.#nowMs - read.atMs > Math.max(5 * MINUTE, POLLS * source.everyMs)) {
      return;
    }
    const behindMs = this.#behindMs(read.block, read.atMs);
    const aheadBlocks = read.block - this.#chain.headAt(read.atMs);
    const said = `${target.key} ${target.status}: ${target.detail}`;
    const wanted = this.#statusesFor(actor, behindMs, aheadBlocks);
    if (wanted === "sound" && steady > POLLS && target.status !== "ok") {
      this.#note("accused", said);
    }
    if (wanted === "bad" && steady > POLLS + 2 && target.status === "ok") {
      this.#note("untold", said);
    }
    const isEven = !this.#chain.stoodStill(this.#nowMs - EDGE_MS - behindMs, this.#nowMs);
    if (reference !== null && wanted === "sound" && steady > POLLS && isEven && target.lag_seconds !== null) {
      const lagMs = target.lag_seconds * SECOND;
      const most = this.#behindMs(read.block, this.#nowMs) + LAG_TOLERATED_MS;
      const least = behindMs - LAG_TOLERATED_MS - (target.lag_extrapolated ? behindMs / 3 : 0);
      if (lagMs > most || (lagMs < least && this.#world.isReferenceKnown)) {
        this.#note("wrongLag", `${target.key} ${lagMs} ms, in truth ${behindMs} ms`);
      }
    }
  }

  /** What may be said of a source: `sound`: nothing bad; `bad`: not `ok`; `any`: near a threshold, or nobody can know. */
  #statusesFor({ source, since }: Actor, behindMs: number, aheadBlocks: number): "sound" | "bad" | "any" {
    const conduct = source.conducts[since]?.conduct.kind;
    const isOnChain = conduct !== "offset" && conduct !== "other chain" && conduct !== "drifts";
    const far = LAGGING_MS / this.#world.chain.blockTimeMs;
    if (!isOnChain && aheadBlocks > 0) {
      return aheadBlocks > 1.1 * far && this.#wereOthersHeard(source) ? "bad" : "any";
    }
    if (behindMs > LAGGING_MS + LAG_TOLERATED_MS) {
      return this.#world.isReferenceKnown ? "bad" : "any";
    }
    // A source that shows every 64th block stands still for longer than `stalled`, and so it is said.
    const stands =
      this.#chain.stoodStill(this.#nowMs - STALLED_MS, this.#nowMs) ||
      conduct === "stopped" ||
      conduct === "steps";
    return isOnChain && !stands && behindMs < LAGGING_MS - LAG_TOLERATED_MS ? "sound" : "any";
  }

  /** Whether anybody else says where the head is now. */
  #wereOthersHeard(source: FleetSource): boolean {
    return this.#actors.some(
      ({ read, source: other }) =>
        other.host !== source.host &&
        read !== null &&
        this.#nowMs - read.atMs < POLLS * MINUTE &&
        (other.everyMs <= MINUTE || this.#nowMs - read.atMs > (POLLS + 1) * source.everyMs),
    );
  }

  /** How long the block after `block` has existed; 0 where it does not. */
  #behindMs(block: number, atMs: number): number {
    return Math.max(0, atMs - this.#chain.timeOf(block + 1));
  }

  #note(what: keyof FleetPlay, said: string): void {
    this.#wrong[what].push(`${((this.#nowMs - T0) / MINUTE).toFixed(1)} min ${said}`);
  }
}

function shownBy(
  conduct: Exclude<Conduct, { kind: "fails" }>,
  chain: WorldChain,
  atMs: number,
  fromMs: number,
): { readonly block: number; readonly timeMs: number } {
  const onChain = (block: number) => ({ block, timeMs: chain.timeOf(block) });
  switch (conduct.kind) {
    case "follows":
      return onChain(chain.headAt(atMs - conduct.delayMs));
    case "steps":
      return onChain(Math.floor((chain.headAt(atMs) - conduct.depth) / conduct.blocks) * conduct.blocks);
    case "batches":
      return onChain(chain.headAt(fromMs + Math.floor((atMs - fromMs) / conduct.everyMs) * conduct.everyMs));
    case "stopped":
      return onChain(chain.headAt(fromMs));
    case "offset": {
      const block = chain.headAt(atMs);
      return { block: Math.max(1, block + conduct.blocks), timeMs: chain.timeOf(block) };
    }
    case "drifts": {
      const from = chain.headAt(fromMs);
      const made = chain.headAt(atMs) - from;
      return { block: from + Math.floor(made * conduct.pace), timeMs: chain.timeOf(from + made) };
    }
    case "other chain": {
      const from = chain.headAt(T0);
      const made = Math.floor(((atMs - T0) / chain.blockTimeMs) * conduct.pace);
      const timeMs = T0 + (made * chain.blockTimeMs) / conduct.pace;
      return { block: Math.max(1, from + conduct.blocks + made), timeMs };
    }
  }
}

function keyOf({ sources }: FleetWorld, { kind }: FleetSource, index: number): string {
  const earlier = sources.slice(0, index).filter((source) => source.kind === kind).length;
  return kind === "rpc"
    ? `rpc/bench/${earlier}`
    : `airdrops/v${String(earlier).padStart(2, "0")}/production/bench`;
}
