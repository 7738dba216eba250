import type { Use } from "../../budgets/ledger.ts";
import { type Endpoint, type IndexerId, indexerKey } from "../../core/model/fleet.ts";
import { memoize } from "../../core/model/memoize.ts";
import type { PollQueue } from "./queue.ts";

/** When each poll under way began, by `requestIdOf` its endpoint; null while it waits in the queue. */
export type PollsUnderWay = Map<string, number | null>;

export interface RoundsOptions {
  readonly queue: PollQueue;
  /** Outlives a reload, as the polls do. */
  readonly underWay: PollsUnderWay;
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
  #started = 0;
  #isStopped = false;
  #onLastEnd: () => void = () => undefined;
  #ended: Promise<void> | null = null;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /**
   * Queues a poll of each endpoint, in the order given. An endpoint whose last poll is still under way is left out; in a
   * scheduled round that counts as a skipped round.
   */
  start(endpoints: readonly Endpoint[], use: Use = "scheduled"): void {
    if (this.#isStopped) {
      return;
    }
    const skipped = new Map<string, Endpoint>();
    for (const endpoint of endpoints) {
      if (!this.isUnderWay(endpoint)) {
        this.#queue(endpoint, use);
      } else if (use === "scheduled") {
        skipped.set(indexerKey(endpoint), endpoint);
      }
    }
    for (const endpoint of skipped.values()) {
      this.#options.onSkipped(endpoint);
    }
  }

  isUnderWay(endpoint: Endpoint): boolean {
    return this.#options.underWay.has(requestIdOf(endpoint));
  }

  /** How long the oldest poll has been under way, without its wait in the queue. */
  longestMs(): number {
    const nowMs = this.#options.monotonicMs();
    const started = [...this.#options.underWay.values()].filter((startedMs) => startedMs !== null);
    return started.reduce((longest, startedMs) => Math.max(longest, nowMs - startedMs), 0);
  }

  /** Drops the polls that still wait in the queue; settles when all that it has started are over. */
  async stop(): Promise<void> {
    if (!this.#isStopped) {
      this.#isStopped = true;
      const { underWay } = this.#options;
      for (const [id, startedMs] of underWay) {
        if (startedMs === null) {
          underWay.delete(id);
        }
      }
    }
    this.#ended ??= new Promise((resolve) => {
      this.#onLastEnd = resolve;
    });
    if (this.#started > 0) {
      await this.#ended;
    }
  }

  #queue(endpoint: Endpoint, use: Use): void {
    this.#options.underWay.set(requestIdOf(endpoint), null);
    void this.#options.queue.add(endpoint.host, () => this.#poll(endpoint, use));
  }

  async #poll(endpoint: Endpoint, use: Use): Promise<void> {
    if (this.#isStopped) {
      return;
    }
    const { poll, onBug, monotonicMs, underWay } = this.#options;
    const id = requestIdOf(endpoint);
    this.#started += 1;
    underWay.set(id, monotonicMs());
    try {
      await poll(endpoint, use);
    } catch (error) {
      onBug(error);
    }
    underWay.delete(id);
    this.#started -= 1;
    if (this.#started === 0) {
      this.#onLastEnd();
    }
  }
}

/** Names what a poll of an endpoint sends, and where. It may hold a key, and must not leave the process. */
export const requestIdOf = memoize(({ key, url, dialect, headers, chainId }: Endpoint): string =>
  JSON.stringify([key, url, dialect, headers, chainId]),
);
