import type { Observation } from "../../src/core/model/observation.ts";
import type { ChainReport, Status } from "../../src/core/model/report.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import type { Core, StartCore } from "./core.ts";
import { chainsOf, isNode } from "./fleet.ts";
import { deliver, drawLatency, headOf, T0 } from "./simulated-poll.ts";

/** What a source does from one instant on, until its next change. */
export type Conduct =
  | { readonly kind: "honest" }
  /** It fails, and says nothing of the chain. */
  | { readonly kind: "fails" }
  /** So many blocks ahead (or, if negative, behind); `timeShiftMs` is what it adds to its block times. */
  | { readonly kind: "offset"; readonly blocks: number; readonly timeShiftMs: number }
  /** Another chain, with its own pace and its own, honest times. */
  | { readonly kind: "other chain"; readonly blocks: number; readonly pace: number }
  /** It stands still where it was at the beginning of this conduct. */
  | { readonly kind: "stopped" }
  /** It sees the chain at this share of its pace. */
  | { readonly kind: "slow"; readonly share: number };

export interface WorldSource {
  readonly key: string;
  readonly provider: string;
  readonly reportsTimes: boolean;
  readonly pollIntervalMs: number;
  /** Share of polls that time out. */
  readonly failures: number;
  /** In the order of time; the first begins at 0. */
  readonly conducts: readonly { readonly fromMs: number; readonly conduct: Conduct }[];
}

export interface World {
  readonly seed: string;
  readonly blockTimeMs: number;
  readonly lastsMs: number;
  readonly sources: readonly WorldSource[];
  /** Instants at which the daemon restarts, with its state file or without. */
  readonly restarts: readonly { readonly atMs: number; readonly state: "kept" | "lost" }[];
  /** Whether most providers are honest at every instant that is judged. */
  readonly honestMajority: "always" | "never";
  /** What is said before, and in the first five polls from then on, is not judged. Left out: the beginning. */
  readonly judgedFromMs?: number;
}

/** What one play of a world showed that should not be. */
export interface Played {
  readonly accused: readonly string[];
  readonly untold: readonly string[];
  readonly wrongReference: readonly string[];
  readonly noReference: readonly string[];
  /** What is said at the end: the same for every order of arrival. */
  readonly outcome: string;
}

/** The default threshold. */
const LAGGING_MS = 600_000;
const TICK_MS = 15_000;
const START_BLOCK = 40_000_000;
/** What is right after so many polls. */
const POLLS = 3;
/** A step back is believed after three low answers, and a status changes with the second poll that says so. */
const POLLS_TO_TELL_A_FALL = 5;
/** Where all but one fall back slowly, it takes minutes to see that they do. */
const FALLING_MS = 180_000;
/** A fall from the known pace by no more than this cannot be told from blocks that come unevenly. */
const FALL_BLOCKS = 4;
/** The last moment of a tick at which a source is asked. */
const LAST_PHASE_MS = 14_000;
/** Plays a world in one order of arrival: each order asks the sources at other moments of the same tick. */
export function playWorld(world: World, start: StartCore, order = 0): Played {
  return new Play(world, start, order).run();
}

/** What is known of a source while the world is played. */
interface Actor {
  readonly source: WorldSource;
  /** After the beginning of a tick. */
  readonly phaseMs: number;
  /** The place of its present conduct, and how many heights it gave since that began. */
  at: number;
  steady: number;
  /** Polls in a row that failed: after three of them it is unreachable, and is. */
  lost: number;
}

class Play {
  readonly #world: World;
  readonly #random: () => number;
  readonly #core: Core;
  readonly #actors: readonly Actor[];
  readonly #restarts: World["restarts"][number][];
  readonly #accused: string[] = [];
  readonly #untold: string[] = [];
  readonly #wrongReference: string[] = [];
  readonly #noReference: string[] = [];
  /** From then on there must be a reference, and it must be right. */
  #settledAtMs: number;
  /** It has restarted without its state, and has not heard an honest majority since: nobody can be right yet. */
  #isIgnorant = false;

