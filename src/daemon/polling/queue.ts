import { setImmediate } from "node:timers/promises";
import pLimit, { type LimitFunction } from "p-limit";
import PQueue from "p-queue";

/** Runs polls with bounded concurrency, in the whole process and for each host. */
export interface PollQueue {
  /** Settles as the poll does. */
  readonly add: (host: string, poll: () => Promise<void>) => Promise<void>;
  readonly inFlight: () => number;
  readonly queued: () => number;
}

export interface QueueLimits {
  readonly concurrency: number;
  readonly perHost: number;
}

/** A host is slow or hangs if its polls wait longer for a slot. Half of the default timeout. */
const MAX_WAIT_FOR_HOST_MS = 5_000;

/**
 * A poll waits for a place of its host first, so that a hanging host never takes places of the others. Of the polls that have one, the
 * one that was added first is next: otherwise further polls of a host with many endpoints would wait behind all polls of other hosts, and
 * run long after those that they are compared with. A poll that waited long for its host is last instead, so that several
 * hosts that hang do not delay the others.
 *
 * @throws {TypeError} If `concurrency` is less than 1.
 */
export function createPollQueue(limits: QueueLimits, monotonicMs: () => number): PollQueue {
  const ofProcess = new PQueue({ concurrency: limits.concurrency });
  const hosts = new Map<string, Host>();
  let turns = 0;

  function nextTurn(): number {
    turns += 1;
    return turns;
  }

  /** Settles as the poll does; its place in the process is free a moment later, so that the next poll of its host can take it. */
  function runInTurn(turn: number, poll: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      void ofProcess.add(
        async () => {
          await poll().then(resolve, reject);
          await setImmediate();
        },
        { priority: -turn },
      );
    });
  }

  return {
    add(name, poll) {
      const host = hosts.get(name) ?? new Host(limits.perHost, monotonicMs);
      hosts.set(name, host);
      const added = { turn: nextTurn(), busyMs: host.busyMs() };
      return host.limit(() => {
        const turn = host.busyMs() - added.busyMs > MAX_WAIT_FOR_HOST_MS ? nextTurn() : added.turn;
        return runInTurn(turn, () => host.run(poll));
      });
    },
    inFlight: () => ofProcess.pending,
    queued: () => [...hosts.values()].reduce((sum, { limit }) => sum + limit.pendingCount, ofProcess.size),
  };
}

class Host {
  readonly limit: LimitFunction;
  readonly #monotonicMs: () => number;
  #running = 0;
  #busyMs = 0;
  #sinceMs = 0;

  constructor(places: number, monotonicMs: () => number) {
    this.limit = pLimit(places);
    this.#monotonicMs = monotonicMs;
  }

  /** How long polls of the host have been under way. Polls that wait for a place in the process do not count. */
  busyMs(): number {
    return this.#busyMs + (this.#running === 0 ? 0 : this.#monotonicMs() - this.#sinceMs);
  }

  async run(poll: () => Promise<void>): Promise<void> {
    this.#count(1);
    try {
      await poll();
    } finally {
      this.#count(-1);
    }
  }

  #count(change: 1 | -1): void {
    this.#busyMs = this.busyMs();
    this.#sinceMs = this.#monotonicMs();
    this.#running += change;
  }
}

/** Whether one queue can serve both. */
export function hasSameLimits(one: QueueLimits, other: QueueLimits): boolean {
  return one.concurrency === other.concurrency && one.perHost === other.perHost;
}
