import pLimit, { type LimitFunction } from "p-limit";
import PQueue from "p-queue";

/** Runs polls with bounded concurrency: so many in the whole process, and so many a host. */
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

/** A host for which polls wait longer is slow, or hangs. Half of the default timeout. */
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
  const ofHosts = new Map<string, LimitFunction>();
  let turns = 0;

  function nextTurn(): number {
    turns += 1;
    return turns;
  }

  return {
    add(host, poll) {
      const ofHost = ofHosts.get(host) ?? pLimit(limits.perHost);
      ofHosts.set(host, ofHost);
      const added = { turn: nextTurn(), atMs: monotonicMs() };
      return ofHost(() => {
        const turn = monotonicMs() - added.atMs > MAX_WAIT_FOR_HOST_MS ? nextTurn() : added.turn;
        return ofProcess.add(poll, { priority: -turn });
      });
    },
    inFlight: () => ofProcess.pending,
    queued: () => [...ofHosts.values()].reduce((sum, { pendingCount }) => sum + pendingCount, ofProcess.size),
  };
}

/** Whether one queue serves both. */
export function hasSameLimits(one: QueueLimits, other: QueueLimits): boolean {
  return one.concurrency === other.concurrency && one.perHost === other.perHost;
}
