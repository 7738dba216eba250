import type { Observation } from "../../src/core/model/observation.ts";
import type { ParityReading } from "../../src/core/model/parity.ts";
import type { ParityReport } from "../../src/core/model/report.ts";
import { parityValueOf } from "../../src/dialects/selections.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import { startMonitor } from "./core.ts";
import { percentile, type Row } from "./figures.ts";
import { chainsOf } from "./fleet.ts";
import { firstLack, isDifferent, type ParitySource, type ParityWorld, stateAt } from "./parity-world.ts";
import { drawLatency, headOf, keyOf, T0 } from "./simulated-poll.ts";

/** What a play of a world showed. */
export interface ParityPlayed {
  /** Comparisons that were reported as different although the data are equal. */
  readonly falseDifferences: number;
  /** For each true difference, the number of comparisons before it was reported; null: never reported. */
  readonly comparisonsToTell: readonly (number | null)[];
}

const FAILURES = 0.01;
/** No reorg can undo two comparisons that are this far apart. */
const REORG_BLOCKS = 64;
/** After this number of comparisons, a difference must have been reported. */
const COMPARISONS_TO_TELL = 10;
const PROTOCOL = "p";
/** From this distance on, the heights of the other chain are known to be of another chain. */
const OTHER_CHAIN_BLOCKS = 3_000_000;

interface Poll {
  readonly observation: Observation;
  readonly reading: ParityReading;
}

/** Plays a world: every reading arrives at its own instant, with the height of the same reply. */
export function playParity(world: ParityWorld): ParityPlayed {
  const sources = world.sources.map((source) => ({
    key: keyOfSource(source),
    pollIntervalMs: source.readEachMs,
  }));
  const core = startMonitor(
    chainsOf(sources, world.blockTimeMs, { protocol: PROTOCOL, everyMs: world.everyMs }),
  );
  const polls = world.sources
    .flatMap((source) => pollsOf(world, source))
    .toSorted((a, b) => a.reading.receivedAtMs - b.reading.receivedAtMs);
  const watches = new Map<string, PairWatch>();
  for (const { observation, reading } of polls) {
    core.observe(observation, [reading]);
    for (const pair of core.report(reading.receivedAtMs).parity) {
      const name = `${pair.key} ${pair.against_key}`;
      const watch = watches.get(name) ?? new PairWatch(world, pair);
      watches.set(name, watch);
      watch.see(pair);
    }
  }
  const all = [...watches.values()];
  return {
    falseDifferences: all.filter(({ isFalse }) => isFalse).length,
    comparisonsToTell: all.flatMap((watch) => watch.comparisonsToTell()),
  };
}

/** One row of the table. */
export function parityRowOf(value: string, played: readonly ParityPlayed[]): Row {
  const told = played.flatMap(({ comparisonsToTell }) => comparisonsToTell);
  const counts = told.flatMap((one) => one ?? []);
  return {
    value,
    worlds: played.length,
    "false differences": played.reduce((sum, { falseDifferences }) => sum + falseDifferences, 0),
    "true differences": told.length,
    told: counts.length,
    "comparisons p50": counts.length === 0 ? "–" : percentile(counts, 0.5),
    most: counts.length === 0 ? "–" : percentile(counts, 1),
  };
}

/** The truth about two targets, and what was reported about them. */
class PairWatch {
  isFalse = false;
  readonly #world: ParityWorld;
  readonly #sources: readonly ParitySource[];
  /** The first block at which they truly differ. */
  readonly #lackFrom: number | null;
  #lastComparison: string | null = null;
  #comparisons = 0;
  /** Comparisons up to this block no longer count. */
  #countedBlock: number;
  #told: number | null = null;

  constructor(world: ParityWorld, { key, against_key: against }: ParityReport) {
    this.#world = world;
    this.#sources = world.sources.filter((source) => [key, against].includes(keyOfSource(source)));
    const lacks = this.#sources.flatMap((source) => firstLack(world, source) ?? []);
    this.#lackFrom = lacks[0] ?? null;
    this.#countedBlock = this.#lackFrom ?? 0;
  }

  see({ block, last_comparison, latest, against_latest: other, result }: ParityReport): void {
    const isNew = last_comparison !== null && last_comparison !== this.#lastComparison;
    this.#lastComparison = last_comparison;
    const isSaidDifferent = result === "different" && block !== null;
    if (isSaidDifferent && !isDifferent(this.#world, this.#sources, block)) {
      this.isFalse = true;
    }
    if (this.#lackFrom === null) {
      return;
    }
    const lowest = Math.min(latest?.block_number ?? 0, other?.block_number ?? 0);
    if (isNew && lowest > this.#countedBlock) {
      this.#comparisons += 1;
      this.#countedBlock = lowest + REORG_BLOCKS;
    }
    if (isSaidDifferent && block >= this.#lackFrom) {
      this.#told ??= this.#comparisons;
    }
  }

  /** Null if it was never reported, though it could be; empty if it could not. */
  comparisonsToTell(): readonly (number | null)[] {
    return this.#told === null && this.#comparisons < COMPARISONS_TO_TELL ? [] : [this.#told];
  }
}

function keyOfSource({ variant }: ParitySource): string {
  return keyOf(`${PROTOCOL}/${variant}`);
}

function pollsOf(world: ParityWorld, source: ParitySource): readonly Poll[] {
  const random = createRandom(`${world.seed}/${source.variant}`);
  const count = Math.floor((world.lastsMs - source.phaseMs) / source.readEachMs);
  return Array.from({ length: count }, (_, index) => {
    const scheduledMs = source.phaseMs + index * source.readEachMs;
    const sentAtMs = scheduledMs + random() * 500;
    const tookMs = drawLatency(random);
    const replica = source.replicaBlocks > 0 && random() < 0.3 ? ("low" as const) : ("high" as const);
    const own = stateAt(world, source, { ms: sentAtMs + random() * tookMs, replica });
    const strange = strangePolls(source, scheduledMs);
    // The first two polls for another chain cannot be distinguished from this one by their heights.
    const other = {
      block: own.block + (strange > 2 ? OTHER_CHAIN_BLOCKS : -17),
      value: `other chain ${strange}`,
    };
    const { block, value } = strange === 0 ? own : other;
    const times = { sentAtMs: T0 + sentAtMs, receivedAtMs: T0 + sentAtMs + tookMs };
    const target = keyOfSource(source);
    const isLost = random() < FAILURES;
    const read = parityValueOf(value);
    const observation = { ...times, kind: "head" as const, source: target, head: headOf(block, null) };
    return isLost || read === null
      ? []
      : [
          {
            observation,
            reading: { ...times, kind: "value" as const, probe: "bench", target, block, value: read },
          },
        ];
  }).flat();
}

/** How many replies in a row were for another chain by then. */
function strangePolls({ diverges, readEachMs }: ParitySource, ms: number): number {
  return diverges === null || ms < diverges.fromMs || ms >= diverges.toMs
    ? 0
    : 1 + Math.floor((ms - diverges.fromMs) / readEachMs);
}
