import type { Observation } from "../../src/core/model/observation.ts";
import type { ChainReport, TargetReport } from "../../src/core/model/report.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import type { Core, StartCore } from "./core.ts";
import { chainsOf, isNode } from "./fleet.ts";
import { deliver, drawLatency, headOf, T0 } from "./simulated-poll.ts";
import { MINUTE, SECOND, shownBy, type World, type WorldSource } from "./world.ts";
import { createWorldChain, type WorldChain } from "./world-chain.ts";

/*
 * Plays a world: a chain, the sources that watch it, and what each of them does over time. What the core reports is compared with the
 * truth every fifteen seconds.
 */

/** What may be wrong, with its name in the tables. */
export const MISTAKES = {
  /** A source that is right, or late by less than is judged, has a wrong status. */
  accused: "sound source accused",
  /** A source that is far behind, or far off, is `ok` for more than three polls. */
  untold: "far-off source not reported",
  referenceLow: "reference too low",
  referenceHigh: "reference too high",
  noReference: "no reference",
  wrongLag: "wrong lag",
} as const;
type Mistake = keyof typeof MISTAKES;

/** What was wrong in one play, each with its minute and the wrong status or number; and the statuses at the end. */
export type Played = Readonly<Record<Mistake, readonly string[]>> & { readonly outcome: string };

/** The default thresholds of chains.yaml. */
const LAGGING_MS = 10 * MINUTE;
const STALLED_MS = 10 * MINUTE;
const TICK_MS = 15 * SECOND;
const TIMEOUT_MS = 10 * SECOND;
/** A height counts as evidence for this number of polls or minutes. */
const POLLS = 3;
/** The largest accepted error of a lag. */
const LAG_TOLERATED_MS = 150 * SECOND;
/** At the beginning and the end of a halt, a lag depends on the instant at which each source was polled. */
const EDGE_MS = 4 * MINUTE;
/** The last moment of a round at which a source is asked. */
const LAST_PHASE_MS = 14 * SECOND;

/** Plays a world in one order of arrival, and returns all that was wrong. */
export function playWorld(world: World, start: StartCore, order = 0): Played {
  return new Play(world, start, order).run();
}

/** All that was wrong, as lines. */
export function mistakesOf({ outcome: _, ...wrong }: Played): readonly string[] {
  return Object.entries(wrong).flatMap(([what, said]) => said.map((one) => `${what}: ${one}`));
}

/** What is known of a source while its world is played. */
interface Actor {
  readonly source: WorldSource;
  /** The moment of its polls after the beginning of each round; null: a random one each time. */
  readonly phaseMs: number | null;
  /** The last height that it reported. */
  read: { readonly block: number; readonly atMs: number } | null;
  /** The index of its present conduct, and the number of heights in a row since that began. */
  at: number;
  steady: number;
  /** The number of checks in a row at which it was far off. */
  bad: number;
  /** The number of checks in a row at which it was right, and near the head. */
  sound: number;
  /** Polls in a row that failed. */
  lost: number;
}

