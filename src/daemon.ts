import type { Config } from "./config/config.ts";
import { type Endpoint, endpointsOf } from "./core/fleet.ts";
import type { Report } from "./core/report.ts";
import { createHttpClient } from "./io/http-client.ts";
import type { Verdict } from "./io/http-source.ts";
import type { PollLabels } from "./io/prometheus-registry.ts";
import { type Exchanges, Journal } from "./journal.ts";
import type { MetricsSource } from "./metrics/metric-family.ts";
import { Monitor } from "./monitor.ts";
import { type PollPorts, poll } from "./poll.ts";
import { createPollPorts } from "./poll-ports.ts";
import { type Polling, startPolling } from "./polling.ts";
import { Budgets } from "./schedule/budgets.ts";
import { Tally } from "./tally.ts";
import type { World } from "./world.ts";

export interface DaemonOptions {
  readonly world: World;
  readonly observeDuration: (labels: PollLabels, durationMs: number) => void;
}

interface Running {
  readonly config: Config;
  readonly polling: Polling;
  readonly stopping: AbortController;
}

/** node-cron ticks each second; this long without one means that the loop is stuck. */
const LONGEST_TICK_MS = 15_000;
/** Beyond what a poll may take by its own deadlines, before it is called stuck. */
const POLL_GRACE_MS = 30_000;
/** No dialect has more questions; `auto` may ask all of all. */
const MOST_QUESTIONS = 8;

/** The poll loop on one configuration at a time, with all that it remembers from one to the next. */
export class Daemon implements AsyncDisposable {
  readonly #options: DaemonOptions;
  readonly #budgets: Budgets;
  readonly #monitor: Monitor;
  readonly #tally = new Tally();
  readonly #journal = new Journal();
  /** Which question fitted last, by the endpoint's identity. */
  #questions = new Map<string, number>();
  #running: Running;
  #lastTick: { readonly atMs: number; readonly monotonicMs: number };
  #isDraining = false;

  constructor(config: Config, options: DaemonOptions) {
    const { world } = options;
    this.#options = options;
    this.#budgets = new Budgets(config.fleet);
    this.#monitor = new Monitor(config.fleet, {
      nowMs: world.nowMs,
      budgets: (nowMs) => this.#budgets.report(nowMs),
    });
    this.#tally.watch(config.fleet);
    this.#lastTick = { atMs: world.nowMs(), monotonicMs: world.monotonicMs() };
    this.#running = this.#start(config);
  }

  get config(): Config {
    return this.#running.config;
  }

  /** Goes over to another configuration: what is in both keeps its memory and its place in the schedule. */
  async apply(config: Config): Promise<void> {
    await stop(this.#running);
    const known = new Set(endpointsOf(config.fleet).map(identityOf));
    this.#questions = new Map([...this.#questions].filter(([identity]) => known.has(identity)));
    this.#budgets.reload(config.fleet);
    this.#monitor.watch(config.fleet);
    this.#tally.watch(config.fleet);
    this.#journal.watch(config.fleet);
    this.#running = this.#start(config);
  }

  report(): Report {
    return this.#monitor.report();
  }

  /** The last exchanges with the endpoint of this key. */
  exchanges(endpointKey: string): Exchanges {
    return this.#journal.of(endpointKey);
  }

  metricsSource(reload: MetricsSource["reload"]): MetricsSource {
    const { polling } = this.#running;
    return {
      report: this.#monitor.report(),
      endpoints: this.#tally.endpoints(),
      indexers: this.#tally.indexers(),
      loop: { lastTickMs: this.#lastTick.atMs, inFlight: polling.inFlight(), queued: polling.queued() },
      reload,
    };
  }

  /** Whether the poll loop makes progress. */
  healthy(): Verdict {
    const { config, polling } = this.#running;
    const sinceTickMs = this.#options.world.monotonicMs() - this.#lastTick.monotonicMs;
    if (sinceTickMs > LONGEST_TICK_MS) {
      return { ok: false, detail: `The scheduler has not ticked for ${Math.round(sinceTickMs / 1000)} s` };
    }
    const allowedMs = config.poll.timeoutMs * (config.poll.retries + 1) * MOST_QUESTIONS + POLL_GRACE_MS;
    const longestMs = polling.longestMs();
    return longestMs > allowedMs
      ? { ok: false, detail: `A poll has been under way for ${Math.round(longestMs / 1000)} s` }
      : { ok: true, detail: "The poll loop makes progress" };
  }

  /** Whether every indexer was asked at least once; the RPC nodes are evidence that may be lacking. */
  ready(): Verdict {
    if (this.#isDraining) {
      return { ok: false, detail: "Shutting down" };
    }
    const waiting = this.#neverPolled(this.config).filter(({ kind }) => kind === "indexer");
    return waiting.length > 0
      ? { ok: false, detail: `The first round is under way: ${waiting.length} endpoints to go` }
      : { ok: true, detail: "Every endpoint was polled" };
  }

  /** From now on not ready, so that nobody is sent here any more. */
  drain(): void {
    this.#isDraining = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drain();
    await stop(this.#running);
  }

  #start(config: Config): Running {
    const { world } = this.#options;
    const stopping = new AbortController();
    const client = createHttpClient({
      timeoutMs: config.poll.timeoutMs,
      maxResponseBytes: config.poll.maxResponseBytes,
      connectionsPerHost: config.poll.perHost,
      userAgent: `synclag/${world.build.version}`,
      nowMs: world.nowMs,
    });
    const ports = createPollPorts(config, {
      world,
      post: client.post,
      stopping: stopping.signal,
      budgets: this.#budgets,
      tally: this.#tally,
      journal: this.#journal,
      observeDuration: this.#options.observeDuration,
    });
    const polling = startPolling({
      fleet: config.fleet,
      settings: config.poll,
      client,
      firstRound: this.#neverPolled(config),
      poll: (endpoint) => this.#poll(endpoint, ports),
      onSkipped: (indexer) => this.#tally.countSkippedRound(indexer),
      onTick: () => {
        this.#lastTick = { atMs: world.nowMs(), monotonicMs: world.monotonicMs() };
      },
      onBug: world.onBug,
      monotonicMs: world.monotonicMs,
    });
    return { config, polling, stopping };
  }

  async #poll(endpoint: Endpoint, ports: PollPorts): Promise<void> {
    const identity = identityOf(endpoint);
    const { observations, questionIndex } = await poll(endpoint, this.#questions.get(identity) ?? 0, ports);
    if (observations.length > 0) {
      this.#questions.set(identity, questionIndex);
      this.#monitor.observe(observations);
    }
  }

  #neverPolled(config: Config): readonly Endpoint[] {
    return endpointsOf(config.fleet).filter((endpoint) => !this.#questions.has(identityOf(endpoint)));
  }
}

/** An endpoint that was given another URL or dialect is another one: what was learned of it no longer holds. */
function identityOf({ key, url, dialect }: Endpoint): string {
  return `${key} ${dialect} ${url}`;
}

async function stop({ polling, stopping }: Running): Promise<void> {
  stopping.abort();
  await polling[Symbol.asyncDispose]();
}
