import { createRandom } from "../../src/sim/model/random.ts";
import { pick } from "./simulated-poll.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** How the compared value changes from block to block. */
export const VALUE_KINDS = ["count", "id", "comes and goes", "up and down", "null at first"] as const;
type ValueKind = (typeof VALUE_KINDS)[number];

/** Blocks between two changes of the value. */
const EVENT_BLOCKS = [1, 3, 10, 100, 1_000, 10_000, Number.POSITIVE_INFINITY] as const;

export interface ParitySource {
  readonly variant: string;
  /** Between two readings: the slower of `every` and the schedule. */
  readonly readEachMs: number;
  readonly phaseMs: number;
  readonly lagMs: number;
  /** How many blocks the low replicas are behind; 0: there is one replica. */
  readonly replicaBlocks: number;
  /** How long after a reorg the source follows it. */
  readonly reorgDelayMs: number;
  /** From this block on it skips every nth event; null: it skips none. */
  readonly skips: { readonly fromBlock: number; readonly nth: number } | null;
  /** The time in which it replies for another chain, or null. */
  readonly diverges: { readonly fromMs: number; readonly toMs: number } | null;
}

/** A reorg of the chain: the replaced blocks have other events afterwards. */
interface Reorg {
  readonly atMs: number;
  readonly fromBlock: number;
  readonly toBlock: number;
  /** How many more events (or fewer, if negative) these blocks have on the new fork. */
  readonly extraEvents: number;
  /** Whether the height steps back, or the new fork is as long at once. */
  readonly height: "steps back" | "continues";
}

export interface ParityWorld {
  readonly seed: string;
  readonly blockTimeMs: number;
  readonly eventBlocks: number;
  readonly kind: ValueKind;
  readonly lastsMs: number;
  readonly everyMs: number;
  readonly sources: readonly ParitySource[];
  readonly reorgs: readonly Reorg[];
}

const START_BLOCK = 1_000_000;

/** One of the random worlds: the same index always gives the same world. */
export function parityWorld(index: number): ParityWorld {
  const seed = `parity world/${index}`;
  const random = createRandom(seed);
  const blockTimeMs = 250 * 48 ** random();
  const everyMs = pick([15_000, 60_000, 10 * MINUTE], random);
  const lastsMs = everyMs === 10 * MINUTE ? 48 * HOUR : 8 * HOUR;
  const base = { seed, blockTimeMs, lastsMs, everyMs, eventBlocks: pick(EVENT_BLOCKS, random) };
  const isBroken = random() < 0.5;
  const kind = pick(isBroken ? (["count", "id"] as const) : VALUE_KINDS, random);
  const sources = Array.from({ length: 2 + Math.floor(random() * 2) }, (_, at): ParitySource => {
    const fromBlock = blockAt(base, (0.3 + 0.3 * random()) * lastsMs);
    const fromMs = random() * lastsMs;
    return {
      variant: `v${at}`,
      readEachMs: Math.max(everyMs, pick([15_000, 15_000, 10 * MINUTE], random)),
      phaseMs: random() < 0.5 ? 0 : random() * everyMs,
      lagMs: pick([0, 0, 3 * base.blockTimeMs, 5 * MINUTE, HOUR], random) * (0.8 + 0.4 * random()),
      replicaBlocks: random() < 0.3 ? 1 + Math.floor(random() * 100) : 0,
      reorgDelayMs: random() * 20_000,
      skips: isBroken && at === 1 ? { fromBlock, nth: pick([1, 2, 10], random) } : null,
      diverges: random() < 0.1 ? { fromMs, toMs: fromMs + random() * HOUR } : null,
    };
  });
  return { ...base, kind, sources, reorgs: drawReorgs(base, random) };
}

/** The chain's own height, without its reorgs. */
function blockAt({ blockTimeMs }: Pick<ParityWorld, "blockTimeMs">, atMs: number): number {
  return START_BLOCK + Math.floor(atMs / blockTimeMs);
}

