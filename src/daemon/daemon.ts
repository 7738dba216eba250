import { BudgetGate, type BudgetRecord } from "../budgets/gate.ts";
import { planFleet } from "../budgets/plan.ts";
import type { Config } from "../config/config.ts";
import type { EndpointRecord } from "../core/model/exchange.ts";
import { memoize } from "../core/model/memoize.ts";
import type { Counts, MetricsSource } from "../core/model/metrics-source.ts";
import type { Observation } from "../core/model/observation.ts";
import type { Plan } from "../core/model/plan.ts";
import type { Report } from "../core/model/report.ts";
import { createHttpClient } from "../io/http-client/client.ts";
import type { ProbeResult } from "../io/http-server/routes/server-deps.ts";
import type { KnownState } from "../io/state/parts.ts";
import type { World } from "../io/world.ts";
import { openMaintenance } from "../schedule/maintenance.ts";
import { endpointRecords } from "./endpoint-records.ts";
import { Monitor } from "./monitor.ts";
import { Poller, type PollerParts } from "./poller.ts";
import { EndpointStates } from "./polling/endpoint-state.ts";
import { PollQueue } from "./polling/queue.ts";
import { unlistedChains } from "./polling/unlisted-chains.ts";
import { restartLine } from "./recording.ts";
import type { StateStore } from "./state/store.ts";

export interface DaemonOptions extends Partial<Pick<PollerParts, "openClient" | "mayPoll">> {
  readonly world: PollerParts["world"] & Pick<World, "uptimeMs">;
  /** The state that the previous process left, and where this one keeps its own. */
  readonly store: StateStore;
  /** The budgets that a shared store records. Default: the state file records them. */
  readonly shared?: BudgetRecord | null;
}

/** The state of another replica, with times by the clock of this process. Absent parts are unchanged. */
export interface LearnedState extends Partial<KnownState> {
  readonly chains: KnownState["chains"];
  /** By the endpoint's key. */
  readonly counters: Readonly<Record<string, Counts>>;
}

/** The scheduler ticks every second. After this time without a tick, it is stuck. */
const MAX_BETWEEN_TICKS_MS = 15_000;
/** A poll counts as stuck if it exceeds its own deadlines by this time. */
const POLL_GRACE_MS = 30_000;
/** In one attempt of a poll, at most this number of questions are slow. `auto` has more, but asks the next only after a reply. */
const MAX_SLOW_QUESTIONS = 8;

/** The poll loop, with one configuration at a time. It is a standby until it is started. */
export class Daemon implements AsyncDisposable {
  readonly #options: DaemonOptions;
  readonly #record: BudgetRecord;
  readonly #gate: BudgetGate;
  readonly #monitor: Monitor;
  readonly #states: EndpointStates;
  readonly #queue: PollQueue;
  readonly #planOf = memoize(({ fleet }: Config) => planFleet(fleet));
  #config: Config;
  #tick: ReturnType<typeof tickOf>;
  /** Null while this replica is a standby. */
  #poller: Poller | null = null;
  /** Pollers of earlier configurations with running polls. */
  readonly #retired = new Set<Poller>();
  #notified: KnownState["notified"] = [];
  #isDraining = false;
  /** Whether a status has changed since the incidents were decided. */
  #hasTurned = false;

  constructor(config: Config, options: DaemonOptions) {
    const { world, shared, store } = options;
    this.#options = options;
    this.#config = config;
    this.#tick = tickOf(world);
    this.#record = shared ?? store;
    this.#gate = new BudgetGate(this.#record, world.random);
    this.#monitor = new Monitor(config.fleet, {
      nowMs: world.nowMs,
      uptimeMs: world.uptimeMs,
      budgets: () => this.#record.budgets.report(this.#record.nowMs()),
      unlisted: () => unlistedChains(this.#config.fleet, this.#states.all()),
      maintenance: (nowMs) => openMaintenance(this.#config.maintenance, nowMs),
    });
    this.#states = new EndpointStates(config.fleet);
    this.#queue = new PollQueue(config.poll);
    const { restored } = store;
    const state = Object.keys(restored.chains).length > 0 ? "kept" : "lost";
    world.recording?.append([restartLine({ atMs: world.nowMs(), state })]);
    this.#record.budgets.shortenBackOffs(this.#record.nowMs());
    this.#monitor.restore(restored);
    this.#states.restoreQuestions(restored.questions);
    this.#notified = restored.notified;
  }

