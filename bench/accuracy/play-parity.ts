import type { Target } from "../../src/core/model/fleet.ts";
import type { ParityValue } from "../../src/core/model/parity.ts";
import type { PairState } from "../../src/core/parity/pair-state.ts";
import {
  NO_PARITY,
  observeReadings,
  type ParityState,
  pairStateOf,
  type TakenReading,
} from "../../src/core/parity/parity-state.ts";
import type { ParityPair, WatchedProbe } from "../../src/core/parity/watched-probe.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import { firstLack, isDifferent, type ParitySource, type ParityWorld, stateAt } from "./parity-world.ts";

/** What a play of a world showed. */
export interface ParityPlayed {
  /** Times at which two were said to differ that do not. */
  readonly falseDifferences: number;
  /** Of each pair with a true difference, how many comparable polls it took to tell it; null: never told. */
  readonly pollsToTell: readonly (number | null)[];
  /** Rounds, in which each of two was read anew, and those of them in which something could be compared. */
  readonly rounds: number;
  readonly compared: number;
}

const STALE_MS = 300_000;
const FAILURES = 0.01;
const LATENCY_MS = { least: 20, most: 900 } as const;
/** As the judgement has it: what counts as one piece of evidence. */
const NEAR_BLOCKS = 4;
const REORG_BLOCKS = 64;

interface Poll {
  readonly source: ParitySource;
  readonly taken: TakenReading;
  readonly atMs: number;
}

/** Plays a world: every reading arrives at its own instant. */
export function playParity(world: ParityWorld): ParityPlayed {
  const probe = probeOf(world);
  const polls = world.sources.flatMap((source) => pollsOf(world, source)).toSorted((a, b) => a.atMs - b.atMs);
  const watches = probe.pairs.map((pair) => new PairWatch(world, pair));
  let state: ParityState = NO_PARITY;
  for (const { taken } of polls) {
    state = observeReadings(state, { probes: [probe], staleMs: STALE_MS }, [taken]);
    for (const watch of watches) {
      watch.see(taken, pairStateOf(state, probe, watch.pair));
    }
  }
  return {
    falseDifferences: watches.filter(({ isFalse }) => isFalse).length,
    pollsToTell: watches.flatMap((watch) => watch.pollsToTell()),
    rounds: watches.reduce((sum, { rounds }) => sum + rounds, 0),
    compared: watches.reduce((sum, { compared }) => sum + compared, 0),
  };
}

/** What is true of one pair, and what was said of it. */
class PairWatch {
  readonly pair: ParityPair;
  isFalse = false;
  rounds = 0;
  compared = 0;
  readonly #world: ParityWorld;
  readonly #sources: readonly ParitySource[];
  /** The first block at which they truly differ. */
  readonly #lackFrom: number | null;
  #readAnew = new Set<string>();
  #lastBlock = 0;
  #isCompared = false;
  /** Those read since the last poll that counted. */
  #sinceEvidence = new Set<string>();
  #evidence: { readonly block: number; readonly isNear: boolean; readonly atMs: number } | null = null;
  #polls = 0;
  #firstMs = 0;
  #told: number | null = null;

  constructor(world: ParityWorld, pair: ParityPair) {
    this.pair = pair;
    this.#world = world;
    const variants = [pair.target.variant, pair.against.variant];
    this.#sources = world.sources.filter(({ variant }) => variants.includes(variant));
    const lacks = this.#sources.flatMap((source) => firstLack(world, source) ?? []);
    this.#lackFrom = lacks[0] ?? null;
  }

