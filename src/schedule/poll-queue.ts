import pLimit, { type LimitFunction } from "p-limit";

/** Runs polls with bounded concurrency: so many in the whole process, and so many a host. */
export interface PollQueue {
  /** Waits for a place of its host, then for one of the process: a hanging host never takes the places of the others. */
  readonly run: <T>(host: string, poll: () => Promise<T>) => Promise<T>;
  readonly inFlight: () => number;
  readonly queued: () => number;
}

/** @throws {TypeError} If a limit is not a positive integer. */
export function createPollQueue(limits: {
  readonly concurrency: number;
  readonly perHost: number;
}): PollQueue {
  const processLimit = pLimit(limits.concurrency);
  const hostLimits = new Map<string, LimitFunction>();

  function hostLimit(host: string): LimitFunction {
    const known = hostLimits.get(host);
    if (known !== undefined) {
      return known;
    }
    const limit = pLimit(limits.perHost);
    hostLimits.set(host, limit);
    return limit;
  }

  return {
    // As arguments, for a closure around each would be held by all that wait.
    run: (host, poll) => hostLimit(host)(processLimit, poll),
    inFlight: () => processLimit.activeCount,
    queued: () =>
      [...hostLimits.values()].reduce(
        (sum, { pendingCount }) => sum + pendingCount,
        processLimit.pendingCount,
      ),
  };
}
