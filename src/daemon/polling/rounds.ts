import type { Use } from "../../budgets/ledger.ts";
import { type Endpoint, type IndexerId, indexerKey } from "../../core/model/fleet.ts";
import type { PollQueue } from "./queue.ts";

export interface RoundsOptions {
  readonly queue: PollQueue;
  /** One poll of one endpoint, with all that follows from it. What it throws is a bug of ours. */
  readonly poll: (endpoint: Endpoint, use: Use) => Promise<void>;
  readonly onSkipped: (indexer: IndexerId) => void;
  readonly onBug: (error: unknown) => void;
  /** A clock that never jumps, in milliseconds. */
  readonly monotonicMs: () => number;
}

/** Starts rounds of polls and knows which are under way; an endpoint is never polled twice at once. */
export class Rounds {
  readonly #options: RoundsOptions;
  /** When each poll under way began, by its endpoint's key; null while it waits for a free place. */
  readonly #underWay = new Map<string, number | null>();
  #isStopped = false;
  #onLastEnd: () => void = () => undefined;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /**
   * Queues a poll of each endpoint, in the order given; those whose former poll is still under way are left out, which
   * for the schedule's own is a skipped round.
   */
  start(endpoints: readonly Endpoint[], use: Use = "poll"): void {
    const skipped = new Map<string, Endpoint>();
    for (const endpoint of endpoints) {
      if (!this.#underWay.has(endpoint.key)) {
        this.#queue(endpoint, use);
      } else if (use === "poll") {
        skipped.set(indexerKey(endpoint), endpoint);
      }
    }
    for (const endpoint of skipped.values()) {
      this.#options.onSkipped(endpoint);
    }
  }

  /** How long the oldest poll has been under way, not counting its wait in the queue. */
  longestMs(): number {
    const nowMs = this.#options.monotonicMs();
    let longest = 0;
    for (const startedMs of this.#underWay.values()) {
      longest = Math.max(longest, startedMs === null ? 0 : nowMs - startedMs);
    }
    return longest;
  }

  /** Polls that still wait are given up; settles when none is under way. */
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
    this.#options.queue.add(endpoint.host, () => this.#poll(endpoint, use));
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
