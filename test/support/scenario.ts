import { setImmediate as turn } from "node:timers";
import { promisify } from "node:util";
import { vi } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { parseDuration } from "../../src/config/schema/quantities.ts";
import { type Endpoint, endpointsOf, statusEndpointOf } from "../../src/core/model/fleet.ts";
import type { PostRequest, PostResult } from "../../src/core/model/http-post.ts";
import type { Report, TargetReport } from "../../src/core/model/report.ts";
import { Daemon, type DaemonOptions } from "../../src/daemon/daemon.ts";
import { startReportLoop } from "../../src/daemon/report-loop.ts";
import { openHistoryStore } from "../../src/daemon/state/history-store.ts";
import { EMPTY_STATE, parseState } from "../../src/daemon/state/restored-state.ts";
import type { StateStore } from "../../src/daemon/state/store.ts";
import type { HttpClient, HttpClientOptions } from "../../src/io/http-client/client.ts";
import type { SavedState } from "../../src/io/state/file.ts";
import type { World } from "../../src/io/world.ts";
import { METRIC_FAMILIES } from "../../src/metrics/families/all.ts";
import { expositionText } from "../../src/metrics/families/exposition.ts";
import { mirrorOf } from "../../src/sim/fleet/mirror-fleet.ts";
import type { SimulatedEndpoint } from "../../src/sim/fleet/simulated-endpoint.ts";
import { createFleet, type SimulatedFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import type { ChainSpec } from "../../src/sim/model/chain-model.ts";
import type { Fault } from "../../src/sim/servers/faults.ts";
import type { StatusJson } from "../../src/views/api/api-schema.ts";
import { statusJson } from "../../src/views/api/status.ts";
import { renderChainPage } from "../../src/views/page/chain.ts";
import { renderStatusPage } from "../../src/views/page/status.ts";
import { checkExitCode } from "../../src/views/terminal/check-exit-code.ts";
import { selectForCheck } from "../../src/views/terminal/check-selection.ts";
import { renderCheckTable } from "../../src/views/terminal/check-table.ts";
import { type LogLine, recordLog } from "./log-recorder.ts";

export interface ScenarioOptions {
  /** The instant at which the daemon starts. Default: 2026-11-20T03:00:00Z. */
  readonly at?: string;
  /** What `${VAR}` in the configuration stands for. */
  readonly env?: Readonly<Record<string, string>>;
  /** What is changed in the configuration once it is parsed. */
  readonly adjust?: (config: Config) => Config;
  /** How a chain differs from one with even block times. */
  readonly chains?: (spec: ChainSpec) => ChainSpec;
}

const START = "2026-11-20T03:00:00Z";
const PAGE = { nonce: "", version: "0.0.0-test" };
const NO_RELOAD = { successful: true, lastSuccessMs: 0 };
const nextTurn = promisify(turn);

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

export class Scenario implements AsyncDisposable {
  /** The simulated indexers: endpoints and targets have the keys of the configuration. */
  readonly fleet: SimulatedFleet;
  /** Everything the daemon has logged. */
  readonly log: readonly LogLine[];
  /** The lines of a recording, as `run --record` writes them. */
  readonly recording: string[] = [];
  readonly #options: ScenarioOptions;
  readonly #recorded = recordLog();
  readonly #endpoints = new Map<string, SimulatedEndpoint>();
  /** Hosts that refuse connections. */
  readonly #down = new Set<string>();
  readonly #startMs = Date.now();
  readonly #startMonotonicMs = performance.now();
  #suspendedMs = 0;
  #config;
  #running: Running | null = null;

  constructor(chainsYaml: string, options: ScenarioOptions) {
    this.#options = options;
    this.log = this.#recorded.lines;
    this.#config = this.#parse(chainsYaml);
    const mirrored = mirrorOf(this.#config.fleet, () => this.#trueMs());
    const chains = mirrored.chains?.map((spec) => options.chains?.(spec) ?? spec) ?? [];
    this.fleet = createFleet({ ...mirrored, chains }, () => "");
    this.#connect();
  }

  /** Runs on for a time such as `10m`. */
  async run(duration: string): Promise<void> {
    const durationMs = parseDuration(duration);
    if (durationMs === null) {
      throw new RangeError(`Cannot run for ${duration}: expected a duration such as 30s or 10m`);
    }
    const end = { isReached: false };
    setTimeout(() => {
      end.isReached = true;
    }, durationMs);
    while (!end.isReached) {
      vi.advanceTimersToNextTimer();
      await nextTurn();
    }
  }

  /** Stops the daemon, waits for so long, and starts it again on what it has saved, or on nothing. */
  async restart({ state, after = "0s" }: { state: "kept" | "lost"; after?: string }): Promise<void> {
    const saved = this.#running === null ? null : JSON.stringify(this.#running.daemon.snapshot().all().state);
    await this.#stop();
    if (after !== "0s") {
      await this.run(after);
    }
    // What was just written by the daemon is what the file would hold.
    const restored =
      saved === null || state === "lost"
        ? EMPTY_STATE
        : parseState(JSON.parse(saved) as SavedState, Date.now());
    this.#running = await startDaemon(this.#config, {
      world: this.#world(),
      restored,
      openClient: (settings) => this.#openClient(settings),
    });
    await nextTurn();
  }

  /** Changes the configuration of the running daemon; new endpoints are not simulated. */
  async reload(chainsYaml: string): Promise<void> {
    this.#config = this.#parse(chainsYaml);
    this.#connect();
    this.#daemon.apply(this.#config);
    await nextTurn();
  }

  /** Sets the wall clock forward or, with `-10m`, back; nothing else notices. */
  setClock(by: string): void {
    const ms = by.startsWith("-") ? -(parseDuration(by.slice(1)) ?? 0) : (parseDuration(by) ?? 0);
    vi.setSystemTime(Date.now() + ms);
  }

  /** The machine sleeps: chains go on, the monotonic clock stands still, and the wall clock is right afterwards. */
  suspend(duration: string): void {
    const ms = parseDuration(duration) ?? 0;
    this.#suspendedMs += ms;
    vi.setSystemTime(Date.now() + ms);
  }

  /** Hosts refuse connections from now on, or accept them again. */
  setHost(host: string, state: "down" | "up"): void {
    if (state === "down") {
      this.#down.add(host);
    } else {
      this.#down.delete(host);
    }
  }

  report(): Report {
    return this.#daemon.report();
  }

  /** `protocol/variant/tier/chain`. */
  target(key: string): TargetReport {
    const found = this.report()
      .chains.flatMap(({ targets }) => targets)
      .find(({ target }) => target.key === key);
    if (found === undefined) {
      throw new RangeError(`Cannot find target ${key}`);
    }
    return found;
  }

  /** The answer of `/api/v1/status`. */
  status(): StatusJson {
    return statusJson(this.report());
  }

  /** The text of the status page, or of a chain's page, without markup. */
  page(chain?: string): string {
    const html =
      chain === undefined
        ? renderStatusPage(this.report(), PAGE)
        : renderChainPage(this.report(), chain, {
            ...PAGE,
            past: { timesMs: [], reference: [], targets: {} },
            endpoints: this.#daemon.endpoints(chain),
            plots: { script: "", styles: "" },
          });
    return textOf(html ?? "");
  }

  /** The text of `/metrics`, without the metrics of the process. */
  metrics(): string {
    const source = this.#daemon.metricsSource({ reload: NO_RELOAD, replica: null, httpErrors: 0 });
    return expositionText(METRIC_FAMILIES, source);
  }

  /** What `synclag check` prints when it asks this daemon, and its exit code. */
  check(...filters: readonly string[]): { readonly text: string; readonly exitCode: number } {
    const unfiltered = this.status();
    const selected = selectForCheck(unfiltered, filters);
    if (selected.kind === "errors") {
      return { text: selected.errors.join("\n"), exitCode: 3 };
    }
    const text = renderCheckTable(selected.json, {
      unfiltered,
      color: "none",
      widthColumns: null,
      statusesUrl: "docs/statuses.md",
    });
    return { text, exitCode: checkExitCode(selected.json, selected.selections) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    vi.useRealTimers();
  }

  get #daemon(): Daemon {
    if (this.#running === null) {
      throw new Error("Cannot ask the daemon: it is stopped");
    }
    return this.#running.daemon;
  }

  /** The time of the chains, which no step of our clock changes. */
  #trueMs(): number {
    return this.#startMs + (performance.now() - this.#startMonotonicMs) + this.#suspendedMs;
  }

  #parse(chainsYaml: string): Config {
    const config = parseConfig(chainsYaml, {
      file: "chains.yaml",
      env: this.#options.env ?? {},
      readFile(path) {
        throw new Error(`Cannot read ${path}: a scenario has no files`);
      },
    });
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
      monotonicMs: () => performance.now(),
      random: () => 0.5,
      logger: this.#recorded.logger,
      loadConfig: () => this.#config,
      onBug: (error) => {
        throw error;
      },
      build: { version: PAGE.version, revision: "test", nodeVersion: "" },
      isLifecycleEnabled: false,
      stateFile: null,
      recording: { append: (lines) => this.recording.push(...lines) },
    };
  }

  #openClient({ timeoutMs }: HttpClientOptions): HttpClient {
    let close: (received: Received) => void = () => undefined;
    const closed = new Promise<Received>((resolve) => {
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
      renew: () => undefined,
      async [Symbol.asyncDispose]() {
        close({ kind: "failed", reason: "aborted", detail: "cut off" });
      },
    };
  }

  async #answer({ url, headers, body }: PostRequest, timeoutMs: number): Promise<Received> {
    const { host, pathname } = new URL(url);
    const endpoint = this.#endpoints.get(url);
    if (endpoint === undefined || this.#down.has(host)) {
      return { kind: "failed", reason: "connect", detail: `connection to ${host} refused` };
    }
    const pending = endpoint.receive({
      method: "POST",
      path: pathname,
      headers: {
        "content-type": "application/json",
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
      },
      body: JSON.stringify(body),
    });
    const fault = endpoint.takeFault();
    if (fault?.kind === "delivery") {
      return await deliverBadly(fault, timeoutMs);
    }
    await sleep(pending.beforeMs);
    const answer = endpoint.answer(pending);
    await sleep(pending.afterMs);
    const { status, headers: sent = {}, body: text } = fault ?? answer;
    return {
      kind: "replied",
      reply: {
        httpStatus: status,
        contentType: sent["content-type"] ?? null,
        retryAfter: sent["retry-after"] ?? null,
        body: text,
      },
    };
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.[Symbol.asyncDispose]();
  }
}

