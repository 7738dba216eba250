import type { Use } from "../../budgets/ledger.ts";
import type { PollSettings } from "../../config/config.ts";
import { type Endpoint, endpointsOf, type Fleet, type IndexerId } from "../../core/model/fleet.ts";
import { startCron } from "../../io/cron.ts";
import type { HttpClient } from "../../io/http-client/client.ts";
import { confirmationDelayMs } from "../../schedule/confirmation.ts";
import { pollOrder } from "./order.ts";
import { createPollQueue } from "./queue.ts";
import { Rounds } from "./rounds.ts";

export interface PollingOptions {
  readonly fleet: Fleet;
  readonly settings: PollSettings;
  readonly client: HttpClient;
  /** Those of which nothing is known: they are asked at once, as in any round. */
  readonly firstRound: readonly Endpoint[];
  /** Tells whether what it brought leaves a target in doubt. */
  readonly poll: (endpoint: Endpoint, use: Use) => Promise<Doubt>;
  readonly onSkipped: (indexer: IndexerId) => void;
  readonly onTick: () => void;
  readonly onBug: (error: unknown) => void;
  readonly monotonicMs: () => number;
}

/** Whether a target is about to turn, or has just turned, so that another look is worth a request. */
export type Doubt = "settled" | "in doubt";

export interface Polling extends AsyncDisposable {
  readonly inFlight: () => number;
  readonly queued: () => number;
  /** How long the oldest poll under way has taken so far. */
  readonly longestMs: () => number;
  /** Asks these at once, beside their schedule, from what their budgets can spare. */
  readonly look: (endpoints: readonly Endpoint[]) => void;
}

/** Starts the schedules and the first round. Disposing stops them, cuts off what is under way and waits for its end. */
export function startPolling(options: PollingOptions): Polling {
  const { fleet, settings, client, onBug } = options;
  const queue = createPollQueue(settings);
  const endpoints = endpointsOf(fleet);
  const looks = createSecondLooks((endpoint) => rounds.start([endpoint], "spare"));
  const rounds = new Rounds({
    ...options,
    queue,
    poll: async (endpoint, use) => looks.after(endpoint, use, await options.poll(endpoint, use)),
  });

  rounds.start(pollOrder(options.firstRound));
  const cron = startCron({
    expressions: endpoints.map((endpoint) => endpoint.schedule),
    onDue: (due) => {
      const round = pollOrder(endpoints.filter((endpoint) => due.has(endpoint.schedule)));
      // What its schedule asks already needs no other look.
      for (const { key } of round) {
        looks.cancel(key);
      }
      rounds.start(round);
    },
    onHeartbeat: options.onTick,
    onBug,
  });

  return {
    inFlight: queue.inFlight,
    queued: queue.queued,
    longestMs: () => rounds.longestMs(),
    look: (wanted) => rounds.start(pollOrder(wanted), "spare"),
    async [Symbol.asyncDispose]() {
      cron[Symbol.dispose]();
      looks[Symbol.dispose]();
      const stopped = rounds.stop();
      await client[Symbol.asyncDispose]();
      await stopped;
    },
  };
}

interface SecondLooks extends Disposable {
  /** To be called after each poll. */
  readonly after: (endpoint: Endpoint, use: Use, doubt: Doubt) => void;
  readonly cancel: (key: string) => void;
}

/** Has endpoints in doubt asked again before their schedule does. */
function createSecondLooks(look: (endpoint: Endpoint) => void): SecondLooks {
  const timers = new Map<string, NodeJS.Timeout>();
  const made = new Map<string, number>();
  let isStopped = false;
  return {
    after(endpoint, use, doubt) {
      const { key, pollIntervalMs } = endpoint;
      const looks = use === "poll" ? 0 : (made.get(key) ?? 0) + 1;
      made.set(key, looks);
      const delayMs = doubt === "in doubt" ? confirmationDelayMs(pollIntervalMs, looks) : null;
      if (delayMs !== null && !isStopped) {
        timers.set(
          key,
          setTimeout(() => look(endpoint), delayMs),
        );
      }
    },
    cancel(key) {
      clearTimeout(timers.get(key));
      timers.delete(key);
    },
    [Symbol.dispose]() {
      isStopped = true;
      for (const timer of timers.values()) {
        clearTimeout(timer);
      }
    },
  };
}
