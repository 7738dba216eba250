import pLimit, { type LimitFunction } from "p-limit";

export interface QueueLimits {
  readonly concurrency: number;
  readonly perHost: number;
}

/** Runs polls with bounded concurrency, in the whole process and for each host: hosts that hang do not delay the others. */
export class PollQueue {
  readonly #places: LimitFunction;
  readonly #hosts = new Map<string, LimitFunction>();
  #perHost: number;

  constructor({ concurrency, perHost }: QueueLimits) {
    this.#places = pLimit(concurrency);
    this.#perHost = perHost;
  }

  /** Applies to polls that begin from now on. */
  setLimits({ concurrency, perHost }: QueueLimits): void {
    this.#perHost = perHost;
    this.#places.concurrency = concurrency;
    for (const host of this.#hosts.values()) {
      host.concurrency = perHost;
    }
  }

  add(name: string, poll: () => Promise<void>): Promise<void> {
    const host = this.#hosts.get(name) ?? pLimit(this.#perHost);
    this.#hosts.set(name, host);
    return host(() => this.#places(poll));
  }

  inFlight(): number {
    return this.#places.activeCount;
  }

  queued(): number {
    const waiting = [...this.#hosts.values()].map(({ pendingCount }) => pendingCount);
    return waiting.reduce((total, count) => total + count, this.#places.pendingCount);
  }
}
