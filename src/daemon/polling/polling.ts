import type { Use } from "../../budgets/ledger.ts";
import { type Endpoint, endpointsOf, type Fleet, type IndexerId } from "../../core/model/fleet.ts";
import { startCron } from "../../io/cron.ts";
import type { HttpClient } from "../../io/http-client/client.ts";
import { Confirmations, type Stability } from "./confirmations.ts";
import { pollOrder } from "./order.ts";
import type { PollQueue } from "./queue.ts";
import { type PollsUnderWay, Rounds } from "./rounds.ts";

export interface PollingOptions {
  readonly fleet: Fleet;
  /** These outlive a reload, as the polls under way do. */
  readonly queue: PollQueue;
  readonly underWay: PollsUnderWay;
  readonly client: HttpClient;
  /** Endpoints of which nothing is known: polled at once, as in any round. */
  readonly firstRound: readonly Endpoint[];
  /** Settles when the poll has ended; `onObserved` is called once it is known what it showed. */
  readonly poll: (endpoint: Endpoint, use: Use, onObserved: (stability: Stability) => void) => Promise<void>;
  /** Called once the last poll has ended, before the client is closed at a reload. */
  readonly onStopped: () => void;
  readonly onSkipped: (indexer: IndexerId) => void;
  readonly onTick: () => void;
  readonly onBug: (error: unknown) => void;
  readonly monotonicMs: () => number;
}

export interface Polling extends AsyncDisposable {
  /** How long the oldest poll under way has taken so far. */
  readonly longestMs: () => number;
  /** Polls these at once, outside their schedule, if their budgets have something to spare. */
  readonly pollNow: (endpoints: readonly Endpoint[]) => void;
  /** Starts no more polls, and settles when those under way have ended: for a reload. */
  readonly retire: () => Promise<void>;
}

/** Starts the schedules and the first round. Disposing stops them, aborts the polls under way and waits for their end. */
export function startPolling(options: PollingOptions): Polling {
  const { fleet, client, onBug } = options;
  const endpoints = endpointsOf(fleet);
  const confirmations = new Confirmations((endpoint) => rounds.start([endpoint], "opportunistic"));
  const rounds = new Rounds({
    ...options,
    poll: (endpoint, use) =>
      options.poll(endpoint, use, (stability) => confirmations.onPolled(endpoint, use, stability)),
  });

  rounds.start(pollOrder(options.firstRound.filter((endpoint) => !rounds.isUnderWay(endpoint))));
  const cron = startCron({
    expressions: endpoints.map((endpoint) => endpoint.schedule),
    onDue: (due) => {
      const round = pollOrder(endpoints.filter((endpoint) => due.has(endpoint.schedule)));
      for (const endpoint of round) {
        confirmations.cancel(endpoint);
      }
      rounds.start(round);
    },
    onTick: options.onTick,
    onBug,
  });

  function stopSchedules(): void {
    cron[Symbol.dispose]();
    confirmations[Symbol.dispose]();
  }

  return {
    longestMs: () => rounds.longestMs(),
    pollNow: (wanted) => rounds.start(pollOrder(wanted), "opportunistic"),
    async retire() {
      stopSchedules();
      await rounds.stop();
      options.onStopped();
      await client[Symbol.asyncDispose]();
    },
    async [Symbol.asyncDispose]() {
      stopSchedules();
      const stopped = rounds.stop();
      await client[Symbol.asyncDispose]();
      await stopped;
      options.onStopped();
    },
  };
}
