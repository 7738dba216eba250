import { Budgets } from "../budgets/budgets.ts";
import type { BudgetGate } from "../budgets/gate.ts";
import { planFleet } from "../budgets/plan.ts";
import { createSteadyClock, type SteadyClock } from "../budgets/steady-clock.ts";
import type { Config } from "../config/config.ts";
import type { EndpointRecord } from "../core/model/exchange.ts";
import { type Endpoint, endpointsOf, type IndexerId } from "../core/model/fleet.ts";
import { memoize } from "../core/model/memoize.ts";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { Plan } from "../core/model/plan.ts";
import type { Report } from "../core/model/report.ts";
import { createHttpClient } from "../io/http-client/client.ts";
import type { ProbeResult } from "../io/http-server/routes/server-deps.ts";
import type { World } from "../io/world.ts";
import { openMaintenance } from "../schedule/maintenance.ts";
import { inspectChain } from "./inspect-chain.ts";
import { LoopWatchdog } from "./loop-watchdog.ts";
import { Monitor } from "./monitor.ts";
import { ParitySchedule } from "./parity/parity-schedule.ts";
import type { Stability } from "./polling/confirmations.ts";
import { PollCounters } from "./polling/counters.ts";
import { DialectCache } from "./polling/dialect-cache.ts";
import { ExchangeLog } from "./polling/exchange-log.ts";
import { Explainer } from "./polling/explain.ts";
import { ParityCounters } from "./polling/parity-counters.ts";
import type { PollPorts } from "./polling/poll.ts";
import { type Polling, startPolling } from "./polling/polling.ts";
import { confirmationPoll, createPollPorts } from "./polling/ports.ts";
import { createPollQueue, type PollQueue } from "./polling/queue.ts";
import { type PollsUnderWay, requestIdOf } from "./polling/rounds.ts";
import { takeSnapshot } from "./snapshot.ts";
import { createFileGate } from "./state/file-gate.ts";
import type { OpenedBudgets } from "./state/open-shared-budgets.ts";
import type { StateSnapshot, StateStore } from "./state/store.ts";

export interface DaemonOptions {
  readonly world: World;
  readonly observeDuration: (labels: IndexerId, durationMs: number) => void;
  /** The state that the previous process left, and where this one keeps its own. */
  readonly store: StateStore;
  /** Where the store counts the budgets, and not the state file. Default: the state file does. */
  readonly shared?: OpenedBudgets | null;
}

interface Running {
  readonly config: Config;
  /** Of its endpoints. */
  readonly requestIds: ReadonlySet<string>;
  readonly polling: Polling;
  readonly explainer: Explainer;
  readonly stopping: AbortController;
}

/** What a poll uses of the configuration that it was started by. */
interface PollContext {
  readonly ports: PollPorts;
  readonly renew: (url: string) => void;
  readonly explainer: Explainer;
}

/** The poll loop, on one configuration at a time. */
export class Daemon implements AsyncDisposable {
  readonly #options: DaemonOptions;
  readonly #budgets: Budgets;
  readonly #gate: BudgetGate;
  readonly #monitor: Monitor;
  readonly #counters = new PollCounters();
  readonly #parityCounters = new ParityCounters();
  readonly #exchangeLog = new ExchangeLog();
  readonly #dialects = new DialectCache();
  readonly #paritySchedule: ParitySchedule;
  readonly #clock: SteadyClock;
  readonly #watchdog: LoopWatchdog;
  readonly #planOf = memoize(({ fleet, poll }: Config) => planFleet(fleet, poll));
  readonly #underWay: PollsUnderWay = new Map();
  /** Of earlier configurations, with polls still under way. */
  readonly #retired = new Set<Running>();
  #queue: PollQueue;
  #running: Running;
  #isDraining = false;

