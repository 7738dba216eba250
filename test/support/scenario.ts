import { setImmediate as turn } from "node:timers";
import { promisify } from "node:util";
import { vi } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { EventLog } from "../../src/core/events/event-log.ts";
import type { EndpointRecord } from "../../src/core/model/exchange.ts";
import { type Endpoint, endpointsOf, statusEndpointOf, targetsByHost } from "../../src/core/model/fleet.ts";
import type { PostRequest, ReplyOrFailure } from "../../src/core/model/http-post.ts";
import type { MetricsSource } from "../../src/core/model/metrics-source.ts";
import type { Report } from "../../src/core/model/report.ts";
import { formatClock, isoTime } from "../../src/core/model/text.ts";
import type { Daemon } from "../../src/daemon/daemon.ts";
import { Reloader } from "../../src/daemon/reloader.ts";
import type { HttpClient, HttpClientOptions } from "../../src/io/http-client/client.ts";
import type { ProbeResult, ServerDeps } from "../../src/io/http-server/routes/server-deps.ts";
import { EMPTY_STATE, type RestoredState, type SavedState, usableState } from "../../src/io/state/file.ts";
import type { World } from "../../src/io/world.ts";
import { mirrorOf } from "../../src/sim/fleet/mirror-fleet.ts";
import {
  type EndpointSpec,
  type SimulatedEndpoint,
  SimulatedFleet,
} from "../../src/sim/fleet/simulated-fleet.ts";
import type { ChainSpec } from "../../src/sim/model/chain-model.ts";
import type { Call } from "../../src/sim/servers/answer.ts";
import type { HistoryJson } from "../../src/views/api/api-schema.ts";
import { eventsJson, incidentsJson, statusHistoryJson } from "../../src/views/api/events.ts";
import { historyJson } from "../../src/views/api/history.ts";
import { type EventQuery, QUERIES, type Query, readSpanQuery } from "../../src/views/api/queries.ts";
import { selectTargets } from "../../src/views/api/selection.ts";
import { renderIncidentsPage } from "../../src/views/page/incidents.ts";
import { renderPlanPage } from "../../src/views/page/plan.ts";
import { renderEventsTable, renderPlanJson, renderPlanTable } from "../../src/views/terminal/tables.ts";
import { deliverBadly, sleep } from "./delivery.ts";
import { type LogLine, recordLog } from "./log-recorder.ts";
import { msOf, Outputs, PAGE, TEST_VERSION, textOf } from "./outputs.ts";
import { parsed } from "./running-app.ts";
import { type DiskState, type Running, SimulatedDisk, savedBy, startDaemon } from "./scenario-daemon.ts";

export interface ScenarioOptions {
  /** The instant at which the daemon starts. Default: 2026-11-20T03:00:00Z. */
  readonly at?: string;
  /** The values of `${VAR}` in the configuration. */
  readonly env?: Readonly<Record<string, string>>;
  /** Changes the parsed configuration. */
  readonly adjust?: (config: Config) => Config;
  /** How a chain differs from one with even block times. */
  readonly chains?: (spec: ChainSpec) => ChainSpec;
  /** Makes the indexers fail before the daemon starts. */
  readonly prepare?: (fleet: SimulatedFleet) => void;
  /** How a simulated endpoint differs from a healthy one. */
  readonly endpoints?: (spec: EndpointSpec) => EndpointSpec;
  /** A chains.yaml whose endpoints are simulated, for a reload that adds some. Default: the one that the daemon starts with. */
  readonly simulated?: string;
}

/** A request as its provider sees it. */
export interface ReceivedRequest {
  /** The key of the endpoint. */
  readonly endpoint: string;
  /** Milliseconds since the start of the scenario. */
  readonly atMs: number;
  /** When its reply was sent, or the caller gave up; Infinity while it is under way. */
  readonly endMs: number;
  /** The path of the URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The GraphQL query; of an RPC node, the empty string. */
  readonly query: string;
}

const START = "2026-11-20T03:00:00Z";
const NOT_ENDED = Number.POSITIVE_INFINITY;
const nextTurn = promisify(turn);

/** The names that Node gives to reading, writing and closing a file. */
const FILE_WORK = new Set(["FSReqPromise", "FSReqCallback", "CloseReq"]);