  constructor(world: World, start: StartCore, order: number) {
    this.#world = world;
    this.#random = createRandom(`${world.seed}/order/${order}`);
    this.#core = start(chainsOf(world.sources, world.blockTimeMs));
    this.#actors = world.sources.map((source) => ({
      source,
      phaseMs: Math.floor(this.#random() * LAST_PHASE_MS),
      at: 0,
      steady: 0,
      lost: 0,
    }));
    this.#restarts = [...world.restarts];
    this.#settledAtMs = this.#firstPollsMs();
  }

  run(): Played {
    let report: ChainReport | null = null;
    for (let atMs = 0; atMs < this.#world.lastsMs; atMs += TICK_MS) {
      const isRestart = this.#restart(atMs);
      const asked = this.#actors.filter(({ source }) => isRestart || atMs % source.pollIntervalMs === 0);
      deliver(
        this.#core,
        asked.map((actor) => this.#ask(actor, atMs)),
      );
      this.#learn(atMs);
      report = this.#core.report(T0 + atMs + TICK_MS);
      this.#judge(report, atMs + TICK_MS);
    }
    return {
      accused: this.#accused,
      untold: this.#untold,
      wrongReference: this.#wrongReference,
      noReference: this.#noReference,
      outcome: report === null ? "" : outcomeOf(report),
    };
  }

  #firstPollsMs(): number {
    return Math.max(...this.#world.sources.map(({ pollIntervalMs }) => POLLS * pollIntervalMs));
  }

  #restart(atMs: number): boolean {
    const [next] = this.#restarts;
    if (next === undefined || next.atMs > atMs) {
      return false;
    }
    this.#restarts.shift();
    this.#core.restart(next.state, T0 + atMs);
    if (next.state === "kept") {
      return true;
    }
    this.#settledAtMs = atMs + this.#firstPollsMs();
    this.#isIgnorant = true;
    for (const actor of this.#actors) {
      actor.steady = 0;
    }
    return true;
  }

  #ask(actor: Actor, atMs: number): Observation {
    const { source } = actor;
    const sentAtMs = atMs + actor.phaseMs;
    const at = source.conducts.findLastIndex(({ fromMs }) => fromMs <= sentAtMs);
    if (at !== actor.at) {
      actor.at = at;
      actor.steady = 0;
      const settlesMs = this.#world.honestMajority === "always" ? 0 : FALLING_MS;
      this.#settledAtMs = Math.max(this.#settledAtMs, atMs + settlesMs + POLLS * source.pollIntervalMs);
    }
    const latencyMs = drawLatency(this.#random);
    const said = ask(this.#world, source, { sentAtMs, latencyMs, isLost: this.#random() < source.failures });
    actor.lost = said.kind === "head" ? 0 : actor.lost + 1;
    actor.steady = actor.lost >= POLLS ? 0 : actor.steady + Number(said.kind === "head");
    return said;
  }

  #learn(atMs: number): void {
    if (!this.#isIgnorant) {
      return;
    }
    const heard = this.#actors.filter(({ steady }) => steady > 0);
    const liars = heard.filter((actor) => conductOf(actor) !== "honest");
    const honest = heard.filter((actor) => !liars.includes(actor));
    this.#isIgnorant = providersOf(honest) <= providersOf(liars);
    if (this.#isIgnorant) {
      this.#settledAtMs = Math.max(this.#settledAtMs, atMs + POLLS * TICK_MS);
    }
  }

  #judge(report: ChainReport, nowMs: number): void {
    const { judgedFromMs } = this.#world;
    if (judgedFromMs !== undefined && nowMs < judgedFromMs + POLLS_TO_TELL_A_FALL * TICK_MS) {
      return;
    }
    const isWatched = this.#isWatched();
    for (const actor of this.#actors) {
      if (actor.steady >= POLLS && !isNode(actor.source)) {
        this.#judgeStatus(actor, statusOf(report, actor.source.key), { nowMs, isWatched });
      }
    }
    if (nowMs - TICK_MS >= this.#settledAtMs) {
      this.#judgeReference(report, { nowMs, isWatched });
    }
  }

  /** Where fewer than two honest providers are asked each tick, what the others say is as old as their polls. */
  #isWatched(): boolean {
    const quick = this.#actors.filter(
      (actor) =>
        actor.source.pollIntervalMs === TICK_MS && actor.steady >= POLLS && conductOf(actor) === "honest",
    );
    return this.#world.honestMajority === "never" || providersOf(quick) > 1;
  }

  #judgeStatus(
    { source, at, steady }: Actor,
    status: Status,
    { nowMs, isWatched }: { readonly nowMs: number; readonly isWatched: boolean },
  ): void {
    const since = source.conducts[at];
    if (since === undefined) {
      return;
    }
    if (
      since.conduct.kind === "honest" &&
      status !== "ok" &&
      !(status === "unknown" && this.#isCutOff(source))
    ) {
      this.#accused.push(`${nowMs / TICK_MS} ${source.key} ${status}`);
    }
    const mustBeTold = isWatched && (at === 0 || steady >= POLLS_TO_TELL_A_FALL);
    if (status === "ok" && mustBeTold && isFarWrong(this.#world, { source, since }, nowMs)) {
      this.#untold.push(`${nowMs / TICK_MS} ${source.key} ${since.conduct.kind}`);
    }
  }

  /** Where all others fail at once it may be our own network: nothing can be said of a source that is not asked meanwhile. */
  #isCutOff(source: WorldSource): boolean {
    return this.#actors.every((other) => other.source === source || other.lost > 1);
  }

  #judgeReference(
    { reference }: ChainReport,
    { nowMs, isWatched }: { readonly nowMs: number; readonly isWatched: boolean },
  ): void {
    if (reference === null) {
      this.#noReference.push(`${nowMs / TICK_MS}`);
      return;
    }
    const { blockTimeMs, honestMajority } = this.#world;
    const behind = truthAt(this.#world, nowMs) - reference.block_number;
    // The heights of a tick are up to a tick old at its end, and up to two where a poll failed.
    const most = 2 + (2 * TICK_MS) / blockTimeMs + (honestMajority === "never" ? FALL_BLOCKS : 0);
    if (behind < -2 - TICK_MS / blockTimeMs || (isWatched && behind > most)) {
      this.#wrongReference.push(`${nowMs / TICK_MS} ${-behind}`);
    }
  }
}

