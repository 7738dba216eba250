import pLimit, { type LimitFunction } from "p-limit";

export interface QueueLimits {
  readonly concurrency: number;
  readonly perHost: number;
}

interface Host {
  readonly waiting: (() => Promise<void>)[];
  /** How many places the host has, or waits for. */
  workers: number;
}

/** How long a place is kept for one host. Half of the default timeout. */
const LONGEST_TURN_MS = 5_000;

/**
 * Runs polls with bounded concurrency, in the whole process and for each host. A host keeps its place in the process for its further
 * polls, so that what is compared is asked together, but only for a while: hosts that hang do not delay the others.
 */
export class PollQueue {
  readonly #monotonicMs: () => number;
  readonly #places: LimitFunction;
  readonly #hosts = new Map<string, Host>();
  #perHost: number;

  constructor({ concurrency, perHost }: QueueLimits, monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#places = pLimit(concurrency);
    this.#perHost = perHost;
  }

  /** Applies to polls that begin from now on. */
  setLimits({ concurrency, perHost }: QueueLimits): void {
    this.#places.concurrency = concurrency;
    this.#perHost = perHost;
  }

  add(name: string, poll: () => Promise<void>): Promise<void> {
    const host = this.#hosts.get(name) ?? { waiting: [], workers: 0 };
    this.#hosts.set(name, host);
    return new Promise((resolve, reject) => {
      host.waiting.push(() => poll().then(resolve, reject));
      if (host.workers < this.#perHost) {
        host.workers += 1;
        void this.#work(host);
      }
    });
  }

  inFlight(): number {
    return this.#places.activeCount;
  }

  queued(): number {
    return [...this.#hosts.values()].reduce((total, { waiting }) => total + waiting.length, 0);
  }

  async #work(host: Host): Promise<void> {
    while (host.waiting.length > 0 && host.workers <= this.#perHost) {
      await this.#places(async () => {
        const endMs = this.#monotonicMs() + LONGEST_TURN_MS;
        do {
          await host.waiting.shift()?.();
        } while (host.waiting.length > 0 && this.#monotonicMs() < endMs);
      });
    }
    host.workers -= 1;
  }
}
