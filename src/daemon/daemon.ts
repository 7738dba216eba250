import { type BudgetGate, type BudgetRecord, createBudgetGate } from "../budgets/gate.ts";
import { planFleet } from "../budgets/plan.ts";
import type { Config } from "../config/config.ts";
import type { EndpointRecord } from "../core/model/exchange.ts";
import type { Endpoint } from "../core/model/fleet.ts";
import { memoize } from "../core/model/memoize.ts";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { Observation } from "../core/model/observation.ts";
import type { Plan } from "../core/model/plan.ts";
import type { Report } from "../core/model/report.ts";
import { createHttpClient } from "../io/http-client/client.ts";
import type { ProbeResult } from "../io/http-server/routes/server-deps.ts";
import type { World } from "../io/world.ts";
import { openMaintenance } from "../schedule/maintenance.ts";
import { type Handover, type LearnedState, takeHandover } from "./handover.ts";
import { inspectChain } from "./inspect-chain.ts";
import { LoopWatchdog } from "./loop-watchdog.ts";
import { Monitor } from "./monitor.ts";
import { ParitySchedule } from "./parity/parity-schedule.ts";
import { ObservationBatches } from "./polling/batches.ts";
import { PollCounters } from "./polling/counters.ts";
import { DialectCache } from "./polling/dialect-cache.ts";
import { ExchangeLog } from "./polling/exchange-log.ts";
import { ParityCounters } from "./polling/parity-counters.ts";
import { createPollQueue, hasSameLimits, type PollQueue } from "./polling/queue.ts";
import { type PollsUnderWay, requestIdOf } from "./polling/rounds.ts";
import { observationLine, recordedNames, restartLine } from "./recording.ts";
import { type PollContext, type Running, readiness, standBy, startRunning, stopRunning } from "./running.ts";
import type { StateStore, StateStoreOptions } from "./state/store.ts";

export interface DaemonOptions {
  readonly world: World;
  /** The state that the previous process left, and where this one keeps its own. */
  readonly store: StateStore;
  /** The budgets that are recorded in the store, and not in the state file. Default: the state file records them. */
  readonly shared?: BudgetRecord | null;
  /**
   * For one of several replicas, which waits for `startPolling()`: whether a poll may be sent at this moment. Null, the default:
   * it polls at once, and always.
   */
  readonly mayPoll?: (() => boolean) | null;
  /** Opens the client that polls are sent with. Default: over the network. */
  readonly openClient?: typeof createHttpClient;
}

/** The poll loop, on one configuration at a time. */
export class Daemon implements AsyncDisposable {
  readonly #options: DaemonOptions;
  readonly #record: BudgetRecord;
  readonly #gate: BudgetGate;
  readonly #monitor: Monitor;
  readonly #batches: ObservationBatches;
  readonly #counters = new PollCounters();
  readonly #parityCounters = new ParityCounters();
  readonly #exchangeLog = new ExchangeLog();
  readonly #dialects = new DialectCache();
  readonly #paritySchedule: ParitySchedule;
  readonly #watchdog: LoopWatchdog;
  readonly #recordedNamesOf = memoize(recordedNames);
  readonly #planOf = memoize(({ fleet, poll }: Config) => planFleet(fleet, poll));
  readonly #underWay: PollsUnderWay = new Map();
  /** Of earlier configurations, with polls still under way. */
  readonly #retired = new Set<Running>();
  #queue: PollQueue;
  #running: Running;
  #isDraining = false;
  /** Which query each endpoint answered last, by the leader, until this process polls. */
  #learnedQuestions: ReadonlyMap<string, number> | null = null;

