import type { Config } from "../config/config.ts";
import { type Endpoint, endpointsOf } from "../core/model/fleet.ts";
import type { createHttpClient } from "../io/http-client/client.ts";
import type { ProbeResult } from "../io/http-server/routes/server-deps.ts";
import type { World } from "../io/world.ts";
import type { Monitor } from "./monitor.ts";
import type { Stability } from "./polling/confirmations.ts";
import { Explainer } from "./polling/explain.ts";
import type { PollPorts } from "./polling/poll.ts";
import { type Polling, startPolling } from "./polling/polling.ts";
import { confirmationPoll, createPollPorts, type PollPortsOptions } from "./polling/ports.ts";
import type { PollQueue } from "./polling/queue.ts";
import { type PollsUnderWay, requestIdOf } from "./polling/rounds.ts";

/** One configuration in use. */
export interface Running {
  readonly config: Config;
  /** Of its endpoints. */
  readonly requestIds: ReadonlySet<string>;
  /** Null while this replica stands by. */
  readonly polling: Polling | null;
  readonly explainer: Explainer | null;
  readonly stopping: AbortController;
}

/** What a poll uses of the configuration that it was started by. */
export interface PollContext {
  readonly ports: PollPorts;
  readonly renew: (url: string) => void;
  readonly explainer: Explainer;
  /** To be called for each poll, once it is known what it showed. */
  readonly onObserved: (stability: Stability) => void;
}

/** What outlives a configuration. */
export interface RunningOptions extends Pick<PollPortsOptions, "gate" | "counters" | "exchangeLog"> {
  readonly world: World;
  readonly openClient: typeof createHttpClient;
  readonly monitor: Monitor;
  readonly queue: PollQueue;
  readonly underWay: PollsUnderWay;
  /** Endpoints of which nothing is known. */
  readonly firstRound: readonly Endpoint[];
  readonly poll: (endpoint: Endpoint, context: PollContext) => Promise<void>;
  /** Called once the last poll has ended. */
  readonly onStopped: () => void;
  readonly onTick: () => void;
}

/** A configuration that is not polled. */
export function standBy(config: Config): Running {
  const stopping = new AbortController();
  return { config, requestIds: requestIdsOf(config), polling: null, explainer: null, stopping };
}

/** Starts to poll a configuration. */
export function startRunning(config: Config, options: RunningOptions): Running {
  const { world, monitor, queue, counters, exchangeLog } = options;
  const stopping = new AbortController();
  const client = options.openClient({
    ...config.poll,
    connectionsPerHost: config.poll.perHost,
    userAgent: `synclag/${world.build.version}`,
    nowMs: world.nowMs,
    proxy: world.proxy ?? null,
  });
  const ports = createPollPorts(config, { ...options, post: client.post, stopping: stopping.signal });
  const explainer = new Explainer({
    post: client.post,
    queue,
    redact: ports.redact,
    hasTrouble: (endpoint) => monitor.hasTrouble(endpoint),
    explain: (target, explanation) => monitor.explain(target, explanation),
    onExchange: (endpoint, exchange) => exchangeLog.note(endpoint, exchange),
    logger: world.logger,
  });
  const polling = startPolling({
    fleet: config.fleet,
    queue,
    underWay: options.underWay,
    client,
    firstRound: options.firstRound,
    poll: (endpoint, use, onObserved) =>
      options.poll(endpoint, {
        ports: use === "scheduled" ? ports : confirmationPoll(ports),
        renew: client.renew,
        explainer,
        onObserved,
      }),
    onStopped: options.onStopped,
    onSkipped: (indexer) => counters.countSkippedRound(indexer),
    onTick: options.onTick,
    onBug: world.onBug,
    monotonicMs: world.monotonicMs,
  });
  return { config, requestIds: requestIdsOf(config), polling, explainer, stopping };
}

/** Aborts its polls, and waits for their end. */
export async function stopRunning({ polling, explainer, stopping }: Running): Promise<void> {
  stopping.abort();
  await polling?.[Symbol.asyncDispose]();
  await explainer?.settled();
}

/** Whether it is ready: `waiting` of its indexers' endpoints were not polled yet. */
export function readiness({ polling }: Running, waiting: number): ProbeResult {
  if (waiting === 0) {
    return { ok: true, detail: "Every endpoint was polled" };
  }
  const detail =
    polling === null
      ? `Waiting for the leader's report of ${waiting} endpoints`
      : `First round in progress: ${waiting} endpoints left`;
  return { ok: false, detail };
}

function requestIdsOf({ fleet }: Config): ReadonlySet<string> {
  return new Set(endpointsOf(fleet).map(requestIdOf));
}
