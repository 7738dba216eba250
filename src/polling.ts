import type { PollSettings } from "./config/config.ts";
import { type Endpoint, endpointsOf, type Fleet, type Indexer } from "./core/fleet.ts";
import { startCron } from "./io/cron.ts";
import type { HttpClient } from "./io/http-client.ts";
import { Rounds } from "./rounds.ts";
import { createPollQueue } from "./schedule/poll-queue.ts";
import { pollOrder, spreadMs } from "./schedule/spread.ts";

export interface PollingOptions {
  readonly fleet: Fleet;
  readonly settings: PollSettings;
  readonly client: HttpClient;
  /** Those that have never been polled: they are asked at once, spread over a few seconds. */
  readonly firstRound: readonly Endpoint[];
  readonly poll: (endpoint: Endpoint) => Promise<void>;
  readonly onSkipped: (indexer: Pick<Indexer, "protocol" | "variant" | "tier">) => void;
  readonly onTick: () => void;
  readonly onBug: (error: unknown) => void;
  readonly monotonicMs: () => number;
}

export interface Polling extends AsyncDisposable {
  readonly inFlight: () => number;
  readonly queued: () => number;
  /** How long the oldest poll under way has taken so far. */
  readonly longestMs: () => number;
}

/** Starts the schedules and the first round. Disposing stops them, cuts off what is under way and waits for its end. */
export function startPolling(options: PollingOptions): Polling {
  const { fleet, settings, client, onBug } = options;
  const queue = createPollQueue(settings);
  const rounds = new Rounds({ ...options, queue });
  const endpoints = endpointsOf(fleet);

  const timers = new Map(
    options.firstRound.map((endpoint) => [
      endpoint.key,
      setTimeout(() => rounds.start([endpoint]), spreadMs(endpoint)),
    ]),
  );
  const cron = startCron({
    expressions: endpoints.map((endpoint) => endpoint.schedule),
    onDue: (due) => {
      const round = pollOrder(endpoints.filter((endpoint) => due.has(endpoint.schedule)));
      // What its schedule asks already needs no first round.
      for (const { key } of round) {
        clearTimeout(timers.get(key));
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
    async [Symbol.asyncDispose]() {
      cron[Symbol.dispose]();
      for (const timer of timers.values()) {
        clearTimeout(timer);
      }
      const stopped = rounds.stop();
      await client[Symbol.asyncDispose]();
      await stopped;
    },
  };
}