/** Waits until no file is read or written. That takes real time, in which virtual time must not advance. */
async function untilFilesAreDone(): Promise<void> {
  do {
    // A poll that ends frees its place in one turn of the event loop; the next poll takes it in the following turn.
    await nextTurn();
    await nextTurn();
    await nextTurn();
  } while (process.getActiveResourcesInfo().some((kind) => FILE_WORK.has(kind)));
}

/**
 * Runs the real daemon on the text of a chains.yaml in virtual time, against simulated indexers, without a socket: an hour takes a
 * fraction of a second. `fleet` makes the indexers and chains of the configuration fail and recover.
 *
 * Timers are faked in the whole process until the scenario is disposed, so a test has one scenario at a time.
 */
export async function startScenario(chainsYaml: string, options: ScenarioOptions = {}): Promise<Scenario> {
  vi.useFakeTimers({
    now: Date.parse(options.at ?? START),
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"],
  });
  try {
    const scenario = new Scenario(chainsYaml, options);
    await scenario.restart({ state: "lost" });
    return scenario;
  } catch (error) {
    vi.useRealTimers();
    throw error;
  }
}

export class Scenario extends Outputs implements AsyncDisposable {
  /** The simulated indexers: endpoints and targets have the keys of the configuration. */
  readonly fleet: SimulatedFleet;
  /** All lines that the daemon has logged. */
  readonly log: readonly LogLine[];
  /** The lines of a recording, as `run --record` writes them. */
  readonly recording: string[] = [];
  /** The texts of the messages to the webhook, with their times. */
  readonly posted: string[] = [];
  /** Every request that has reached an endpoint, in order. */
  readonly received: ReceivedRequest[] = [];
  readonly #options: ScenarioOptions;
  readonly #recorded = recordLog();
  readonly #endpoints = new Map<string, SimulatedEndpoint>();
  /** URLs that the endpoint of another URL serves. */
  readonly #led = new Map<string, string>();
  /** Hosts that refuse connections. */
  readonly #down = new Set<string>();
  readonly #disk = new SimulatedDisk();
  readonly #reloader;
  readonly #startMs = Date.now();
  readonly #startMonotonicMs = performance.now();
  /** Of the virtual time of this scenario. */
  readonly #setTimeout = globalThis.setTimeout;
  #suspendedMs = 0;
  #stalledMs = 0;
  #config;
  /** The text that the next reload reads. */
  #file: string;
  #isEdited = false;
  #running: Running | null = null;

