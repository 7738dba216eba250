import type { Use } from "../../budgets/ledger.ts";
import { type Endpoint, type IndexerId, indexerKey } from "../../core/model/fleet.ts";
import type { PollQueue } from "./queue.ts";

export interface RoundsOptions {
  readonly queue: PollQueue;
  /** Polls one endpoint and takes in the result. What it throws is a bug of ours. */
  readonly poll: (endpoint: Endpoint, use: Use) => Promise<void>;
  readonly onSkipped: (indexer: IndexerId) => void;
  readonly onBug: (error: unknown) => void;
  /** A clock that never jumps, in milliseconds. */
  readonly monotonicMs: () => number;
}

/** Starts rounds of polls and tracks which are under way; no endpoint is polled twice at once. */
export class Rounds {
  readonly #options: RoundsOptions;
  /** When each poll under way began, by its endpoint's key; null while it waits in the queue. */
  readonly #underWay = new Map<string, number | null>();
  #isStopped = false;
  #onLastEnd: () => void = () => undefined;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /**
   * Queues a poll of each endpoint, in the order given. An endpoint whose last poll is still under way is left out; in a
   * scheduled round that counts as a skipped round.
   */
  start(endpoints: readonly Endpoint[], use: Use = "scheduled"): void {
    const skipped = new Map<string, Endpoint>();
    for (const endpoint of endpoints) {
      if (!this.#underWay.has(endpoint.key)) {
        this.#queue(endpoint, use);
      } else if (use === "scheduled") {
        skipped.set(indexerKey(endpoint), endpoint);
      }
    }
    for (const endpoint of skipped.values()) {
      this.#options.onSkipped(endpoint);
    }
  }

  /** How long the oldest poll has been under way, without its wait in the queue. */
  longestMs(): number {
    const nowMs = this.#options.monotonicMs();
    const started = [...this.#underWay.values()].filter((startedMs) => startedMs !== null);
    return started.reduce((longest, startedMs) => Math.max(longest, nowMs - startedMs), 0);
  }

  /** Drops the polls that still wait in the queue; settles when none is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#underWay.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onLastEnd = resolve;
      });
    }
  }

  #queue(endpoint: Endpoint, use: Use): void {
    this.#underWay.set(endpoint.key, null);
    void this.#options.queue.add(endpoint.host, () => this.#poll(endpoint, use));
  }

  async #poll(endpoint: Endpoint, use: Use): Promise<void> {
    const { poll, onBug, monotonicMs } = this.#options;
    try {
      if (!this.#isStopped) {
        this.#underWay.set(endpoint.key, monotonicMs());
        await poll(endpoint, use);
      }
    } catch (error) {
      onBug(error);
    } finally {
      this.#underWay.delete(endpoint.key);
    }
    if (this.#underWay.size === 0) {
      this.#onLastEnd();
    }
  }
}
