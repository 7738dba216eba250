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

/**
 * A poll waits for a place of its host first, so that a hanging host never takes places of the others. Of the polls that have one, the
 * one that was added first is next. Otherwise each further poll of a host with many endpoints would wait behind all polls of
 * other hosts: most of them would run last, and long after those that they are compared with.
 *
 * @throws {TypeError} If `concurrency` is less than 1.
 */
export function createPollQueue(limits: QueueLimits): PollQueue {
  const ofProcess = new PQueue({ concurrency: limits.concurrency });
  const ofHosts = new Map<string, LimitFunction>();
  let added = 0;
  return {
    add(host, poll) {
      const ofHost = ofHosts.get(host) ?? pLimit(limits.perHost);
      ofHosts.set(host, ofHost);
      added += 1;
      const priority = -added;
      return ofHost(() => ofProcess.add(poll, { priority }));
    },
    inFlight: () => ofProcess.pending,
    queued: () => [...ofHosts.values()].reduce((sum, { pendingCount }) => sum + pendingCount, ofProcess.size),
  };
}

/** Whether one queue serves both. */
export function hasSameLimits(one: QueueLimits, other: QueueLimits): boolean {
  return one.concurrency === other.concurrency && one.perHost === other.perHost;
}