/** The height of a source at an instant, and the value that it has there. */
export function stateAt(
  world: ParityWorld,
  source: ParitySource,
  at: { readonly ms: number; readonly replica: "low" | "high" },
): { readonly block: number; readonly value: string | number | boolean | null } {
  const block = Math.max(
    1,
    heightAt(world, source, at.ms) - (at.replica === "low" ? source.replicaBlocks : 0),
  );
  return { block, value: shownAs(world.kind, eventsAt(world, source, { block, ms: at.ms })) };
}

/** Whether two sources that follow the final chain have different data at a block. */
export function isDifferent(world: ParityWorld, sources: readonly ParitySource[], block: number): boolean {
  const events = sources.map((source) => eventsAt(world, source, { block, ms: Number.POSITIVE_INFINITY }));
  return new Set(events).size > 1;
}

/** The first block at which it lacks an event, or null. */
export function firstLack(world: ParityWorld, source: ParitySource): number | null {
  const { eventBlocks } = world;
  if (source.skips === null || !Number.isFinite(eventBlocks)) {
    return null;
  }
  const { fromBlock, nth } = source.skips;
  return (Math.ceil(fromBlock / eventBlocks) + nth - 1) * eventBlocks;
}

function heightAt(world: ParityWorld, { lagMs, reorgDelayMs }: ParitySource, ms: number): number {
  const block = blockAt(world, ms - lagMs);
  const under = world.reorgs.find(
    ({ atMs, height, fromBlock, toBlock }) =>
      height === "steps back" && ms >= atMs + reorgDelayMs && block >= fromBlock && block <= toBlock + 64,
  );
  if (under === undefined) {
    return block;
  }
  // The height climbs again from the block at which the forks part, and catches up after twice the number of replaced blocks.
  const climbed = blockAt(world, ms) - blockAt(world, under.atMs);
  return Math.min(block, under.fromBlock - 1 + 2 * climbed);
}

/** How many events it has indexed up to a block, by the fork that it knows at an instant. */
function eventsAt(
  { eventBlocks, reorgs }: ParityWorld,
  { reorgDelayMs, skips }: ParitySource,
  { block, ms }: { readonly block: number; readonly ms: number },
): number {
  const events = Math.floor(block / eventBlocks);
  const extra = reorgs
    .filter(({ atMs }) => ms >= atMs + reorgDelayMs)
    .reduce((sum, { extraEvents, fromBlock, toBlock }) => {
      const share = Math.min(1, Math.max(0, (block - fromBlock + 1) / (toBlock - fromBlock + 1)));
      return sum + Math.trunc(extraEvents * share);
    }, 0);
  const lacking =
    skips === null
      ? 0
      : Math.floor(Math.max(0, events - Math.ceil(skips.fromBlock / eventBlocks) + 1) / skips.nth);
  return events + extra - lacking;
}

function shownAs(kind: ValueKind, events: number): string | number | boolean | null {
  switch (kind) {
    case "count":
      return events;
    case "id":
      return `0x${events.toString(16)}-campaign`;
    case "comes and goes":
      return Math.imul(events, 2_654_435_761) % 3 === 0;
    case "up and down":
      return Math.round(5 * Math.sin(events / 3));
    case "null at first":
      return Math.imul(events, 2_246_822_507) % 7 < 3 ? null : events;
  }
}

function drawReorgs(
  world: Pick<ParityWorld, "blockTimeMs" | "lastsMs" | "eventBlocks">,
  random: () => number,
): readonly Reorg[] {
  const count = Math.floor(random() * 6);
  return Array.from({ length: count }, (_, index): Reorg => {
    // The reorgs are apart, so that none replaces blocks of another one.
    const atMs = ((index + 0.2 + 0.6 * random()) / count) * world.lastsMs;
    const toBlock = blockAt(world, atMs);
    const depth = 1 + Math.floor(random() * 64);
    const replaced = Math.ceil(depth / world.eventBlocks);
    return {
      atMs,
      toBlock,
      fromBlock: toBlock - depth + 1,
      extraEvents: Math.round((random() - 0.5) * 2 * replaced),
      height: random() < 0.5 ? "steps back" : "continues",
    };
  });
}