class Play {
  readonly #world: World;
  readonly #random: () => number;
  readonly #chain: WorldChain;
  readonly #actors: readonly Actor[];
  readonly #wrong: Readonly<Record<Mistake, string[]>> = {
    ...{ accused: [], untold: [], referenceLow: [], referenceHigh: [], noReference: [], wrongLag: [] },
  };
  readonly #core: Core;
  #nowMs = T0;
  #judgedFromMs: number;
  #referenceJudgedFromMs = T0;

  constructor(world: World, start: StartCore, order: number) {
    const isSpread = world.rules.phases === "spread";
    this.#world = world;
    this.#random = createRandom(`${world.seed}/${isSpread ? `order/${order}` : "play"}`);
    this.#chain = createWorldChain(world.chain, T0, world.lastsMs, createRandom(`${world.seed}/chain`));
    this.#actors = world.sources.map((source) => ({
      source,
      phaseMs: isSpread ? Math.floor(this.#random() * LAST_PHASE_MS) : null,
      read: null,
      at: 0,
      steady: 0,
      bad: 0,
      sound: 0,
      lost: 0,
    }));
    this.#judgedFromMs = T0 + (world.judgedFromMs ?? world.rules.settlesMs);
    this.#core = start(chainsOf(world.sources, world.chain.blockTimeMs));
  }

  run(): Played {
    const { lastsMs, restarts, rules } = this.#world;
    const lookAfterMs = rules.phases === "spread" ? TICK_MS : 5 * SECOND - 1;
    let outcome = "";
    for (let atMs = 0; atMs < lastsMs; atMs += TICK_MS) {
      const restart = restarts.find((one) => one.atMs > atMs - TICK_MS && one.atMs <= atMs);
      if (restart !== undefined) {
        this.#restart(restart.state, T0 + atMs - 1);
      }
      deliver(
        this.#core,
        this.#actors
          .filter(({ source }) => restart !== undefined || atMs % source.pollIntervalMs === 0)
          .map((actor) => this.#ask(actor, T0 + atMs)),
      );
      this.#nowMs = T0 + atMs + lookAfterMs;
      const report = this.#core.report(this.#nowMs);
      outcome = outcomeOf(report);
      if (this.#nowMs >= this.#judgedFromMs) {
        this.#judge(report);
      }
    }
    return { ...this.#wrong, outcome };
  }

  #restart(state: "kept" | "lost", nowMs: number): void {
    this.#core.restart(state, nowMs);
    if (state === "lost") {
      this.#judgedFromMs = Math.max(this.#judgedFromMs, nowMs + this.#world.rules.settlesMs);
      for (const actor of this.#actors) {
        actor.steady = 0;
      }
    }
  }

  #ask(actor: Actor, atMs: number): Observation {
    const said = this.#say(actor, atMs);
    actor.lost = said.kind === "head" ? 0 : actor.lost + 1;
    if (actor.lost > 1) {
      actor.steady = 0;
    }
    if (said.kind === "head") {
      actor.read = { block: said.head.block, atMs: (said.sentAtMs + said.receivedAtMs) / 2 };
      actor.steady += 1;
    }
    return said;
  }

  #say(actor: Actor, atMs: number): Observation {
    const { source } = actor;
    const sentAtMs = atMs + (actor.phaseMs ?? this.#random() * 200);
    const at = source.conducts.findLastIndex(({ fromMs }) => T0 + fromMs <= sentAtMs);
    if (at !== actor.at) {
      actor.at = at;
      actor.steady = 0;
      this.#referenceJudgedFromMs = atMs + this.#world.rules.changeSettlesMs;
    }
    const { conduct, fromMs } = source.conducts[at] ?? { conduct: { kind: "fails" }, fromMs: 0 };
    const times = { source: source.key, sentAtMs };
    if (conduct.kind === "fails") {
      return { ...times, kind: "failed", receivedAtMs: sentAtMs + 20, reason: "connect", detail: "" };
    }
    if (this.#random() < source.timeouts) {
      return { ...times, kind: "failed", receivedAtMs: sentAtMs + TIMEOUT_MS, reason: "timeout", detail: "" };
    }
    const receivedAtMs = sentAtMs + drawLatency(this.#random);
    if (conduct.kind === "other chain" && fromMs === 0 && isNode(source)) {
      // The daemon asks an RPC node for its chain id before it uses the first block.
      return { ...times, kind: "failed", receivedAtMs, reason: "wrong_chain", detail: "" };
    }
    const readMs = (sentAtMs + receivedAtMs) / 2;
    const { block, timeMs } = shownBy(conduct, this.#chain, readMs, T0 + fromMs);
    if (conduct.kind === "climbs" && block < this.#chain.headAt(readMs)) {
      actor.steady = 0;
    }
    const timestampSec = source.reportsTimes ? Math.floor((timeMs + source.timeShiftMs) / SECOND) : null;
    const hash = source.hashing === null ? null : `0x${source.hashing}${block}`;
    return { ...times, kind: "head", receivedAtMs, head: { ...headOf(block, timestampSec), hash } };
  }

  #judge(report: ChainReport): void {
    this.#judgeReference(report);
    for (const target of report.targets) {
      const actor = this.#actors.find(({ source }) => source.key === target.key);
      if (actor !== undefined) {
        this.#judgeTarget(actor, target, report);
      }
    }
  }

  #judgeReference({ reference }: ChainReport): void {
    if (this.#nowMs < this.#referenceJudgedFromMs || !this.#isHeadShown()) {
      return;
    }
    const nowMs = this.#nowMs;
    const { referenceAheadMs, referenceBlocks, referenceOldMs } = this.#world.rules;
    const ahead = (reference?.block_number ?? 0) - this.#chain.headAt(nowMs);
    if (reference === null) {
      this.#note("noReference", "");
    } else if (reference.block_number > this.#chain.headAt(nowMs + referenceAheadMs) + referenceBlocks) {
      this.#note("referenceHigh", `${ahead} blocks`);
    } else if (reference.block_number < this.#chain.headAt(nowMs - referenceOldMs) - referenceBlocks) {
      this.#note("referenceLow", `${-ahead} blocks`);
    }
  }

  /** Whether sources of enough providers that are polled every minute have been at the head for some polls. */
  #isHeadShown(): boolean {
    const { headShownBy, rules } = this.#world;
    const atHead = this.#actors.filter(
      (actor) => actor.source.pollIntervalMs <= MINUTE && actor.steady > rules.polls && this.#isAtHead(actor),
    );
    const dated = atHead.some(({ source }) => source.reportsTimes && source.timeShiftMs === 0);
    const providers = new Set(atHead.map(({ source }) => source.provider)).size;
    return headShownBy !== null && (providers >= headShownBy || dated);
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
    const { rules } = this.#world;
    if (read === null || this.#nowMs - read.atMs > Math.max(5 * MINUTE, POLLS * source.pollIntervalMs)) {
      return;
    }
    const behindMs = this.#behindMs(read.block, read.atMs);
    const said = `${target.key} ${target.status}: ${target.detail}`;
    const wanted = this.#statusesFor(actor, behindMs, read.block - this.#chain.headAt(read.atMs));
    actor.bad = wanted === "bad" ? actor.bad + 1 : 0;
    actor.sound = wanted === "sound" ? actor.sound + 1 : 0;
    // A source that was behind is `ok` again after its second poll.
    const hasSettled = actor.sound > source.pollIntervalMs / TICK_MS;
    const isSound = wanted === "sound" && hasSettled && steady > rules.polls;
    if (isSound && target.status !== "ok" && !(target.status === "unknown" && this.#isCutOff(actor))) {
      this.#note("accused", said);
    }
    if (actor.bad > rules.badLooks && steady > rules.polls + 2 && target.status === "ok") {
      this.#note("untold", said);
    }
    if (isSound && reference !== null && target.lag_seconds !== null) {
      this.#judgeLag(read, target, target.lag_seconds * SECOND, this.#wasHeadShown(actor, read.atMs));
    }
  }

  /** `isShown`: whether another source may have shown that this one is behind. */
  #judgeLag(read: NonNullable<Actor["read"]>, target: TargetReport, lagMs: number, isShown: boolean): void {
    const behindMs = this.#behindMs(read.block, read.atMs);
    if (this.#chain.wasHalted(this.#nowMs - EDGE_MS - behindMs, this.#nowMs)) {
      return;
    }
    const tolerated = LAG_TOLERATED_MS + this.#world.rules.referenceBlocks * this.#chain.blockTimeMs;
    const most = this.#behindMs(read.block, this.#nowMs) + tolerated;
    const least = behindMs - tolerated - (target.lag_extrapolated ? behindMs / 3 : 0);
    if (lagMs > most || (lagMs < least && isShown && this.#world.headShownBy !== null)) {
      this.#note("wrongLag", `${target.key} ${lagMs} ms, in truth ${behindMs} ms`);
    }
  }

  /** The statuses that a source may have: `sound`: no bad one; `bad`: not `ok`; `any`: it is near a threshold, or the truth cannot be known. */
  #statusesFor({ at, source }: Actor, behindMs: number, aheadBlocks: number): "sound" | "bad" | "any" {
    const { chain, headShownBy, rules } = this.#world;
    const conduct = source.conducts[at]?.conduct.kind ?? "fails";
    const isOnChain = !["offset", "other chain", "drifts", "slow"].includes(conduct);
    if (!isOnChain && aheadBlocks > 0) {
      const isFar = aheadBlocks > (1.1 * LAGGING_MS) / chain.blockTimeMs;
      return isFar && this.#wereOthersHeard(source) ? "bad" : "any";
    }
    // Its replies to users differ from each other.
    if (conduct === "races") {
      return "any";
    }
    if (behindMs > LAGGING_MS + rules.thresholdMs) {
      return headShownBy === null ? "any" : "bad";
    }
    // A source that shows every 64th block does not advance for longer than `stalled`, so it may be `stalled`.
    const isMotionless =
      this.#chain.wasHalted(this.#nowMs - STALLED_MS, this.#nowMs) || ["stopped", "steps"].includes(conduct);
    return isOnChain && !isMotionless && behindMs < LAGGING_MS - rules.thresholdMs ? "sound" : "any";
  }

  /** Whether another source shows where the head is now. */
  #wereOthersHeard(source: WorldSource): boolean {
    return this.#actors.some(
      ({ read, source: other }) =>
        other.provider !== source.provider &&
        read !== null &&
        this.#nowMs - read.atMs < POLLS * MINUTE &&
        (other.pollIntervalMs <= MINUTE || this.#nowMs - read.atMs > (POLLS + 1) * source.pollIntervalMs),
    );
  }

  /** Whether a source of another provider has shown the head since a minute before an instant: its poll may have failed. */
  #wasHeadShown({ source }: Actor, atMs: number): boolean {
    return this.#actors.some(
      ({ read, source: other }) =>
        other.provider !== source.provider &&
        read !== null &&
        read.atMs > atMs - MINUTE &&
        read.block >= this.#chain.headAt(read.atMs - 15 * SECOND),
    );
  }

  /** If all others fail at once, our own network may be the cause, and `unknown` blames no source. */
  #isCutOff(actor: Actor): boolean {
    return this.#actors.every((other) => other === actor || other.lost > 0);
  }

  /** How long the block after `block` has existed; 0 if it does not exist. */
  #behindMs(block: number, atMs: number): number {
    return Math.max(0, atMs - this.#chain.timeOf(block + 1));
  }

  #note(what: Mistake, said: string): void {
    this.#wrong[what].push(`${((this.#nowMs - T0) / MINUTE).toFixed(1)} min ${said}`);
  }
}

/** The statuses, and whether there is a reference. Heights depend on the moment of each poll. */
function outcomeOf({ reference, targets }: ChainReport): string {
  const statuses = targets.map(({ key, status }) => `${key}=${status}`);
  return [...statuses, reference === null ? "none" : "reference"].join(" ");
}