  get config(): Config {
    return this.#config;
  }

  /** Whether rounds are started; a standby starts none. */
  isPolling(): boolean {
    return this.#poller !== null;
  }

  /** Starts the schedules. Endpoints that no process has polled yet are polled at once. */
  startPolling(): void {
    if (this.#poller === null && !this.#isDraining) {
      const { world } = this.#options;
      this.#noteEvidence();
      this.#poller = this.#createPoller();
      this.#poller.start(() => {
        this.#tick = tickOf(world);
      });
    }
  }

  /** Aborts the polls under way, and waits for their end. Everything learned stays. */
  async stopPolling(): Promise<void> {
    const pollers = [...(this.#poller === null ? [] : [this.#poller]), ...this.#retired];
    this.#poller = null;
    await Promise.all(pollers.map((poller) => poller[Symbol.asyncDispose]()));
    // The results of the last polls are decided, so that they are saved and handed over.
    const consequences = this.#monitor.tick();
    for (const poller of pollers) {
      poller.actOn(consequences);
    }
  }

  /** Polls every endpoint once, for `check`, from the spare part of the budgets; returns the observations. */
  async checkOnce(): Promise<readonly Observation[]> {
    await using poller = this.#createPoller();
    const observations = await poller.check();
    poller.actOn(this.#monitor.tick());
    await poller.explanationsEnded();
    this.#monitor.decideIncidents();
    return observations;
  }

  /**
   * Decides the statuses by the polls since the last call, and acts on the consequences. Returns whether a status has changed
   * since `decideIncidents`. To be called each second.
   */
  tick(): boolean {
    const consequences = this.#monitor.tick();
    this.#noteEvidence();
    for (const poller of [...this.#retired, ...(this.#poller === null ? [] : [this.#poller])]) {
      poller.actOn(consequences);
    }
    if (consequences.hasTurned) {
      this.#hasTurned = true;
      this.#options.store.touchSoon();
    }
    return this.#hasTurned;
  }

  /** Decides the present incidents, and returns a report with them. */
  decideIncidents(): Report {
    this.#hasTurned = false;
    return this.#monitor.decideIncidents();
  }

  /** Takes over the state of the leader, while this process does not poll. */
  learn(learned: LearnedState): void {
    this.#states.restoreQuestions(learned.questions ?? {});
    this.#monitor.restore(learned);
    this.#notified = learned.notified ?? this.#notified;
    for (const [key, counts] of Object.entries(learned.counters)) {
      this.#states.countersOf(key).restore(counts);
    }
  }

  /** The state with which another replica continues; an unchanged part is the same object, or has the same revision. */
  handover() {
    return { ...this.save(), counters: this.#states.counters() };
  }

  /** Changes to another configuration: endpoints in both keep their state and their running poll. */
  apply(config: Config): void {
    if (this.#isDraining) {
      return;
    }
    this.tick();
    const former = this.#poller;
    if (former !== null) {
      this.#retired.add(former);
      former
        .retire()
        .then(() => this.tick())
        .catch(this.#options.world.onBug)
        .finally(() => this.#retired.delete(former));
    }
    this.#config = config;
    this.#record.budgets.reload(config.fleet);
    this.#record.budgets.shortenBackOffs(this.#record.nowMs());
    this.#monitor.watch(config.fleet);
    this.#states.watch(config.fleet);
    this.#queue.setLimits(config.poll);
    if (former !== null) {
      this.#poller = null;
      this.startPolling();
    }
  }

  /** The state to save, without the budgets. */
  save(): KnownState {
    return { ...this.#monitor.save(), questions: this.#states.saveQuestions(), notified: this.#notified };
  }

  /** The recent incidents, and what the webhook has reported of them. */
  get notified(): KnownState["notified"] {
    return this.#notified;
  }

  keepNotified(notified: KnownState["notified"]): void {
    this.#notified = notified;
  }

  /** Works out the next report in slices, so that `report()` does not block the event loop. */
  prepare(): Promise<void> {
    return this.#monitor.prepare();
  }

  report(): Report {
    return this.#monitor.report();
  }

  plan(): Plan {
    return this.#planOf(this.#config);
  }

  endpoints(chain: string): readonly EndpointRecord[] {
    return endpointRecords(this.#config, chain, this.#states);
  }

  metricsSource(
    own: Pick<MetricsSource, "httpErrors" | "incidents" | "notifications" | "reload" | "replica">,
  ): MetricsSource {
    return {
      ...own,
      fleet: this.#config.fleet,
      // Copied, because they change while the metrics are written.
      counts: new Map(Array.from(this.#states.counters(), ([key, { counts }]) => [key, { ...counts }])),
      report: this.report(),
      loop: {
        lastTickMs: this.#tick.atMs,
        inFlight: this.#queue.inFlight(),
        queued: this.#queue.queued(),
      },
    };
  }

  /** Whether the poll loop makes progress. */
  healthy(): ProbeResult {
    if (this.#poller === null) {
      return { ok: true, detail: "Standing by: another replica polls" };
    }
    const { timeoutMs, retries } = this.#config.poll;
    const sinceTickMs = this.#options.world.monotonicMs() - this.#tick.monotonicMs;
    if (sinceTickMs > MAX_BETWEEN_TICKS_MS) {
      return { ok: false, detail: `The scheduler has not ticked for ${Math.round(sinceTickMs / 1000)} s` };
    }
    const longestMs = this.#poller.longestMs();
    return longestMs > timeoutMs * (retries + 1) * MAX_SLOW_QUESTIONS + POLL_GRACE_MS
      ? { ok: false, detail: `A poll has been in flight for ${Math.round(longestMs / 1000)} s` }
      : { ok: true, detail: "The poll loop makes progress" };
  }

  /** Whether every endpoint of the indexers was polled, by this process or another one. RPC nodes are optional evidence, and not waited for. */
  ready(): ProbeResult {
    if (this.#isDraining) {
      return { ok: false, detail: "Shutting down" };
    }
    const waiting = this.#states
      .all()
      .filter(({ endpoint, isPolled }) => endpoint.kind === "indexer" && !isPolled).length;
    if (waiting === 0) {
      return { ok: true, detail: "Every endpoint was polled" };
    }
    const detail =
      this.#poller === null
        ? `Waiting for the leader's report of ${waiting} endpoints`
        : `First round in progress: ${waiting} endpoints left`;
    return { ok: false, detail };
  }

  /** Makes `ready()` fail from now on, so that no new traffic is routed here. */
  drain(): void {
    this.#isDraining = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopPolling();
  }

  #noteEvidence(): void {
    this.#states.noteEvidence((endpoint) => this.#monitor.hasEvidence(endpoint));
  }

  #createPoller(): Poller {
    const { mayPoll = () => true, openClient = createHttpClient, store, world } = this.#options;
    return new Poller(this.#config, {
      world,
      openClient,
      mayPoll,
      queue: this.#queue,
      gate: this.#gate,
      states: this.#states,
      monitor: this.#monitor,
      onPolled: () => store.touch(),
    });
  }
}

function tickOf({ monotonicMs, nowMs }: DaemonOptions["world"]) {
  return { atMs: nowMs(), monotonicMs: monotonicMs() };
}