/** A result without its times. */
type Received =
  | Pick<Extract<PostResult, { kind: "replied" }>, "kind" | "reply">
  | Pick<Extract<PostResult, { kind: "failed" }>, "kind" | "reason" | "detail">;

interface Running extends AsyncDisposable {
  readonly daemon: Daemon;
}

async function startDaemon(
  config: ReturnType<typeof parseConfig>,
  {
    world,
    restored,
    openClient,
  }: Required<Pick<DaemonOptions, "world" | "openClient">> & { readonly restored: StateStore["restored"] },
): Promise<Running> {
  const store: StateStore = {
    restored,
    touch: () => undefined,
    touchJournal: () => undefined,
    problem: () => null,
    flush: () => Promise.resolve(),
    publishUrl: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const daemon = new Daemon(config, { world, store, openClient });
  const history = await openHistoryStore(world);
  const reports = startReportLoop(daemon, history, world);
  return {
    daemon,
    async [Symbol.asyncDispose]() {
      await reports[Symbol.asyncDispose]();
      await history[Symbol.asyncDispose]();
      await daemon[Symbol.asyncDispose]();
    },
  };
}

function withStatusEndpoint(endpoint: Endpoint): readonly Endpoint[] {
  const status = statusEndpointOf(endpoint);
  return status === null ? [endpoint] : [endpoint, status];
}

/** The network's faults, as the HTTP client would tell them. */
async function deliverBadly(
  { how }: Extract<Fault, { kind: "delivery" }>,
  timeoutMs: number,
): Promise<Received> {
  switch (how) {
    case "hang_before_headers":
    case "hang_within_body":
    case "drip":
      await sleep(timeoutMs);
      return { kind: "failed", reason: "timeout", detail: `no reply within ${timeoutMs / 1_000} s` };
    case "reset_before_headers":
    case "reset_within_body":
      return { kind: "failed", reason: "connect", detail: "connection reset" };
    default:
      throw new RangeError(`Cannot play ${how} without a socket: test/faults.test.ts does`);
  }
}

function sleep(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}

/** What a reader sees of a page: its text, a line for each block. */
function textOf(html: string): string {
  return html
    .replace(/<(script|style|template)\b.*?<\/\1>/gs, "")
    .replace(
      /<(?:br|\/?(?:p|div|li|h\d|tr|section|article|header|footer|details|summary|dt|dd|table))\b[^>]*>/g,
      "\n",
    )
    .replace(/<[^>]+>/g, " ")
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? "")
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => line !== "")
    .join("\n");
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
