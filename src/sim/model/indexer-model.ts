import { type ChainModel, headAt } from "./chain-model.ts";
import { unitAt } from "./random.ts";

/** The behaviour of an indexer on one chain: faults, and properties of real indexers. */
export interface IndexerBehaviour {
  /** False: nothing is indexed yet. */
  readonly started: boolean;
  /** It is this far behind the chain. */
  readonly lagMs: number;
  /** And this many blocks further behind. */
  readonly lagBlocks: number;
  /** How many more blocks it reports than it has processed, e.g. +30 million; negative: fewer. */
  readonly offsetBlocks: number;
  /** The instant at which it stops advancing; null: it does not. */
  readonly freezeAtMs: number | null;
  /** From an instant on it advances at this share of the usual pace, in [0, 1); null: at the full pace. */
  readonly slowdown: { readonly atMs: number; readonly pace: number } | null;
  /** It catches up from a block, after a freeze or a re-index; null: it is at the tip. */
  readonly catchUp: CatchUp | null;
  /** It writes in batches of about this many blocks, of uneven size; 1: block by block. */
  readonly batchBlocks: number;
  /** How many replicas answer under this URL, each up to `wobbleBlocks` behind the first. */
  readonly replicas: number;
  readonly wobbleBlocks: number;
  /** From a block on it skips every nth event while staying at the head; null: it skips none. */
  readonly skips: { readonly fromBlock: number; readonly nth: number } | null;
  /** It indexes this chain instead of its own; null: its own. */
  readonly wrongChain: ChainModel | null;
}

/** From `atMs` on it advances from `fromBlock` at its own speed, until it reaches the tip. */
interface CatchUp {
  readonly atMs: number;
  readonly fromBlock: number;
  readonly blocksPerSec: number;
}

/** One indexer on one chain: plain data from which its height follows at every instant. */
export interface IndexerModel {
  /** Decides batches and replicas. */
  readonly seed: string;
  readonly chain: ChainModel;
  readonly behaviour: IndexerBehaviour;
}

/** A healthy indexer at the head of its chain. */
export const AT_THE_TIP: IndexerBehaviour = {
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

/** The order of the replicas changes once in this time. */
const SHUFFLE_MS = 60_000;

/** What the indexer's first replica has really processed at an instant. Null: not started. */
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

/** How many events up to a block the indexer has rows of. */
export function eventsIndexed({ skips }: Pick<IndexerBehaviour, "skips">, block: number): number {
  const events = Math.floor(block / BLOCKS_PER_EVENT);
  if (skips === null) {
    return events;
  }
  const before = Math.ceil(skips.fromBlock / BLOCKS_PER_EVENT) - 1;
  return events - Math.floor(Math.max(0, events - before) / skips.nth);
}

/** The instant of the chain that an indexer has processed, as if its lag were zero. */
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

/** One batch ends in each cell of `batchBlocks`, at a random block of it, so batches are 1 to 2n - 1 blocks long. */
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