  constructor(config: Config, options: DaemonOptions) {
    const { world } = options;
    this.#options = options;
    this.#clock = createSteadyClock(world, options.store.restored.budgets.atMs ?? 0);
    this.#watchdog = new LoopWatchdog(world);
    this.#paritySchedule = new ParitySchedule(world.monotonicMs);
    const { shared = null, store } = options;
    this.#budgets = shared?.budgets ?? new Budgets(config.fleet);
    this.#gate =
      shared?.shared ??
      createFileGate({ budgets: this.#budgets, nowMs: this.#clock.nowMs, store, random: world.random });
    this.#monitor = new Monitor(config.fleet, {
      nowMs: world.nowMs,
      monotonicMs: world.monotonicMs,
      budgets: () => this.#gate.report(),
      maintenance: (nowMs) => openMaintenance(this.#running.config.maintenance, nowMs),
      onNetworkRestored: (missed) => this.#running.polling.pollNow(missed),
    });
    const { chains, incidents, budgets, questions } = options.store.restored;
    this.#budgets.restore(budgets);
    this.#gate.allowProbes();
    this.#monitor.restore(chains, incidents);
    this.#dialects.restore(questions, config.fleet, (endpoint) => this.#monitor.isEvident(endpoint));
    this.#counters.watch(config.fleet);
    this.#parityCounters.watch(config.fleet);
    this.#queue = createPollQueue(config.poll);
    this.#running = this.#start(config);
  }

  /** Changes to another configuration: what is in both keeps its state, and its poll if one is under way. */
  apply(config: Config): void {
    this.#retire(this.#running);
    this.#dialects.retain(config.fleet);
    this.#paritySchedule.retain(config.fleet);
    this.#budgets.reload(config.fleet);
    this.#gate.allowProbes();
    this.#monitor.watch(config.fleet);
    this.#counters.watch(config.fleet);
    this.#parityCounters.watch(config.fleet);
    this.#exchangeLog.watch(config.fleet);
    if (!hasSameLimits(config, this.#running.config)) {
      this.#queue = createPollQueue(config.poll);
    }
    this.#running = this.#start(config);
    this.#options.store.touch();
  }

  /** What must outlive the process. */
  snapshot(): StateSnapshot {
    return takeSnapshot({
      monitor: this.#monitor,
      dialects: this.#dialects,
      budgets: this.#budgets,
      clock: this.#clock,
      nowMs: this.#options.world.nowMs,
    });
  }

  /** Works out the next report in slices, so that `report()` does not block the event loop. */
  prepare(): Promise<void> {
    return this.#monitor.prepare();
  }

  report(): Report {
    return this.#monitor.report();
  }

  plan(): Plan {
    return this.#planOf(this.#running.config);
  }

  /** Every endpoint that serves a chain, with its last replies. */
  endpoints(chain: string): readonly EndpointRecord[] {
    return inspectChain(this.#running.config, chain, (key) => this.#exchangeLog.of(key));
  }

  metricsSource(reload: MetricsSource["reload"]): MetricsSource {
    return {
      report: this.#monitor.report(),
      endpoints: this.#counters.endpoints(),
      indexers: this.#counters.indexers(),
      parity: this.#parityCounters.all(),
      loop: {
        lastTickMs: this.#watchdog.lastTickMs,
        inFlight: this.#queue.inFlight(),
        queued: this.#queue.queued(),
      },
      lostLogLines: this.#options.world.lostLogLines?.() ?? 0,
      reload,
    };
  }

  /** Whether the poll loop makes progress. */
  healthy(): ProbeResult {
    const { config, polling } = this.#running;
    return this.#watchdog.verdict(config.poll, polling.longestMs());
  }

  /** Whether every indexer was polled at least once. RPC nodes are optional evidence, and not waited for. */
  ready(): ProbeResult {
    if (this.#isDraining) {
      return { ok: false, detail: "Shutting down" };
    }
    const waiting = this.#dialects
      .unpolledOf(this.#running.config.fleet)
      .filter(({ kind }) => kind === "indexer");
    return waiting.length > 0
      ? { ok: false, detail: `First round in progress: ${waiting.length} endpoints left` }
      : { ok: true, detail: "Every endpoint was polled" };
  }

  /** Not ready from now on, so that no new traffic is routed here. */
  drain(): void {
    this.#isDraining = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drain();
    await Promise.all([this.#running, ...this.#retired].map(stop));
  }

  #retire(running: Running): void {
    this.#retired.add(running);
    running.polling
      .retire()
      .catch(this.#options.world.onBug)
      .finally(() => this.#retired.delete(running));
  }

  #start(config: Config): Running {
    const { world, observeDuration } = this.#options;
    const stopping = new AbortController();
    const client = createHttpClient({
      ...config.poll,
      connectionsPerHost: config.poll.perHost,
      userAgent: `synclag/${world.build.version}`,
      nowMs: world.nowMs,
      proxy: world.proxy ?? null,
    });
    const ports = createPollPorts(config, {
      world,
      post: client.post,
      stopping: stopping.signal,
      gate: this.#gate,
      counters: this.#counters,
      exchangeLog: this.#exchangeLog,
      observeDuration,
    });
    const explainer = new Explainer({
      post: client.post,
      queue: this.#queue,
      redact: ports.redact,
      hasTrouble: (endpoint) => this.#monitor.hasTrouble(endpoint),
      explain: (target, explanation) => this.#monitor.explain(target, explanation),
      onExchange: (endpoint, exchange) => this.#exchangeLog.note(endpoint, exchange),
      logger: world.logger,
    });
    const polling = startPolling({
      fleet: config.fleet,
      queue: this.#queue,
      underWay: this.#underWay,
      client,
      firstRound: this.#dialects.unpolledOf(config.fleet),
      poll: (endpoint, use) =>
        this.#poll(endpoint, {
          ports: use === "scheduled" ? ports : confirmationPoll(ports),
          renew: client.renew,
          explainer,
        }),
      onSkipped: (indexer) => this.#counters.countSkippedRound(indexer),
      onTick: () => this.#watchdog.tick(),
      onBug: world.onBug,
      monotonicMs: world.monotonicMs,
    });
    const requestIds = new Set(endpointsOf(config.fleet).map(requestIdOf));
    return { config, requestIds, polling, explainer, stopping };
  }

  async #poll(endpoint: Endpoint, { ports, renew, explainer }: PollContext): Promise<Stability> {
    const known = this.#dialects.searchOf(endpoint);
    const { observations, readings, search } = await this.#paritySchedule.poll(endpoint, known, ports);
    this.#options.store.touch();
    if (!this.#running.requestIds.has(requestIdOf(endpoint))) {
      // A reload has changed or removed it meanwhile.
      return "stable";
    }
    this.#dialects.note(endpoint, search);
    if (observations.length === 0) {
      return "stable";
    }
    this.#dialects.markPolled(endpoint);
    const stability = this.#monitor.observe(observations, () =>
      this.#counters.countFailure(endpoint, "implausible"),
    );
    this.#monitor.observeParity(readings);
    this.#parityCounters.count(readings);
    // Not awaited: an index-node API that hangs must not delay the next poll.
    explainer.onPolled(endpoint, observations).catch(this.#options.world.onBug);
    if (stability === "changing") {
      // A kept connection may lead to a server that the host name has left.
      renew(endpoint.url);
    }
    return stability;
  }
}

function hasSameLimits({ poll }: Config, other: Config): boolean {
  return poll.concurrency === other.poll.concurrency && poll.perHost === other.poll.perHost;
}

async function stop({ polling, explainer, stopping }: Running): Promise<void> {
  stopping.abort();
  await polling[Symbol.asyncDispose]();
  await explainer.settled();
}
