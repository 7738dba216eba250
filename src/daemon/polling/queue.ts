import pLimit, { type LimitFunction } from "p-limit";

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

/** A poll waits for a place of its host first, so that a hanging host never takes places of the others. */
export function createPollQueue(limits: QueueLimits): PollQueue {
  const ofProcess = pLimit(limits.concurrency);
  const ofHosts = new Map<string, LimitFunction>();
  return {
    add(host, poll) {
      const ofHost = ofHosts.get(host) ?? pLimit(limits.perHost);
      ofHosts.set(host, ofHost);
      return ofHost(() => ofProcess(poll));
    },
    inFlight: () => ofProcess.activeCount,
    queued: () =>
      [...ofHosts.values()].reduce((sum, { pendingCount }) => sum + pendingCount, ofProcess.pendingCount),
  };
}

/** Whether one queue serves both. */
export function hasSameLimits(one: QueueLimits, other: QueueLimits): boolean {
  return one.concurrency === other.concurrency && one.perHost === other.perHost;
}
