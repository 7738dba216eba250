import { hashOf, headAt, timeOf } from "../model/chain-model.ts";
import {
  AT_THE_HEAD,
  eventsIndexed,
  heightAt,
  type IndexerBehaviour,
  type IndexerModel,
  processedAt,
} from "../model/indexer-model.ts";
import { hexAt } from "../model/random.ts";
import type { ServedRow } from "../servers/answer.ts";
import type { SimulatedChain } from "./simulated-fleet.ts";

/** The parts of a reply about a target other than its height. */
interface AnswerBehaviour {
  /** The number of the target's rows in a reply. */
  readonly rows: number;
  readonly indexingErrors: boolean;
  readonly deployment: string;
  /** The fork of its hashes: `main`, or any other name. */
  readonly fork: string;
  /** Values that replace the true ones, e.g. values of a wrong type. */
  readonly says: Partial<Omit<ServedRow, "slug">>;
}

export type TargetBehaviour = IndexerBehaviour & AnswerBehaviour;

/** One indexer on one chain, as one endpoint serves it. */
export class SimulatedTarget {
  /** `protocol/variant/tier/chain`; for an RPC node, the key of its endpoint. */
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
      ...AT_THE_HEAD,
      rows: 1,
      indexingErrors: false,
      deployment: `Qm${hexAt(this.#seed, 44)}`,
      fork: "main",
      says: {},
      ...behaviour,
    };
    this.#behaviour = this.#healthy;
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

  /** Advances at this share of its pace, in [0, 1), so that it falls behind without a step back. */
  slow(pace: number): void {
    this.set({ slowdown: { atMs: this.#nowMs(), pace } });
  }

  /** Lacks the row of every nth event from now on, while it stays at the head. */
  skipEvents(nth: number): void {
    this.set({ skips: { fromBlock: this.#processed() + 1, nth } });
  }

  /** Resumes from its current block, and reaches the head after `withinMs`. */
  thaw(withinMs: number): void {
    const fromBlock = this.#processed();
    this.set({ freezeAtMs: null, slowdown: null });
    this.#catchUpFrom(fromBlock, withinMs);
  }

  /** Goes back to `backBlocks` before the head, and reaches the head after `withinMs`. */
  reindex({ backBlocks, withinMs }: { readonly backBlocks: number; readonly withinMs: number }): void {
    this.#catchUpFrom(Math.max(0, this.chain.head() - backBlocks), withinMs);
  }

  /** The rows in the reply to a request at this instant. */
  rowsAt(atMs: number): readonly ServedRow[] {
    const { rows, says, fork, ...behaviour } = this.#behaviour;
    const block = heightAt(this.#model(), atMs);
    const chain = behaviour.wrongChain ?? this.chain.model;
    // If the reported block does not exist yet, its time is the time of the reply.
    const timeSec = (height: number) => Math.floor(Math.min(timeOf(chain, height), atMs) / 1_000);
    const blockAt = (height: number | null) => ({
      block: height,
      timestampSec: height === null ? null : timeSec(height),
      hash: height === null ? null : hashOf(chain.id, height, fork),
    });
    const row: ServedRow = {
      slug: this.chain.model.slug,
      chainId: this.chain.model.id,
      ...blockAt(block),
      deployment: behaviour.deployment,
      indexingErrors: behaviour.indexingErrors,
      campaigns: block === null ? 0 : eventsIndexed(behaviour, block),
      blockAt: (height) => blockAt(block !== null && height <= block ? height : null),
      ...says,
    };
    return Array.from({ length: rows }, () => row);
  }

  #model(): IndexerModel {
    return { seed: this.#seed, chain: this.chain.model, behaviour: this.#behaviour };
  }

  /** The height of its first replica now. */
  #processed(): number {
    return processedAt(this.#model(), this.#nowMs()) ?? 0;
  }

  /** Catches up at the speed that brings it to its chain's head in time. */
  #catchUpFrom(fromBlock: number, withinMs: number): void {
    const atMs = this.#nowMs();
    const head = headAt(this.#behaviour.wrongChain ?? this.chain.model, atMs + withinMs);
    const blocksPerSec = Math.max(1, ((head - fromBlock) * 1_000) / withinMs);
    this.set({ catchUp: { atMs, fromBlock, blocksPerSec } });
  }
}