  constructor(config: Config, options: DaemonOptions) {
    const { world, shared, store } = options;
    this.#options = options;
    this.#watchdog = new LoopWatchdog(world);
    this.#paritySchedule = new ParitySchedule(world.monotonicMs);
    this.#record = shared ?? store;
    this.#gate = createBudgetGate(this.#record, world.random);
    this.#monitor = new Monitor(config.fleet, {
      nowMs: world.nowMs,
      uptimeMs: world.uptimeMs,
      budgets: () => this.#gate.report(),
      maintenance: (nowMs) => openMaintenance(this.#running.config.maintenance, nowMs),
      onNetworkRestored: (missed) => this.#running.polling?.pollNow(missed),
    });
    this.#batches = new ObservationBatches(this.#monitor, world.onBug);
    const { chains, incidents, questions } = store.restored;
    const state = chains.size > 0 ? "kept" : "lost";
    world.recording?.append([restartLine({ atMs: world.nowMs(), state })]);
    this.#gate.allowProbes();
    this.#monitor.restore(chains, incidents);
    this.#dialects.restore(questions, config.fleet, (endpoint) => this.#monitor.isEvident(endpoint));
    this.#counters.watch(config.fleet);
    this.#parityCounters.watch(config.fleet);
    this.#queue = createPollQueue(config.poll, world.monotonicMs);
    this.#running = options.mayPoll == null ? this.#start(config) : standBy(config);
  }

  /** Whether rounds are started; a replica that stands by does not. */
  isPolling(): boolean {
    return this.#running.polling !== null;
  }

  /** Polls from now on, from what is known: endpoints of which nothing is known at once, the others as they fall due. */
  startPolling(): void {
    if (this.#running.polling === null && !this.#isDraining) {
      this.#restoreQuestions();
      this.#learnedQuestions = null;
      this.#running = this.#start(this.#running.config);
    }
  }

  /** Aborts the polls under way, and waits for their end. Everything learned stays. */
  async stopPolling(): Promise<void> {
    const former = this.#running;
    if (former.polling !== null) {
      this.#running = standBy(former.config);
      await Promise.all([former, ...this.#retired].map(stopRunning));
    }
  }

  /** Takes in what the leader knows. Only while this process does not poll. */
  learn({ chains, incidents, questions, counters, parityFailures }: LearnedState): void {
    this.#learnedQuestions = questions ?? this.#learnedQuestions ?? new Map();
    this.#monitor.restore(chains, incidents ?? undefined);
    this.#counters.restore(counters);
    this.#parityCounters.restore(parityFailures);
  }

  /** What another replica needs in order to go on from here. */
  handover(): Handover {
    return takeHandover({
      monitor: this.#upToDate(),
      dialects: this.#dialects,
      counters: this.#counters,
      parityCounters: this.#parityCounters,
    });
  }

  /** Changes to another configuration: what is in both keeps its state, and its poll if one is under way. */
  apply(config: Config): void {
    if (this.#isDraining) {
      return;
    }
    this.#batches.flush();
    this.#retire(this.#running);
    this.#dialects.retain(config.fleet);
    this.#paritySchedule.retain(config.fleet);
    this.#record.budgets.reload(config.fleet);
    this.#gate.allowProbes();
    this.#monitor.watch(config.fleet);
    this.#counters.watch(config.fleet);
    this.#parityCounters.watch(config.fleet);
    this.#exchangeLog.watch(config.fleet);
    if (!hasSameLimits(config.poll, this.#running.config.poll)) {
      this.#queue = createPollQueue(config.poll, this.#options.world.monotonicMs);
    }
    this.#running = this.#running.polling === null ? standBy(config) : this.#start(config);
    this.#options.store.touch();
  }

  /** What must outlive the process, beside the budgets. */
  save(): ReturnType<StateStoreOptions["state"]> {
    return { ...this.#upToDate().save(), questions: this.#dialects.save() };
  }

  /** Works out the next report in slices, so that `report()` does not block the event loop. */
  prepare(): Promise<void> {
    return this.#upToDate().prepare();
  }

  /** Whether something was observed, or another report was made, since this one. */
  hasNewsSince(report: Report): boolean {
    return this.#upToDate().hasNewsSince(report);
  }

  report(): Report {
    return this.#upToDate().report();
  }

  plan(): Plan {
    return this.#planOf(this.#running.config);
  }

  /** Every endpoint that serves a chain, with its last replies. */
  endpoints(chain: string): readonly EndpointRecord[] {
    return inspectChain(this.#running.config, chain, (key) => this.#exchangeLog.of(key));
  }

  metricsSource(own: Pick<MetricsSource, "httpErrors" | "reload" | "replica">): MetricsSource {
    return {
      ...own,
      report: this.#upToDate().report(),
      endpoints: this.#counters.endpoints(),
      indexers: this.#counters.indexers(),
      parity: this.#parityCounters.all(),
      durations: this.#counters.durations(),
      loop: {
        lastTickMs: this.#watchdog.lastTickMs,
        inFlight: this.#queue.inFlight(),
        queued: this.#queue.queued(),
      },
      lostLogLines: this.#options.world.lostLogLines?.() ?? 0,
    };
  }

  /** Whether the poll loop makes progress. */
  healthy(): ProbeResult {
    const { config, polling } = this.#running;
    if (polling === null) {
      return { ok: true, detail: "Standing by: another replica polls" };
    }
    return this.#watchdog.verdict(config.poll, polling.longestMs());
  }

  /** Whether every indexer was polled at least once. RPC nodes are optional evidence, and not waited for. */
  ready(): ProbeResult {
    if (this.#isDraining) {
      return { ok: false, detail: "Shutting down" };
    }
    const { config } = this.#running;
    this.#restoreQuestions();
    const waiting = this.#dialects.unpolledOf(config.fleet).filter(({ kind }) => kind === "indexer");
    return readiness(this.#running, waiting.length);
  }

  /** Not ready from now on, so that no new traffic is routed here. */
  drain(): void {
    this.#isDraining = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drain();
    await Promise.all([this.#running, ...this.#retired].map(stopRunning));
  }

  /** Takes in what the leader knows of endpoints; asked only when it matters, for it looks at all of them. */
  #restoreQuestions(): void {
    if (this.#learnedQuestions !== null) {
      this.#dialects.restore(this.#learnedQuestions, this.#running.config.fleet, (endpoint) =>
        this.#monitor.isEvident(endpoint),
      );
    }
  }

  #append(observations: readonly Observation[]): void {
    const { recording } = this.#options.world;
    if (recording == null) {
      return;
    }
    const names = this.#recordedNamesOf(this.#running.config.fleet);
    recording.append(
      observations.map((observation) =>
        observationLine(observation, names.get(observation.source) ?? observation.source),
      ),
    );
  }

  /** With all that was polled. */
  #upToDate(): Monitor {
    this.#batches.flush();
    return this.#monitor;
  }

  #retire(running: Running): void {
    const { polling } = running;
    if (polling === null) {
      return;
    }
    this.#retired.add(running);
    polling
      .retire()
      .catch(this.#options.world.onBug)
      .finally(() => this.#retired.delete(running));
  }

  #start(config: Config): Running {
    return startRunning(config, {
      world: this.#options.world,
      openClient: this.#options.openClient ?? createHttpClient,
      gate: this.#gate,
      counters: this.#counters,
      exchangeLog: this.#exchangeLog,
      monitor: this.#monitor,
      queue: this.#queue,
      underWay: this.#underWay,
      firstRound: this.#dialects.unpolledOf(config.fleet),
      poll: (endpoint, context) => this.#poll(endpoint, context),
      onStopped: () => this.#batches.flush(),
      onTick: () => this.#watchdog.tick(),
    });
  }

  async #poll(endpoint: Endpoint, { ports, renew, explainer, onObserved }: PollContext): Promise<void> {
    if (this.#options.mayPoll?.() === false) {
      return onObserved("stable");
    }
    const known = this.#dialects.searchOf(endpoint);
    const polled = await this.#paritySchedule.poll(endpoint, known, ports);
    this.#options.store.touch();
    if (!this.#running.requestIds.has(requestIdOf(endpoint))) {
      // A reload has changed or removed it meanwhile.
      return onObserved("stable");
    }
    this.#dialects.note(endpoint, polled.search);
    if (polled.observations.length === 0) {
      return onObserved("stable");
    }
    this.#dialects.markPolled(endpoint);
    this.#append(polled.observations);
    this.#batches.add(polled, ({ stability, isImplausible }) => {
      if (isImplausible) {
        this.#counters.countFailure(endpoint, "implausible");
      }
      this.#parityCounters.count(polled.readings);
      // Not awaited: an index-node API that hangs must not delay the next poll.
      explainer.onPolled(endpoint, polled.observations).catch(this.#options.world.onBug);
      if (stability === "changing") {
        // A kept connection may lead to a server that the host name has left.
        renew(endpoint.url);
      }
      onObserved(stability);
    });
  }
}
