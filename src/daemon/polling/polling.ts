import type { Use } from "../../budgets/ledger.ts";
import type { PollSettings } from "../../config/config.ts";
import { type Endpoint, endpointsOf, type Fleet, type IndexerId } from "../../core/model/fleet.ts";
import { startCron } from "../../io/cron.ts";
import type { HttpClient } from "../../io/http-client/client.ts";
import { Confirmations, type Stability } from "./confirmations.ts";
import { pollOrder } from "./order.ts";
import { createPollQueue } from "./queue.ts";
import { Rounds } from "./rounds.ts";

export interface PollingOptions {
  readonly fleet: Fleet;
  readonly settings: PollSettings;
  readonly client: HttpClient;
  /** Endpoints of which nothing is known: polled at once, as in any round. */
  readonly firstRound: readonly Endpoint[];
  readonly poll: (endpoint: Endpoint, use: Use) => Promise<Stability>;
  readonly onSkipped: (indexer: IndexerId) => void;
  readonly onTick: () => void;
  readonly onBug: (error: unknown) => void;
  readonly monotonicMs: () => number;
}

export interface Polling extends AsyncDisposable {
  readonly inFlight: () => number;
  readonly queued: () => number;
  /** How long the oldest poll under way has taken so far. */
  readonly longestMs: () => number;
  /** Polls these at once, outside their schedule, if their budgets have something to spare. */
  readonly pollNow: (endpoints: readonly Endpoint[]) => void;
}

/** Starts the schedules and the first round. Disposing stops them, aborts the polls under way and waits for their end. */
export function startPolling(options: PollingOptions): Polling {
  const { fleet, settings, client, onBug } = options;
  const queue = createPollQueue(settings);
  const endpoints = endpointsOf(fleet);
  const confirmations = new Confirmations((endpoint) => rounds.start([endpoint], "opportunistic"));
  const rounds = new Rounds({
    ...options,
    queue,
    poll: async (endpoint, use) => confirmations.onPolled(endpoint, use, await options.poll(endpoint, use)),
  });

  rounds.start(pollOrder(options.firstRound));
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

  return {
    inFlight: queue.inFlight,
    queued: queue.queued,
    longestMs: () => rounds.longestMs(),
    pollNow: (wanted) => rounds.start(pollOrder(wanted), "opportunistic"),
    async [Symbol.asyncDispose]() {
      cron[Symbol.dispose]();
      confirmations[Symbol.dispose]();
      const stopped = rounds.stop();
      await client[Symbol.asyncDispose]();
      await stopped;
    },
  };
}