  constructor(chainsYaml: string, options: ScenarioOptions) {
    super();
    this.#options = options;
    this.log = this.#recorded.lines;
    this.#file = chainsYaml;
    this.#config = this.#parse(chainsYaml);
    const { fleet } = this.#parse(options.simulated ?? chainsYaml);
    // The time of the chains, which does not change when our clock is set.
    const mirrored = mirrorOf(fleet, () => this.#startMs + this.#elapsedMs() + this.#suspendedMs);
    const chains = mirrored.chains.map((spec) => options.chains?.(spec) ?? spec);
    const endpoints = mirrored.endpoints.map((spec) => options.endpoints?.(spec) ?? spec);
    this.fleet = new SimulatedFleet({ ...mirrored, chains, endpoints });
    this.#connect();
    this.#reloader = new Reloader(this.#world(), this.#config, {
      reloaded: (config) => {
        this.#config = config;
        this.#connect();
        this.#daemon.apply(config);
      },
      failed: (detail) => this.#running?.events.reloadFailed(detail),
    });
    options.prepare?.(this.fleet);
  }

  /** Lets a time such as `10m` pass. */
  async run(duration: string): Promise<void> {
    const end = { isReached: false };
    setTimeout(() => {
      end.isReached = true;
    }, msOf(duration));
    await untilFilesAreDone();
    while (!end.isReached) {
      if (this.#isOver()) {
        throw new Error("Cannot run on: the test has ended");
      }
      vi.advanceTimersToNextTimer();
      await untilFilesAreDone();
    }
  }

  /** What the state file would contain now. */
  saved(): SavedState {
    return savedBy(this.#daemon, this.#running?.budgets);
  }

  /**
   * Stops the daemon, waits, and starts it again on its saved state, on none, or on another state; `chainsYaml` is the configuration
   * at that time.
   */
  async restart({
    state,
    after = "0s",
    chainsYaml,
  }: {
    /** `written`: the state that was on the disk a moment before, as after a kill. */
    readonly state: "kept" | "lost" | "written" | RestoredState;
    readonly after?: string;
    readonly chainsYaml?: string;
  }): Promise<void> {
    const running = this.#running;
    const written = running?.written() ?? null;
    const history = structuredClone(new Map(running?.history.save()));
    if (state === "kept") {
      running?.events.stopped();
    }
    const past = state === "lost" ? [] : (running?.events.log.all() ?? []);
    await this.#stop();
    // The process does this too: its last write follows the end of its polls.
    const saved =
      state === "written" || running === null ? written : savedBy(running.daemon, running.budgets);
    if (after !== "0s") {
      await this.run(after);
    }
    if (chainsYaml !== undefined) {
      this.#config = this.#parse(chainsYaml);
      this.#connect();
    }
    const isKept = saved !== null && state !== "lost";
    const kept = isKept ? usableState(saved, Date.now(), () => undefined) : EMPTY_STATE;
    const restored = typeof state === "string" ? kept : state;
    const openClient = (settings: HttpClientOptions) => this.openClient(settings);
    const world = this.#world();
    this.#running = await startDaemon(this.#config, {
      ...{ world, disk: this.#disk, restored, past, openClient },
      onPosted: (text) => this.posted.push(`${formatClock(Date.now(), Date.now())} ${text}`),
    });
    if (state === "kept") {
      this.#running.history.restore(history);
    }
    await nextTurn();
  }

  /** Changes the configuration file, and has the running daemon read it again. */
  async reload(chainsYaml: string): Promise<ProbeResult> {
    this.#file = chainsYaml;
    const result = this.#reloader.reload();
    await nextTurn();
    return result;
  }

  /** Changes the configuration file, which the daemon watches from now on. */
  edit(chainsYaml: string): void {
    this.#file = chainsYaml;
    this.#isEdited = true;
    this.#reloader.watch();
  }

  /** From now on, writes to the disk succeed, fail, or hang until the disk works again. */
  setDisk(state: DiskState): void {
    this.#disk.set(state);
  }

  /** Sets the wall clock forward or, with `-10m`, back; the chains and the monotonic clock do not change. */
  setClock(by: string): void {
    vi.setSystemTime(Date.now() + msOf(by));
  }

  /** The machine sleeps: chains continue, the monotonic clock stops, and the wall clock is right afterwards. */
  suspend(duration: string): void {
    const ms = msOf(duration);
    this.#suspendedMs += ms;
    vi.setSystemTime(Date.now() + ms);
  }

  /** The process of the daemon is suspended: chains and both clocks continue, and its timers are late. */
  stall(duration: string): void {
    this.#stalledMs += msOf(duration);
    this.suspend(duration);
  }

  /** From now on the endpoint of `to` replies to requests for `url`, as if a name led to the wrong server; null: the own endpoint again. */
  lead(url: string, to: string | null): void {
    this.#led.set(url, to ?? url);
  }

  /** Hosts refuse connections from now on, or accept them again. */
  setHost(host: string, state: "down" | "up"): void {
    this.#down[state === "down" ? "add" : "delete"](host);
  }

  report(): Report {
    // The daemon's own report, if nothing is added to it.
    const { error } = this.#reloader.state;
    return error === null ? this.#daemon.report() : { ...this.#daemon.report(), reload_error: error };
  }

  metricsSource(): MetricsSource {
    return this.#daemon.metricsSource({
      ...{ reload: this.#reloader.state, replica: null, httpErrors: 0 },
      notifications: { sent: 0, failed: 0, dropped: 0 },
      incidents: this.#running?.events.incidents ?? new Map(),
    });
  }

  protected endpointRecords(chain: string): readonly EndpointRecord[] {
    return this.#daemon.endpoints(chain);
  }

  /** The reply of `/api/v1/history` for a protocol on a chain, for this time until now. */
  history(protocol: string, chain: string, { hours = 24, points = 1_000 } = {}): HistoryJson {
    const report = this.report();
    const targets = selectTargets(report.targets, { protocol, chain });
    if (targets.length === 0 || this.#running === null) {
      throw new RangeError(`Cannot find targets of ${protocol} on ${chain}`);
    }
    const nowMs = Date.now();
    const span = { fromMs: nowMs - hours * 3_600_000, toMs: nowMs, points };
    const keys = targets.map(({ key }) => key);
    return historyJson(report, targets, this.#running.history.past(chain, keys, span));
  }

  /** The events that match a query, such as `{ kind: "incident" }`. */
  events(query: Query = {}) {
    return eventsJson(this.report(), this.eventLog(), this.#asked(query), targetsByHost(this.#config.fleet));
  }

  /** The reply of `/api/v1/incidents`. */
  incidents(query: Query = {}) {
    return incidentsJson(this.report(), this.eventLog(), this.#asked(query));
  }

  /** The reply of `/api/v1/status/{protocol}/{chain}/history`. */
  statusHistory(protocol: string, chain: string, query: Query = {}) {
    return statusHistoryJson(this.report(), this.eventLog(), { protocol, chain }, this.#asked(query));
  }

  /** The text of the page of incidents, of the last day. */
  incidentsPage(query: Query = {}): string {
    const hosts = targetsByHost(this.#config.fleet);
    const options = { ...PAGE, events: this.eventLog() };
    return textOf(renderIncidentsPage(this.report(), this.#asked(query), hosts, options));
  }

  /** What `synclag events` prints. */
  eventsTable(query: Query = {}): string {
    const { events, total } = this.events(query);
    return renderEventsTable(events, total, Date.now());
  }

  /** What a server shows of this instant; it outlives the scenario. */
  snapshot(): Pick<ServerDeps, "report" | "past" | "events" | "endpoints" | "plan" | "settings"> {
    const [report, plan, events] = [this.report(), this.#daemon.plan(), new EventLog()];
    events.replace(this.eventLog().all());
    const history = this.#running?.history;
    const records = new Map(report.chains.map(({ slug }) => [slug, this.#daemon.endpoints(slug)]));
    const { fleet } = this.#config;
    const links = { alertmanager: null, grafana: null, runbooks: null };
    return {
      report: () => report,
      past: (...asked) => history?.past(...asked) ?? { timesMs: [], reference: [], targets: {} },
      events,
      endpoints: (chain) => records.get(chain) ?? [],
      plan: () => plan,
      settings: () => ({
        cors: [],
        fleet,
        public: { protocols: null, title: "Status", notice: null },
        links,
      }),
    };
  }

  protected override eventLog(): EventLog {
    return this.#running?.events.log ?? new EventLog();
  }

  #asked(query: Query): EventQuery {
    const asked = readSpanQuery(QUERIES.events, query, isoTime(Date.now()));
    if (typeof asked === "string") {
      throw new RangeError(asked);
    }
    return asked;
  }

  /** What `synclag plan` prints. */
  plan(format: "table" | "json" = "table"): string {
    const plan = this.#daemon.plan();
    return format === "json" ? renderPlanJson(plan) : renderPlanTable(plan);
  }

  /** The text of the plan page. */
  planPage(): string {
    return textOf(renderPlanPage(this.report(), this.#daemon.plan(), PAGE));
  }

  /** The reply of `/-/healthy`. */
  healthy(): ProbeResult {
    return this.#daemon.healthy();
  }

  /** The reply of `/-/ready`. */
  ready(): ProbeResult {
    return this.#daemon.ready();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#reloader[Symbol.dispose]();
    await this.#stop();
    if (!this.#isOver()) {
      vi.useRealTimers();
    }
  }

  /** Whether the test ran out of time: then time is real again, or that of another scenario. */
  #isOver(): boolean {
    return globalThis.setTimeout !== this.#setTimeout;
  }

  get #daemon(): Daemon {
    if (this.#running === null) {
      throw new Error("Cannot ask the daemon: it is stopped");
    }
    return this.#running.daemon;
  }

  #elapsedMs(): number {
    return performance.now() - this.#startMonotonicMs;
  }

  #parse(chainsYaml: string): Config {
    const config = parsed(chainsYaml, this.#options.env);
    return this.#options.adjust?.(config) ?? config;
  }

  /** Leads each URL of the configuration to its simulated endpoint. */
  #connect(): void {
    this.#endpoints.clear();
    for (const endpoint of endpointsOf(this.#config.fleet).flatMap(withStatusEndpoint)) {
      for (const simulated of this.fleet.endpoints(endpoint.key)) {
        this.#endpoints.set(endpoint.url, simulated);
      }
    }
  }

  #world(): World {
    return {
      nowMs: () => Date.now(),
      monotonicMs: () => performance.now() + this.#stalledMs,
      uptimeMs: () => performance.now() + this.#suspendedMs,
      random: () => 0.5,
      logger: this.#recorded.logger,
      loadConfig: () => this.#parse(this.#file),
      hasConfigChanged: () => {
        const isEdited = this.#isEdited;
        this.#isEdited = false;
        return isEdited;
      },
      onBug: (error) => {
        throw error;
      },
      build: { version: TEST_VERSION, revision: "test", nodeVersion: "" },
      isLifecycleEnabled: false,
      stateFile: null,
      recording: { append: (lines) => this.recording.push(...lines) },
    };
  }

  /** A client for a process of its own, which reaches the same indexers. */
  openClient({ timeoutMs }: HttpClientOptions): HttpClient {
    let close: (received: ReplyOrFailure) => void = () => undefined;
    const closed = new Promise<ReplyOrFailure>((resolve) => {
      close = resolve;
    });
    return {
      post: async (request) => {
        const startedMs = performance.now();
        const received = await Promise.race([this.#answer(request, timeoutMs), closed]);
        // As the real client: the times are those of the clock after the reply.
        const receivedAtMs = Date.now();
        const sentAtMs = receivedAtMs - Math.round(performance.now() - startedMs);
        return { sentAtMs, receivedAtMs, ...received };
      },
      async [Symbol.asyncDispose]() {
        close({ kind: "failed", reason: "aborted", detail: "cut off" });
      },
    };
  }

  async #answer({ url, headers, body }: PostRequest, timeoutMs: number): Promise<ReplyOrFailure> {
    const { host, pathname } = new URL(url);
    const endpoint = this.#endpoints.get(this.#led.get(url) ?? url);
    if (endpoint === undefined || this.#down.has(host) || this.fleet.isClosed) {
      return { kind: "failed", reason: "connect", detail: `connection to ${host} refused` };
    }
    const asked = typeof body === "string" ? null : body;
    const text = typeof body === "string" ? body : JSON.stringify(asked);
    const query = String(asked?.["query"] ?? "");
    const sent = { path: pathname, headers, body: body === null ? "" : text };
    const times = { atMs: this.#elapsedMs(), endMs: NOT_ENDED };
    const request = { endpoint: endpoint.key, query, ...sent, ...times };
    this.received.push(request);
    try {
      return await this.#deliver(endpoint, { method: body === null ? "GET" : "POST", ...sent }, timeoutMs);
    } finally {
      request.endMs = this.#elapsedMs();
    }
  }

  async #deliver(endpoint: SimulatedEndpoint, call: Call, timeoutMs: number): Promise<ReplyOrFailure> {
    const named = Object.entries(call.headers).map(([name, value]) => [name.toLowerCase(), value]);
    const headers = { "content-type": "application/json", ...Object.fromEntries(named) };
    const pending = endpoint.receive({ ...call, headers });
    await sleep(pending.beforeMs);
    const answer = endpoint.answer(pending);
    if (answer.damage !== undefined) {
      return await deliverBadly(answer.damage, timeoutMs, timeoutMs - pending.beforeMs);
    }
    await sleep(pending.afterMs);
    const { status: httpStatus, headers: sent, body } = answer;
    const { location, "retry-after": retryAfter = null } = sent;
    return { kind: "replied", reply: { httpStatus, retryAfter, ...(location && { location }), body } };
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.[Symbol.asyncDispose]();
  }
}

function withStatusEndpoint(endpoint: Endpoint): readonly Endpoint[] {
  const status = statusEndpointOf(endpoint);
  return status === null ? [endpoint] : [endpoint, status];
}
