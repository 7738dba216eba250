import type { EndpointRecord } from "../../src/core/model/exchange.ts";
import { endpointsOf, sourceKeysOf } from "../../src/core/model/fleet.ts";
import type { MetricsSource } from "../../src/core/model/metrics-source.ts";
import type { FailureReason, Head, Observation } from "../../src/core/model/observation.ts";
import type { ParityReading } from "../../src/core/model/parity.ts";
import type { Report } from "../../src/core/model/report.ts";
import type { Status } from "../../src/core/model/statuses.ts";
import { Monitor, type SavedMonitor } from "../../src/daemon/monitor.ts";
import { type ChainModel, createChain, headAt, timeOf } from "../../src/sim/model/chain-model.ts";
import { fleetOf, metricsSource } from "./metrics-source.ts";
import { isNamed, msOf, Outputs } from "./outputs.ts";
import { configOf } from "./running-app.ts";

/** 2026-11-20T03:00:00Z. */
export const START_MS = 1_795_143_600_000;
export const FIRST_BLOCK = 1_000_000;
/** The longest step: sources are polled each 15 s or more rarely. */
const STEP_MS = 15_000;
const MINUTE_MS = 60_000;
const LATENCY_MS = 100;

/** What a source replies: a height, `missing` or `not_started`, or how its poll fails; null: it is not polled. */
export type Reply =
  | number
  | (Partial<Head> & { readonly block: number })
  | FailureReason
  | { readonly failed: FailureReason; readonly detail: string }
  | "missing"
  | "not_started"
  | null;

/** The chain of a source at the instant of a poll. */
interface Moment {
  /** The newest block of the chain. */
  readonly head: number;
  /** Unix seconds at which the chain made a block, of the past or of the future. */
  readonly time: (block: number) => number;
}

export type Script = (moment: Moment) => Reply;

/** This number of blocks behind the head, or ahead of it if negative. */
export function behind(blocks: number): Script {
  return ({ head }) => head - blocks;
}

/** This number of blocks behind the head, with the time of the block, which is wrong by `offSec`. */
export function dated(blocks = 0, offSec = 0): Script {
  return ({ head, time }) => ({ block: head - blocks, timestampSec: time(head - blocks) + offSec });
}

/** One reply after the other, again and again. */
export function inTurn(...scripts: readonly Script[]): Script {
  let next = 0;
  return (moment) => {
    const script = scripts[next % scripts.length];
    next += 1;
    return script === undefined ? null : script(moment);
  };
}

interface Source {
  readonly key: string;
  readonly host: string;
  readonly intervalMs: number;
  readonly blockTimeMs: number;
}

/**
 * What Synclag says of a chains.yaml whose sources reply as scripts say: without a network, a daemon or confirmation polls, so
 * an hour takes milliseconds. Every source is polled at its own interval, and is at the head of its chain until a script says
 * otherwise; RPC nodes report the times of their blocks.
 */
export class ScriptedFleet extends Outputs {
  #config;
  #monitor;
  #sources: readonly Source[];
  readonly #scripts = new Map<string, Script>();
  readonly #polled = new Set<string>();
  /** How often statuses have changed. */
  #turns = 0;
  /** The true time, which the chains follow. */
  #trueMs = START_MS;
  /** The difference between the wall clock and the true time. */
  #clockOffsetMs = 0;
  /** When all chains halted or continued. */
  readonly #changes: { readonly atMs: number; readonly isHalt: boolean }[] = [];

  constructor(chainsYaml: string) {
    super();
    this.#config = configOf(chainsYaml);
    this.#monitor = this.#newMonitor();
    this.#sources = this.#sourcesOf();
  }

  /** The instant on the wall clock, unix milliseconds. */
  get nowMs(): number {
    return this.#trueMs + this.#clockOffsetMs;
  }

