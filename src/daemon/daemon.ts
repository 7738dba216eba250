import { Budgets } from "../budgets/budgets.ts";
import { createSteadyClock, type SteadyClock } from "../budgets/steady-clock.ts";
import type { Config } from "../config/config.ts";
import type { Exchanges } from "../core/model/exchange.ts";
import type { Endpoint, IndexerId } from "../core/model/fleet.ts";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { Report } from "../core/model/report.ts";
import { createHttpClient } from "../io/http-client/client.ts";
import type { CheckResult } from "../io/http-server/server-deps.ts";
import { openMaintenance } from "../schedule/maintenance.ts";
import type { World } from "../world.ts";
import { LoopWatchdog } from "./loop-watchdog.ts";
import { Monitor } from "./monitor.ts";
import type { Stability } from "./polling/confirmations.ts";
import { PollCounters } from "./polling/counters.ts";
import { DialectCache } from "./polling/dialect-cache.ts";
import { ExchangeLog } from "./polling/exchange-log.ts";
import { type PollPorts, poll } from "./polling/poll.ts";
import { type Polling, startPolling } from "./polling/polling.ts";
import { confirmationPoll, createPollPorts } from "./polling/ports.ts";
import { takeSnapshot } from "./state/snapshot.ts";
import type { StateSnapshot, StateStore } from "./state/store.ts";

export interface DaemonOptions {
  readonly world: World;
  readonly observeDuration: (labels: IndexerId, durationMs: number) => void;
  /** What a former process knew, and where this one keeps what it knows. */
  readonly keeper: StateStore;
}

interface Running {
  readonly config: Config;
  readonly polling: Polling;
  readonly stopping: AbortController;
}

/** The poll loop on one configuration at a time, with all that it remembers from one to the next. */
export class Daemon implements AsyncDisposable {
  readonly #options: DaemonOptions;
  readonly #budgets: Budgets;
  readonly #monitor: Monitor;
  readonly #tally = new PollCounters();
  readonly #journal = new ExchangeLog();
  readonly #endpoints = new DialectCache();
  readonly #clock: SteadyClock;
  readonly #pulse: LoopWatchdog;
  #running: Running;
  #isDraining = false;

  constructor(config: Config, options: DaemonOptions) {
    const { world } = options;
    this.#options = options;
    this.#clock = createSteadyClock(world);
    this.#pulse = new LoopWatchdog(world);
    this.#budgets = new Budgets(config.fleet);
    this.#monitor = new Monitor(config.fleet, {
      nowMs: world.nowMs,
      budgets: () => this.#budgets.report(this.#clock.nowMs()),
      maintenance: (nowMs) => openMaintenance(this.#running.config.maintenance, nowMs),
      onReached: (askedInVain) => this.#running.polling.pollNow(askedInVain),
    });
    const { chains, incidents, budgets, questions } = options.keeper.remembered;
    this.#budgets.restore(budgets);
    this.#monitor.restore(chains, incidents);
    this.#endpoints.restore(questions, config.fleet, (endpoint) => this.#monitor.isEvident(endpoint));
    this.#tally.watch(config.fleet);
    this.#running = this.#start(config);
  }

  get config(): Config {
    return this.#running.config;
  }

  /** Goes over to another configuration: what is in both keeps its memory and its place in the schedule. */
  async apply(config: Config): Promise<void> {
    await stop(this.#running);
    this.#endpoints.retain(config.fleet);
    this.#budgets.reload(config.fleet);
    this.#monitor.watch(config.fleet);
    this.#tally.watch(config.fleet);
    this.#journal.watch(config.fleet);
    this.#running = this.#start(config);
    this.#options.keeper.touch();
  }

  /** What must outlive the process. */
  keepsake(): StateSnapshot {
    return takeSnapshot({
      monitor: this.#monitor,
      endpoints: this.#endpoints,
      budgets: this.#budgets,
      clock: this.#clock,
      nowMs: this.#options.world.nowMs,
    });
  }

  prepare(): Promise<void> {
    return this.#monitor.prepare();
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
      loop: { lastTickMs: this.#pulse.lastTickMs, inFlight: polling.inFlight(), queued: polling.queued() },
      reload,
    };
  }

  /** Whether the poll loop makes progress. */
  healthy(): CheckResult {
    const { config, polling } = this.#running;
    return this.#pulse.verdict(config.poll, polling.longestMs());
  }

  /** Whether every indexer was asked at least once; the RPC nodes are evidence that may be lacking. */
  ready(): CheckResult {
    if (this.#isDraining) {
      return { ok: false, detail: "Shutting down" };
    }
    const waiting = this.#endpoints.unpolledOf(this.config.fleet).filter(({ kind }) => kind === "indexer");
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
    const { world, keeper, observeDuration } = this.#options;
    const stopping = new AbortController();
    const client = createHttpClient({
      ...config.poll,
      connectionsPerHost: config.poll.perHost,
      userAgent: `synclag/${world.build.version}`,
      nowMs: world.nowMs,
    });
    const ports = createPollPorts(config, {
      world,
      post: client.post,
      stopping: stopping.signal,
      budgets: this.#budgets,
      budgetNowMs: this.#clock.nowMs,
      store: keeper,
      counters: this.#tally,
      exchangeLog: this.#journal,
      observeDuration,
    });
    const polling = startPolling({
      fleet: config.fleet,
      settings: config.poll,
      client,
      firstRound: this.#endpoints.unpolledOf(config.fleet),
      poll: (endpoint, use) => this.#poll(endpoint, use === "scheduled" ? ports : confirmationPoll(ports)),
      onSkipped: (indexer) => this.#tally.countSkippedRound(indexer),
      onTick: () => this.#pulse.tick(),
      onBug: world.onBug,
      monotonicMs: world.monotonicMs,
    });
    return { config, polling, stopping };
  }

  async #poll(endpoint: Endpoint, ports: PollPorts): Promise<Stability> {
    const { observations, questionIndex } = await poll(endpoint, this.#endpoints.questionOf(endpoint), ports);
    this.#options.keeper.touch();
    if (observations.length === 0) {
      return "stable";
    }
    this.#endpoints.note(endpoint, questionIndex);
    return this.#monitor.observe(observations, () => this.#tally.countFailure(endpoint, "implausible"));
  }
}

async function stop({ polling, stopping }: Running): Promise<void> {
  stopping.abort();
  await polling[Symbol.asyncDispose]();
}
