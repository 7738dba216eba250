import { leapChain, shiftChain, withoutFuture } from "../core/chain/clock-jump.ts";
import { observeParity } from "../core/chain/observe-parity.ts";
import { type Observed, observedIn } from "../core/chain/observed.ts";
import { retainChain } from "../core/chain/retain-chain.ts";
import { observeChain, startChain, watchFleet } from "../core/chain/watch-chain.ts";
import { type ChainState, sourceOf, type WatchedChain } from "../core/head/chain-state.ts";
import { staleAfterMs } from "../core/head/claim.ts";
import { isUnreached } from "../core/incidents/local-outage.ts";
import {
  type Endpoint,
  endpointsOf,
  type Fleet,
  sourceKeysOf,
  statusEndpointOf,
} from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { Observation } from "../core/model/observation.ts";
import type { ParityReading } from "../core/model/parity.ts";
import type { BudgetReport, Incident, Report, TargetId } from "../core/model/report.ts";
import { type CachedReport, cachedReport } from "../core/report/cached-report.ts";
import { composeReport } from "../core/report/compose.ts";
import type { SourceState } from "../core/source/source-state.ts";
import { inSlices } from "./state/in-slices.ts";
import { sentToByChain } from "./state/sent-to.ts";

export interface MonitorOptions {
  readonly nowMs: () => number;
  /** By it a jump of the wall clock is noticed; left out, none is. */
  readonly monotonicMs?: () => number;
  readonly budgets: (nowMs: number) => readonly BudgetReport[];
  /** Which targets are inside a maintenance window. Default: none. */
  readonly maintenance?: (nowMs: number) => (target: TargetId) => boolean;
  /** Called at the first reply after a network outage, with the endpoints whose polls failed in it. */
  readonly onNetworkRestored?: (missed: readonly Endpoint[]) => void;
}

/** The state of a monitor, as plain data. */
export interface SavedMonitor {
  /** By the chain's slug. */
  readonly chains: Readonly<Record<string, ChainState>>;
  readonly incidents: readonly Incident[];
}

interface WatchedState {
  readonly watched: WatchedChain;
  readonly state: ChainState;
  readonly cached: CachedReport | null;
}

/** A report is rebuilt when it is older, or when a poll has ended since. */
const MAX_AGE_MS = 1_000;
/** The wall clock and the monotonic one part by less than this without a jump. */
const DRIFT_MS = 2_000;

/** Holds the state of every chain, and makes the report of it. */
export class Monitor {
  readonly #options: MonitorOptions;
  #fleet: Fleet;
  readonly #chains = new Map<string, WatchedState>();
  #chainOf: ReadonlyMap<string, string> = new Map();
  #incidents: readonly Incident[] = [];
  /** Keys of the targets that have an index-node API. */
  #explainable: ReadonlySet<string> = new Set();
  /** By the target's key; of those that are not `ok`. */
  #explanations: ReadonlyMap<string, string> = new Map();
  #latest: Report | null = null;
  #lastOutageMs: number | null = null;
  /** Of the wall clock against the monotonic one, when last looked at. */
  #clockOffsetMs: number | null = null;

  constructor(fleet: Fleet, options: MonitorOptions) {
    this.#options = options;
    this.#fleet = fleet;
    this.watch(fleet);
  }

