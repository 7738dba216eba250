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
  let waiting = 0;
  let inFlight = 0;

  function hostLimit(host: string): LimitFunction {
    const limit = hostLimits.get(host) ?? pLimit(limits.perHost);
    hostLimits.set(host, limit);
    return limit;
  }

  return {
    async run(host, poll) {
      waiting += 1;
      return await hostLimit(host)(() =>
        processLimit(async () => {
          waiting -= 1;
          inFlight += 1;
          try {
            return await poll();
          } finally {
            inFlight -= 1;
          }
        }),
      );
    },
    inFlight: () => inFlight,
    queued: () => waiting,
  };
}