function conductOf({ source, at }: Actor): Conduct["kind"] | undefined {
  return source.conducts[at]?.conduct.kind;
}

function providersOf(actors: readonly Actor[]): number {
  return new Set(actors.map(({ source }) => source.provider)).size;
}

/** Statuses and whether there is a reference: heights differ by the moment at which they were read. */
function outcomeOf({ reference, targets }: ChainReport): string {
  const statuses = targets.map(({ key, status }) => `${key}=${status}`);
  return [...statuses, reference === null ? "none" : "reference"].join(" ");
}

function statusOf({ targets }: ChainReport, key: string): Status {
  return targets.find((target) => target.key === key)?.status ?? "unknown";
}

function truthAt({ blockTimeMs }: World, atMs: number): number {
  return START_BLOCK + Math.floor(atMs / blockTimeMs);
}

/** Whether what it says is further from the truth than `lagging`. */
function isFarWrong(
  world: World,
  { source, since }: { readonly source: WorldSource; readonly since: WorldSource["conducts"][number] },
  nowMs: number,
): boolean {
  const { conduct: doing, fromMs } = since;
  const farBlocks = (LAGGING_MS * 1.1) / world.blockTimeMs;
  switch (doing.kind) {
    case "offset":
      return Math.abs(doing.blocks) > farBlocks;
    case "other chain":
      return [0, -POLLS * source.pollIntervalMs].every((ms) => {
        const { block } = saidAt(world, doing, { atMs: nowMs + ms, fromMs });
        return Math.abs(block - truthAt(world, nowMs + ms)) > farBlocks;
      });
    case "stopped":
      return nowMs - fromMs > LAGGING_MS * 1.1 + POLLS * source.pollIntervalMs;
    case "slow":
      return (nowMs - fromMs) * (1 - doing.share) > LAGGING_MS * 1.1 + POLLS * source.pollIntervalMs;
    default:
      return false;
  }
}

interface Asked {
  readonly sentAtMs: number;
  readonly latencyMs: number;
  readonly isLost: boolean;
}

/** What one poll says. The daemon asks a node for its chain before it believes its first block. */
function ask(world: World, source: WorldSource, { sentAtMs, latencyMs, isLost }: Asked): Observation {
  const since = source.conducts.findLast(({ fromMs }) => fromMs <= sentAtMs);
  const times = { source: source.key, sentAtMs: T0 + sentAtMs, receivedAtMs: T0 + sentAtMs + latencyMs };
  const conduct = since?.conduct ?? { kind: "honest" };
  if (isLost || conduct.kind === "fails") {
    return { ...times, kind: "failed", reason: "timeout", detail: "" };
  }
  if (conduct.kind === "other chain" && since?.fromMs === 0 && source.key.startsWith("rpc/")) {
    return { ...times, kind: "failed", reason: "wrong_chain", detail: "" };
  }
  const { block, timeMs } = saidAt(world, conduct, {
    atMs: sentAtMs + latencyMs / 2,
    fromMs: since?.fromMs ?? 0,
  });
  const timestampSec = source.reportsTimes ? Math.floor((T0 + timeMs) / 1_000) : null;
  return { ...times, kind: "head", head: headOf(block, timestampSec) };
}

function saidAt(
  world: World,
  conduct: Exclude<Conduct, { kind: "fails" }>,
  { atMs, fromMs }: { readonly atMs: number; readonly fromMs: number },
): { readonly block: number; readonly timeMs: number } {
  const { blockTimeMs } = world;
  const timeOf = (block: number) => (block - START_BLOCK) * blockTimeMs;
  switch (conduct.kind) {
    case "honest": {
      const block = truthAt(world, atMs);
      return { block, timeMs: timeOf(block) };
    }
    case "offset": {
      const block = Math.max(1, truthAt(world, atMs) + conduct.blocks);
      const isAhead = conduct.blocks > 0;
      return {
        block,
        timeMs: (isAhead ? timeOf(block - conduct.blocks) : timeOf(block)) + conduct.timeShiftMs,
      };
    }
    case "other chain": {
      const made = Math.floor((atMs * conduct.pace) / blockTimeMs);
      return {
        block: Math.max(1, START_BLOCK + conduct.blocks + made),
        timeMs: (made * blockTimeMs) / conduct.pace,
      };
    }
    case "stopped": {
      const block = truthAt(world, fromMs);
      return { block, timeMs: timeOf(block) };
    }
    case "slow": {
      const block = truthAt(world, fromMs + (atMs - fromMs) * conduct.share);
      return { block, timeMs: timeOf(block) };
    }
  }
}