  /** The newest block of a chain with a block each `blockTimeMs`. */
  head(blockTimeMs = 2_000): number {
    return headAt(this.#chain(blockTimeMs), this.#trueMs);
  }

  /**
   * What the sources of this name reply from now on; a name is whole segments of a key, such as `subgraph` or `rpc`, or a host.
   * It may have alternatives: `subgraph/production/(base|form)`.
   */
  script(name: string, script: Script): this {
    for (const { key } of this.#named(name)) {
      this.#scripts.set(key, script);
    }
    return this;
  }

  /** Lets a time such as `10m` pass, and calls back at the beginning of each minute, at the end, and when a status has changed. */
  run(duration: string, look: (elapsedMs: number) => unknown = () => undefined): this {
    const [startMs, endMs] = [this.#trueMs, this.#trueMs + msOf(duration)];
    while (this.#trueMs < endMs) {
      const turns = this.#turns;
      this.#step(Math.min(STEP_MS, endMs - this.#trueMs));
      const elapsedMs = this.#trueMs - startMs;
      if (this.#turns !== turns || elapsedMs % MINUTE_MS === STEP_MS || this.#trueMs === endMs) {
        look(elapsedMs);
      }
    }
    return this;
  }

  /** Runs for this time, and returns the statuses of all targets that occur meanwhile, each once. */
  statusesDuring(duration: string): readonly Status[] {
    const seen: Status[] = [];
    this.run(duration, () => seen.push(...this.statuses()));
    return [...new Set(seen)].toSorted();
  }

  /** The statuses of all targets, in the order of the file. */
  statuses(): readonly Status[] {
    return this.report().targets.map(({ status }) => status);
  }

  /** Lets time pass without any poll. */
  wait(duration: string): this {
    this.#trueMs += msOf(duration);
    return this;
  }

  /** Polls the sources of this name now, and no others; they reply this, or by their scripts. */
  poll(name: string, reply?: Reply): this {
    const observations = this.#named(name).map((source) => this.#observe(source, reply));
    this.#monitor.observe(observations.flat());
    return this;
  }

  /** Folds in what was observed, and the values of parity that came with it. */
  observe(observations: readonly Observation[], readings: readonly ParityReading[] = []): this {
    this.#monitor.observe(observations, readings);
    return this;
  }

  /** Keys of the sources of this name. */
  keys(name: string): readonly string[] {
    return this.#named(name).map(({ key }) => key);
  }

  /** All chains halt, or continue from where they halted. */
  setChains(state: "halted" | "running"): void {
    this.#changes.push({ atMs: this.#trueMs, isHalt: state === "halted" });
  }

  /** What a state file holds of the sources. */
  saved(): string {
    this.#tick();
    return JSON.stringify(this.#monitor.save());
  }

  /** Starts again on what was saved. */
  restart(): this {
    // The shape of what was just saved.
    const saved = JSON.parse(this.saved()) as SavedMonitor;
    this.#monitor = this.#newMonitor();
    this.#monitor.restore(saved);
    return this;
  }

  reload(chainsYaml: string): this {
    this.#config = configOf(chainsYaml);
    this.#tick();
    this.#monitor.watch(this.#config.fleet);
    this.#sources = this.#sourcesOf();
    return this;
  }

  /** Sets the wall clock forward or, with `-10m`, back; the true time does not change. */
  setClock(by: string): this {
    this.#clockOffsetMs += msOf(by);
    return this;
  }

  report(): Report {
    this.#tick();
    return this.#monitor.decideIncidents();
  }

  metricsSource(): MetricsSource {
    return metricsSource({ fleet: fleetOf([], []), counts: new Map(), report: this.report() });
  }

  protected endpointRecords(): readonly EndpointRecord[] {
    return [];
  }

  #tick(): void {
    this.#turns += Number(this.#monitor.tick().hasTurned);
  }

  #newMonitor(): Monitor {
    const clocks = { nowMs: () => this.nowMs, uptimeMs: () => this.#trueMs };
    return new Monitor(this.#config.fleet, { ...clocks, budgets: () => [] });
  }

  #sourcesOf(): readonly Source[] {
    const { fleet } = this.#config;
    return endpointsOf(fleet).flatMap((endpoint) =>
      sourceKeysOf(endpoint).map((key) => {
        const slug = endpoint.chain ?? endpoint.targets.find((target) => target.key === key)?.chain;
        const blockTimeMs = fleet.chains.find((chain) => chain.slug === slug)?.blockTimeMs ?? 2_000;
        const { host } = new URL(endpoint.url);
        return { key, host, intervalMs: endpoint.pollIntervalMs, blockTimeMs };
      }),
    );
  }

  #named(name: string): readonly Source[] {
    const found = this.#sources.filter(({ key, host }) => isNamed(key, name) || host === name);
    if (found.length === 0) {
      const keys = this.#sources.map(({ key }) => key).join(", ");
      throw new RangeError(`Cannot find ${name} among ${keys}`);
    }
    return found;
  }

  #step(ms: number): void {
    this.#trueMs += ms;
    const due = this.#sources.filter(
      ({ key, intervalMs }) => !this.#polled.has(key) || (this.#trueMs - START_MS) % intervalMs < ms,
    );
    this.#monitor.observe(due.flatMap((source) => this.#observe(source)));
    this.#tick();
  }

  #observe(source: Source, reply = this.#replyOf(source)): readonly Observation[] {
    const { key } = source;
    this.#polled.add(key);
    const times = { source: key, sentAtMs: this.nowMs - LATENCY_MS, receivedAtMs: this.nowMs };
    if (reply === null) {
      return [];
    }
    if (reply === "missing" || reply === "not_started") {
      return [{ ...times, kind: reply }];
    }
    if (typeof reply === "string" || (typeof reply === "object" && "failed" in reply)) {
      const { failed: reason, detail } = typeof reply === "string" ? { failed: reply, detail: "" } : reply;
      return [{ ...times, kind: "failed", reason, detail }];
    }
    const unknown = { timestampSec: null, hash: null, deployment: null, indexingErrors: null };
    const head = typeof reply === "number" ? { block: reply } : reply;
    return [{ ...times, kind: "head", head: { ...unknown, ...head } }];
  }

  #replyOf({ key, blockTimeMs }: Source): Reply {
    const chain = this.#chain(blockTimeMs);
    const moment: Moment = {
      head: headAt(chain, this.#trueMs),
      time: (block) => Math.floor(timeOf(chain, block) / 1_000),
    };
    return (this.#scripts.get(key) ?? (key.startsWith("rpc/") ? dated() : behind(0)))(moment);
  }

  #chain(blockTimeMs: number): ChainModel {
    const start = { startMs: START_MS, startBlock: FIRST_BLOCK };
    const paces = this.#changes.map(({ atMs, isHalt }) => ({
      atMs,
      blockTimeMs: isHalt ? null : blockTimeMs,
    }));
    return createChain({ slug: "", id: 0, blockTimeMs, ...start, paces });
  }
}
