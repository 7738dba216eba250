import { type Fork, hashOf, timeOf } from "../model/chain-model.ts";
import {
  AT_THE_TIP,
  catchUpWithin,
  eventsIndexed,
  heightAt,
  type IndexerBehaviour,
  type IndexerModel,
  processedAt,
} from "../model/indexer-model.ts";
import { hexAt } from "../model/random.ts";
import type { ServedRow } from "../servers/answer.ts";
import type { SimulatedChain } from "./simulated-fleet.ts";

/** What an answer contains of a target in addition to its height. */
interface AnswerBehaviour {
  /** The number of its rows in an answer for many chains. */
  readonly rows: number;
  readonly indexingErrors: boolean;
  readonly deployment: string;
  /** The fork of its hashes. */
  readonly fork: Fork;
  /** Values in place of the true ones, e.g. of a wrong type. */
  readonly says: Partial<Omit<ServedRow, "slug">>;
}

export type TargetBehaviour = IndexerBehaviour & AnswerBehaviour;

/** One indexer on one chain, as one endpoint serves it. */
export class SimulatedTarget {
  /** `protocol/variant/tier/chain`; an RPC node's is its endpoint's. */
  readonly key: string;
  readonly chain: SimulatedChain;
  readonly #seed: string;
  readonly #nowMs: () => number;
  readonly #healthy: TargetBehaviour;
  #behaviour: TargetBehaviour;

  constructor(key: string, chain: SimulatedChain, nowMs: () => number, behaviour: Partial<TargetBehaviour>) {
    this.key = key;
    this.chain = chain;
    this.#seed = `synclag/${key}`;
    this.#nowMs = nowMs;
    this.#healthy = {
      ...AT_THE_TIP,
      rows: 1,
      indexingErrors: false,
      deployment: `Qm${hexAt(this.#seed, 44)}`,
      fork: "main",
      says: {},
      ...behaviour,
    };
    this.#behaviour = this.#healthy;
  }

  get behaviour(): TargetBehaviour {
    return this.#behaviour;
  }

  set(behaviour: Partial<TargetBehaviour>): void {
    this.#behaviour = { ...this.#behaviour, ...behaviour };
  }

  /** Returns to its state at the start of the fleet. */
  heal(): void {
    this.#behaviour = this.#healthy;
  }

  /** Stops advancing. */
  freeze(): void {
    this.set({ freezeAtMs: this.#nowMs() });
  }

  /** Advances at this share of its pace, in [0, 1), and so falls behind without a step back. */
  slow(pace: number): void {
    this.set({ slowdown: { atMs: this.#nowMs(), pace } });
  }

  /** From the next event on, it lacks the row of every nth event while staying at the head. */
  skipEvents(nth: number): void {
    this.set({ skips: { fromBlock: (this.processedAt() ?? 0) + 1, nth } });
  }

  /** Resumes from its present block, and reaches the tip after `withinMs`. */
  thaw(withinMs: number): void {
    const fromBlock = processedAt(this.#model(), this.#nowMs());
    this.set({ freezeAtMs: null, slowdown: null });
    this.#catchUpFrom(fromBlock ?? 0, withinMs);
  }

  /** Goes back to `backBlocks` before the tip, and reaches the tip after `withinMs`. */
  reindex(options: { readonly backBlocks: number; readonly withinMs: number }): void {
    this.#catchUpFrom(Math.max(0, this.chain.headAt() - options.backBlocks), options.withinMs);
  }

  /** What it has really processed, now or at an instant. Null: not started. */
  processedAt(atMs = this.#nowMs()): number | null {
    return processedAt(this.#model(), atMs);
  }

  /** The height that a request at this instant gets. Null: not started. */
  heightAt(atMs = this.#nowMs()): number | null {
    return heightAt(this.#model(), atMs);
  }

  /** Everything that a request at this instant gets. */
  rowsAt(atMs: number): readonly ServedRow[] {
    const { rows, says, fork, ...behaviour } = this.#behaviour;
    const block = heightAt(this.#model(), atMs);
    const blockAt = (height: number | null) => ({
      block: height,
      timestampSec: height === null ? null : this.#blockTimeSec(height, atMs),
      hash: height === null ? null : hashOf((behaviour.wrongChain ?? this.chain.model).id, height, fork),
    });
    const row: ServedRow = {
      slug: this.chain.slug,
      chainId: this.chain.id,
      ...blockAt(block),
      deployment: behaviour.deployment,
      indexingErrors: behaviour.indexingErrors,
      campaigns: block === null ? 0 : eventsIndexed(behaviour, block),
      blockAt: (height) => blockAt(block !== null && height <= block ? height : null),
      ...says,
    };
    return Array.from({ length: rows }, () => row);
  }

  /** A reported height may lie in the chain's future: then the time of the answer. */
  #blockTimeSec(block: number, atMs: number): number {
    const chain = this.#behaviour.wrongChain ?? this.chain.model;
    return Math.floor(Math.min(timeOf(chain, block), atMs) / 1_000);
  }

  #model(): IndexerModel {
    return { seed: this.#seed, chain: this.chain.model, behaviour: this.#behaviour };
  }

  #catchUpFrom(fromBlock: number, withinMs: number): void {
    this.set({ catchUp: catchUpWithin(this.#model(), { fromBlock, atMs: this.#nowMs(), withinMs }) });
  }
}
