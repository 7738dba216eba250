/** Runs polls with bounded concurrency: so many in the whole process, and so many a host. */
export interface PollQueue {
  /**
   * Waits for a place of its host, then for one of the process: a hanging host never takes the places of the others.
   * A poll is its own end: what it throws is nobody's to catch.
   */
  readonly add: (host: string, poll: Poll) => void;
  readonly inFlight: () => number;
  readonly queued: () => number;
}

type Poll = () => Promise<void>;

interface Host {
  taken: number;
  /** For a place of the host. */
  readonly waiting: Line<Poll>;
}

/**
 * What waits is a function in a list and nothing more: a round of a large fleet is queued at once.
 *
 * @throws {TypeError} If a limit is not a positive integer.
 */
export function createPollQueue(limits: {
  readonly concurrency: number;
  readonly perHost: number;
}): PollQueue {
  const concurrency = asLimit(limits.concurrency);
  const perHost = asLimit(limits.perHost);
  const hosts = new Map<string, Host>();
  /** Those that have the place of their host. */
  const ready = new Line<{ readonly host: Host; readonly poll: Poll }>();
  let running = 0;

  function hostOf(name: string): Host {
    const host = hosts.get(name) ?? { taken: 0, waiting: new Line() };
    hosts.set(name, host);
    return host;
  }

  function startNext(): void {
    const next = running < concurrency ? ready.shift() : undefined;
    if (next !== undefined) {
      running += 1;
      void run(next.host, next.poll);
    }
  }

  async function run(host: Host, poll: Poll): Promise<void> {
    try {
      await poll();
    } finally {
      running -= 1;
      leave(host);
      startNext();
    }
  }

  function leave(host: Host): void {
    const poll = host.waiting.shift();
    if (poll === undefined) {
      host.taken -= 1;
    } else {
      ready.push({ host, poll });
    }
  }

  return {
    add(name, poll) {
      const host = hostOf(name);
      if (host.taken === perHost) {
        host.waiting.push(poll);
        return;
      }
      host.taken += 1;
      ready.push({ host, poll });
      startNext();
    },
    inFlight: () => running,
    queued: () => [...hosts.values()].reduce((sum, { waiting }) => sum + waiting.length, ready.length),
  };
}

/** First in, first out, each in a moment however many wait: an array's own shift() moves all that is behind. */
class Line<Item> {
  #coming: Item[] = [];
  /** Turned round: the first stands last. */
  #leaving: Item[] = [];

  get length(): number {
    return this.#coming.length + this.#leaving.length;
  }

  push(item: Item): void {
    this.#coming.push(item);
  }

  shift(): Item | undefined {
    if (this.#leaving.length === 0) {
      this.#leaving = this.#coming.reverse();
      this.#coming = [];
    }
    return this.#leaving.pop();
  }
}

function asLimit(limit: number): number {
  if (!Number.isInteger(limit) || limit < 1) {
    throw new TypeError(`Cannot bound polls by a limit that is no positive integer: ${limit}`);
  }
  return limit;
}