  see({ reading }: TakenReading, state: PairState): void {
    if (reading.target !== this.pair.target.key && reading.target !== this.pair.against.key) {
      return;
    }
    const block = state.last?.block ?? 0;
    const isNew = block > this.#lastBlock;
    this.#lastBlock = block;
    this.#countRound(reading.target, isNew);
    this.#sinceEvidence.add(reading.target);
    const { comparison, result } = state;
    if (
      result === "different" &&
      comparison !== null &&
      !isDifferent(this.#world, this.#sources, comparison.block)
    ) {
      this.isFalse = true;
    }
    if (this.#lackFrom !== null && this.#told === null && block >= this.#lackFrom && isNew) {
      this.#countEvidence(block, reading.receivedAtMs);
    }
    if (this.#lackFrom !== null && result === "different" && (comparison?.block ?? 0) >= this.#lackFrom) {
      this.#told ??= this.#polls;
    }
  }

  /** Null where it was never told, though it could be; nothing where it could not. */
  pollsToTell(): readonly (number | null)[] {
    const spanMs = (this.#evidence?.atMs ?? 0) - this.#firstMs;
    return this.#told === null && (this.#polls < 3 || spanMs < 120_000) ? [] : [this.#told];
  }

  #countRound(target: string, isNew: boolean): void {
    this.#isCompared ||= isNew;
    this.#readAnew.add(target);
    if (this.#readAnew.size === 2) {
      this.rounds += 1;
      this.compared += Number(this.#isCompared);
      this.#readAnew = new Set();
      this.#isCompared = false;
    }
  }

  /** A poll counts where it brought a height that is far enough from the last, or both stand at the head; two minutes are three polls at least. */
  #countEvidence(block: number, atMs: number): void {
    const behind = Math.max(...this.#sources.map(({ lagMs, readEachMs }) => lagMs + readEachMs));
    const isNear = behind / this.#world.blockTimeMs <= NEAR_BLOCKS;
    const last = this.#evidence;
    const isAnew = last === null || this.#sinceEvidence.size === 2;
    const isApart = last === null || (isNear && last.isNear) || block - last.block > REORG_BLOCKS;
    const spreadMs = this.#polls === 2 ? 120_000 : 0;
    if (isAnew && isApart && (last === null || atMs - this.#firstMs >= spreadMs)) {
      this.#polls += 1;
      this.#sinceEvidence = new Set();
      this.#firstMs = last === null ? atMs : this.#firstMs;
      this.#evidence = { block, isNear, atMs };
    }
  }
}

function probeOf(world: ParityWorld): WatchedProbe {
  const targets = world.sources.map((source) => targetOf(source));
  return {
    name: "bench",
    everyMs: world.everyMs,
    targets: targets.map((target) => ({ target, select: "", query: "" })),
    pairs: targets.flatMap((target, index) =>
      targets.slice(0, index).map((against) => ({ target, against })),
    ),
  };
}

function targetOf({ variant, readEachMs }: ParitySource): Target {
  return {
    key: `p/${variant}/production/bench`,
    protocol: "p",
    variant,
    tier: "production",
    chain: "bench",
    chainId: 1,
    explorer: null,
    playground: null,
    pollIntervalMs: readEachMs,
  };
}

function pollsOf(world: ParityWorld, source: ParitySource): readonly Poll[] {
  const random = createRandom(`${world.seed}/${source.variant}`);
  const count = Math.floor((world.lastsMs - source.phaseMs) / source.readEachMs);
  return Array.from({ length: count }, (_, index) => {
    const scheduledMs = source.phaseMs + index * source.readEachMs;
    const sentAtMs = scheduledMs + random() * 500;
    const tookMs = LATENCY_MS.least + random() * (LATENCY_MS.most - LATENCY_MS.least);
    const replica = source.replicaBlocks > 0 && random() < 0.3 ? ("low" as const) : ("high" as const);
    const own = stateAt(world, source, { ms: sentAtMs + random() * tookMs, replica });
    const strange = strangePolls(source, scheduledMs);
    const { block, value } = strange === 0 ? own : { block: own.block - 17, value: `other chain ${strange}` };
    return { source, random: random(), block, value, sentAtMs, receivedAtMs: sentAtMs + tookMs, strange };
  })
    .filter((poll) => poll.random >= FAILURES)
    .map(
      ({ block, value, sentAtMs, receivedAtMs, strange }): Poll => ({
        source,
        atMs: receivedAtMs,
        taken: {
          reading: {
            kind: "value",
            probe: "bench",
            target: targetOf(source).key,
            block,
            value: parityValueOf(value),
            sentAtMs,
            receivedAtMs,
          },
          // Two polls pass until it is known to be on another chain.
          trust: strange > 2 ? "doubted" : "trusted",
          deployment: null,
        },
      }),
    );
}

/** How many polls it has answered for another chain by then; 0 while it does not. */
function strangePolls({ diverges, readEachMs }: ParitySource, ms: number): number {
  return diverges === null || ms < diverges.fromMs || ms >= diverges.toMs
    ? 0
    : 1 + Math.floor((ms - diverges.fromMs) / readEachMs);
}

function parityValueOf(value: string | number | boolean | null): ParityValue {
  return {
    text: typeof value === "string" ? value : JSON.stringify(value),
    isNumber: typeof value === "number",
  };
}
