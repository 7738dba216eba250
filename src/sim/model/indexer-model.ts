import { type ChainModel, headAt } from "./chain-model.ts";
import { unitAt } from "./random.ts";

/** The behaviour of an indexer on one chain: its faults, and properties that real indexers have. */
export interface IndexerBehaviour {
  /** False: nothing is indexed yet. */
  readonly started: boolean;
  /** How far the indexer is behind the chain, in time. */
  readonly lagMs: number;
  /** How many more blocks it is behind. */
  readonly lagBlocks: number;
  /** Added to its true height, e.g. 30 million or a negative number. */
  readonly offsetBlocks: number;
  /** The instant at which it stops advancing; null: never. */
  readonly freezeAtMs: number | null;
  /** From `atMs` on, its speed is multiplied by `pace`, in [0, 1). Null: full speed. */
  readonly slowdown: { readonly atMs: number; readonly pace: number } | null;
  /** How it catches up after a freeze or a re-index; null: it does not need to. */
  readonly catchUp: CatchUp | null;
  /** The average size of its batches, in blocks; 1: it writes block by block. */
  readonly batchBlocks: number;
  /** The number of replicas behind its URL. Each is up to `wobbleBlocks` behind the first. */
  readonly replicas: number;
  readonly wobbleBlocks: number;
  /** From `fromBlock` on it skips every nth event while staying at the head; null: it skips none. */
  readonly skips: { readonly fromBlock: number; readonly nth: number } | null;
  /** The chain that it indexes instead of its own, or null. */
  readonly wrongChain: ChainModel | null;
}

/** From `atMs` on, an indexer advances from `fromBlock` at this speed, until it reaches the head. */
interface CatchUp {
  readonly atMs: number;
  readonly fromBlock: number;
  readonly blocksPerSec: number;
}

/** One indexer on one chain: plain data that determine its height at every instant. */
export interface IndexerModel {
  /** The seed of its batches and replicas. */
  readonly seed: string;
  readonly chain: ChainModel;
  readonly behaviour: IndexerBehaviour;
}

/** A healthy indexer at the head of its chain. */
export const AT_THE_HEAD: IndexerBehaviour = {
  started: true,
  lagMs: 0,
  lagBlocks: 0,
  offsetBlocks: 0,
  freezeAtMs: null,
  slowdown: null,
  catchUp: null,
  batchBlocks: 1,
  replicas: 1,
  wobbleBlocks: 0,
  skips: null,
  wrongChain: null,
};

/** Every chain has one event in this number of blocks. */
const BLOCKS_PER_EVENT = 100;

/** The lags of the replicas change once in this time. */
const SHUFFLE_MS = 60_000;

/** The height that the indexer's first replica reports at an instant. Null: not started. */
export function processedAt(model: IndexerModel, atMs: number): number | null {
  const { behaviour } = model;
  if (!behaviour.started) {
    return null;
  }
  const livedMs = livedUntil(behaviour, atMs);
  const head = headAt(behaviour.wrongChain ?? model.chain, livedMs - behaviour.lagMs);
  const reached = Math.min(head - behaviour.lagBlocks, caughtUpTo(behaviour.catchUp, livedMs));
  return Math.max(0, lastBatchEnd(model, reached) + behaviour.offsetBlocks);
}

/** The height in the reply to a request at an instant, from one of the replicas. Null: not started. */
export function heightAt(model: IndexerModel, atMs: number): number | null {
  const processed = processedAt(model, atMs);
  return processed === null ? null : Math.max(0, processed - replicaLag(model, atMs));
}

/** The number of rows that the indexer has for the events up to a block. */
export function eventsIndexed({ skips }: Pick<IndexerBehaviour, "skips">, block: number): number {
  const events = Math.floor(block / BLOCKS_PER_EVENT);
  if (skips === null) {
    return events;
  }
  const before = Math.ceil(skips.fromBlock / BLOCKS_PER_EVENT) - 1;
  return events - Math.floor(Math.max(0, events - before) / skips.nth);
}

/** The instant up to which an indexer without a lag has processed its chain. A freeze or slowdown makes it earlier than `atMs`. */
function livedUntil({ freezeAtMs, slowdown }: IndexerBehaviour, atMs: number): number {
  const untilMs = Math.min(atMs, freezeAtMs ?? atMs);
  return slowdown === null || untilMs <= slowdown.atMs
    ? untilMs
    : slowdown.atMs + (untilMs - slowdown.atMs) * slowdown.pace;
}

function caughtUpTo(catchUp: CatchUp | null, atMs: number): number {
  return catchUp === null
    ? Number.POSITIVE_INFINITY
    : Math.floor(catchUp.fromBlock + (Math.max(0, atMs - catchUp.atMs) / 1_000) * catchUp.blocksPerSec);
}

/** The end of the last batch. One batch ends at a random block in every `batchBlocks` blocks. */
function lastBatchEnd({ seed, behaviour: { batchBlocks } }: IndexerModel, block: number): number {
  if (batchBlocks <= 1) {
    return block;
  }
  const endIn = (cell: number): number =>
    cell * batchBlocks + Math.floor(unitAt(`${seed}/batch`, cell) * batchBlocks);
  const cell = Math.floor(block / batchBlocks);
  return endIn(cell) <= block ? endIn(cell) : endIn(cell - 1);
}

function replicaLag({ seed, behaviour: { replicas, wobbleBlocks } }: IndexerModel, atMs: number): number {
  const replica = Math.floor(unitAt(`${seed}/pick`, atMs) * replicas);
  const shuffle = Math.floor(atMs / SHUFFLE_MS);
  return replica === 0 ? 0 : Math.round(unitAt(`${seed}/replica/${replica}`, shuffle) * wobbleBlocks);
}