  /** Changes to another fleet: sources that are in both, at the same URL, keep their state. */
  watch(fleet: Fleet): void {
    const sentTo = sentToByChain(fleet);
    const chains = watchFleet(fleet).map((watched) => ({
      ...watched,
      sentTo: sentTo.get(watched.chain.slug) ?? {},
    }));
    const nowMs = this.#options.nowMs();
    const previous = new Map(this.#chains);
    this.#fleet = fleet;
    this.#chains.clear();
    for (const watched of chains) {
      const known = previous.get(watched.chain.slug)?.state;
      const state = known === undefined ? startChain(watched) : retainChain(known, watched, nowMs);
      this.#chains.set(watched.chain.slug, { watched, state, cached: null });
    }
    this.#chainOf = new Map([
      ...chains.flatMap(({ targets }) => targets.map(({ key, chain }) => [key, chain] as const)),
      ...fleet.rpcEndpoints.map(({ key, chain }) => [key, chain ?? ""] as const),
    ]);
    this.#explainable = new Set(
      endpointsOf(fleet).flatMap(
        (endpoint) => statusEndpointOf(endpoint)?.targets.map(({ key }) => key) ?? [],
      ),
    );
    this.#keepExplanations((key) => this.#explainable.has(key));
    this.#latest = null;
  }

  /**
   * Folds in observations, chain by chain; those of a source that a reload removed meanwhile are dropped. The result says
   * whose status is changing, and whose height is impossible.
   */
  observe(observations: readonly Observation[]): Observed {
    const observed: Observed[] = [];
    this.#followClock();
    for (const [slug, own] of groupBy(observations, ({ source }) => this.#chainOf.get(source) ?? "")) {
      const known = this.#chains.get(slug);
      if (known !== undefined) {
        const state = observeChain(known.state, known.watched, own);
        this.#chains.set(slug, { watched: known.watched, state, cached: null });
        observed.push(observedIn(own, known.state, state));
      }
    }
    this.#latest = null;
    this.#keepExplanations((key) => !this.#isOk(key));
    this.#detectRestoredNetwork(observations);
    return {
      changing: observed.flatMap(({ changing }) => changing),
      implausible: observed.flatMap(({ implausible }) => implausible),
    };
  }

  /** Folds in the values that came with observations, after these; those of removed targets are dropped. */
  observeParity(readings: readonly ParityReading[]): void {
    if (readings.length === 0) {
      return;
    }
    for (const [slug, own] of groupBy(readings, ({ target }) => this.#chainOf.get(target) ?? "")) {
      const known = this.#chains.get(slug);
      if (known !== undefined) {
        const state = observeParity(known.state, known.watched, own);
        this.#chains.set(slug, { watched: known.watched, state, cached: null });
      }
    }
    this.#latest = null;
  }

  /** Whether the last observation of each target of an endpoint is still evidence. */
  isEvident(endpoint: Endpoint): boolean {
    return sourceKeysOf(endpoint).every((source) => this.#isEvident(source));
  }

  /** Whether a target of the endpoint has a settled status other than `ok`. */
  hasTrouble(endpoint: Endpoint): boolean {
    return sourceKeysOf(endpoint).some(
      (source) => this.#stateOf(source)?.verdict != null && !this.#isOk(source),
    );
  }

  /**
   * Keeps what an index-node API says of why a target is not `ok`, until it is again; null: it names no reason. The
   * result says whether that is news: no reason was known before.
   */
  explain(target: string, explanation: string | null): "news" | "known" {
    const isDue = this.#explainable.has(target) && !this.#isOk(target);
    const wanted = isDue ? explanation : null;
    const known = this.#explanations.get(target) ?? null;
    if (known !== wanted) {
      const others = [...this.#explanations].filter(([key]) => key !== target);
      this.#explanations = new Map(wanted === null ? others : [...others, [target, wanted]]);
      this.#latest = null;
    }
    return known === null && wanted !== null ? "news" : "known";
  }

  save(): SavedMonitor {
    const chains = [...this.#chains].map(([slug, { state }]) => [slug, state] as const);
    return { chains: Object.fromEntries(chains), incidents: this.#incidents };
  }

  /** Continues what another process has left of the sources of this fleet; a chain that it did not have stays as it is. */
  restore(chains: ReadonlyMap<string, ChainState>, incidents: readonly Incident[] = this.#incidents): void {
    const nowMs = this.#options.nowMs();
    for (const [slug, { watched }] of this.#chains) {
      const known = chains.get(slug);
      if (known !== undefined) {
        const state = retainChain(withoutFuture(known, nowMs), watched, nowMs);
        this.#chains.set(slug, { watched, state, cached: null });
      }
    }
    this.#incidents = incidents;
    this.#latest = null;
  }

  /** Works out the next report in slices, so that a large fleet does not delay polls. */
  async prepare(): Promise<void> {
    const { nowMs } = this.#options;
    await inSlices(this.#chains, ([slug, known]) => this.#cachedReport(slug, known, nowMs()), nowMs);
  }

  /** Whether something was observed, or another report was made, since this one. */
  hasNewsSince(report: Report): boolean {
    return this.#latest !== report;
  }

  report(): Report {
    this.#followClock();
    const nowMs = this.#options.nowMs();
    const latest = this.#latest;
    if (latest !== null && Math.abs(nowMs - Date.parse(latest.generated_at)) < MAX_AGE_MS) {
      return latest;
    }
    this.#latest = composeReport({
      chains: [...this.#chains].map(([slug, known]) => this.#cachedReport(slug, known, nowMs)),
      endpoints: endpointsOf(this.#fleet),
      previousIncidents: this.#incidents,
      budgets: this.#options.budgets(nowMs),
      skipped: this.#fleet.skipped,
      ...(this.#options.maintenance === undefined ? {} : { maintenance: this.#options.maintenance(nowMs) }),
      lastOutageMs: this.#lastOutageMs,
      explanations: this.#explanations,
      nowMs,
    });
    this.#incidents = this.#latest.incidents;
    return this.#latest;
  }

  #cachedReport(slug: string, known: WatchedState, nowMs: number): CachedReport {
    const cached = cachedReport(known.cached, known, nowMs);
    if (cached !== known.cached) {
      this.#chains.set(slug, { ...known, cached });
    }
    return cached;
  }

  /** Where the wall clock was set back, all instants that are remembered are set back with it. */
  #followClock(): void {
    const { monotonicMs, nowMs } = this.#options;
    if (monotonicMs === undefined) {
      return;
    }
    const offsetMs = nowMs() - monotonicMs();
    const jumpMs = offsetMs - (this.#clockOffsetMs ?? offsetMs);
    this.#clockOffsetMs = offsetMs;
    if (Math.abs(jumpMs) < DRIFT_MS) {
      return;
    }
    const follow = jumpMs > 0 ? leapChain : shiftChain;
    for (const [slug, { watched, state }] of this.#chains) {
      this.#chains.set(slug, { watched, state: follow(state, jumpMs), cached: null });
    }
    this.#latest = null;
  }

  #detectRestoredNetwork(observations: readonly Observation[]): void {
    if (!this.#hasNetworkOutage() || observations.every(isUnreached)) {
      return;
    }
    this.#lastOutageMs = this.#options.nowMs();
    // This report ends the incident, so that the outage ends once.
    const { incidents } = this.report();
    if (incidents.every(({ scope }) => scope !== "network")) {
      this.#options.onNetworkRestored?.(
        endpointsOf(this.#fleet).filter((endpoint) => this.#isUnreached(endpoint)),
      );
    }
  }

  /** Whether nothing at all could be reached, by the latest report. */
  #hasNetworkOutage(): boolean {
    return this.#incidents.some(({ scope }) => scope === "network");
  }

  #isOk(source: string): boolean {
    return this.#stateOf(source)?.verdict?.status === "ok";
  }

  #keepExplanations(isKept: (target: string) => boolean): void {
    if (this.#explanations.size > 0) {
      this.#explanations = new Map([...this.#explanations].filter(([key]) => isKept(key)));
    }
  }

  #isUnreached(endpoint: Endpoint): boolean {
    return sourceKeysOf(endpoint).some((source) => isUnreached(this.#stateOf(source)?.last));
  }

  #isEvident(source: string): boolean {
    const known = this.#watchedStateOf(source);
    const state = this.#stateOf(source);
    if (known === undefined || state?.last == null) {
      return false;
    }
    const staleMs = staleAfterMs(known.watched.chain.thresholds, state.pollIntervalMs);
    return this.#options.nowMs() - state.last.receivedAtMs <= staleMs;
  }

  #stateOf(source: string): SourceState | undefined {
    const known = this.#watchedStateOf(source);
    return known === undefined ? undefined : sourceOf(known.state, source);
  }

  #watchedStateOf(source: string): WatchedState | undefined {
    return this.#chains.get(this.#chainOf.get(source) ?? "");
  }
}
