import { type ChainState, sourceOf, type WatchedChain } from "../core/chain/chain-state.ts";
import { observeChain, retainChain, startChain, watchFleet } from "../core/chain/watch-chain.ts";
import { staleAfterMs } from "../core/head/votes.ts";
import { isUnreached } from "../core/incidents/local-outage.ts";
import { type Endpoint, endpointsOf, type Fleet, sourceKeysOf, type Target } from "../core/model/fleet.ts";
import type { Observation } from "../core/model/observation.ts";
import type { BudgetReport, Incident, Report } from "../core/model/report.ts";
import { type CachedReport, cachedReport } from "../core/report/cached-report.ts";
import { composeReport } from "../core/report/compose.ts";
import { isChanging, type SourceState } from "../core/source/source-state.ts";
import { inSlices } from "./in-slices.ts";
import type { Stability } from "./polling/confirmations.ts";

export interface MonitorOptions {
  readonly nowMs: () => number;
  readonly budgets: (nowMs: number) => readonly BudgetReport[];
  /** Tells which targets are inside a maintenance window; left out, none is. */
  readonly maintenance?: (nowMs: number) => (target: Target) => boolean;
  /** Called once anybody answers again after nothing could be reached, with those that were asked in vain meanwhile. */
  readonly onReached?: (askedInVain: readonly Endpoint[]) => void;
}

/** What a monitor knows, as plain data. */
export interface SavedMonitor {
  /** By the chain's slug. */
  readonly chains: Readonly<Record<string, ChainState>>;
  readonly incidents: readonly Incident[];
}

interface Memory {
  readonly watched: WatchedChain;
  readonly state: ChainState;
  readonly told: CachedReport | null;
}

/** A report is this old at most; one that nothing has happened since is not made again. */
const FRESH_MS = 1_000;

/** Holds what is remembered of every chain, and tells it as one report. */
export class Monitor {
  readonly #options: MonitorOptions;
  #fleet: Fleet;
  readonly #chains = new Map<string, Memory>();
  #chainOf: ReadonlyMap<string, string> = new Map();
  #incidents: readonly Incident[] = [];
  #latest: Report | null = null;
  #cutOffUntilMs: number | null = null;

  constructor(fleet: Fleet, options: MonitorOptions) {
    this.#options = options;
    this.#fleet = fleet;
    this.watch(fleet);
  }

  /** Watches `fleet` from now on: what stays in it keeps its memory, the rest is forgotten. */
  watch(fleet: Fleet): void {
    const chains = watchFleet(fleet);
    const former = new Map(this.#chains);
    this.#fleet = fleet;
    this.#chains.clear();
    for (const watched of chains) {
      const known = former.get(watched.chain.slug)?.state;
      const state = known === undefined ? startChain(watched) : retainChain(known, watched);
      this.#chains.set(watched.chain.slug, { watched, state, told: null });
    }
    this.#chainOf = new Map([
      ...chains.flatMap(({ targets }) => targets.map(({ key, chain }) => [key, chain] as const)),
      ...fleet.rpcEndpoints.map(({ key, chain }) => [key, chain ?? ""] as const),
    ]);
    this.#latest = null;
  }

  /**
   * Takes in what one poll said; of a source that a reload removed meanwhile it takes nothing. Tells whether a target
   * is in doubt by it: about to turn, or just turned. `onImplausible` hears, once, of heights that the chain can't have.
   */
  observe(observations: readonly Observation[], onImplausible: () => void = () => undefined): Stability {
    let stability: Stability = "stable";
    let isImplausible = false;
    for (const observation of observations) {
      const slug = this.#chainOf.get(observation.source) ?? "";
      const memory = this.#chains.get(slug);
      if (memory !== undefined) {
        const before = sourceOf(memory.state, observation.source);
        const state = observeChain(memory.state, memory.watched, [observation]);
        this.#chains.set(slug, { watched: memory.watched, state, told: null });
        const after = sourceOf(state, observation.source);
        stability = isChanging(before, after) ? "changing" : stability;
        isImplausible ||= observation.kind === "head" && after?.last?.kind === "failed";
      }
    }
    if (isImplausible) {
      onImplausible();
    }
    this.#latest = null;
    this.#tellIfReached(observations);
    return stability;
  }

  /** Whether all that an endpoint says something of has been heard of so lately that it is still evidence. */
  isEvident(endpoint: Endpoint): boolean {
    return sourceKeysOf(endpoint).every((source) => this.#isEvident(source));
  }

  save(): SavedMonitor {
    const chains = [...this.#chains].map(([slug, { state }]) => [slug, state] as const);
    return { chains: Object.fromEntries(chains), incidents: this.#incidents };
  }

  /** Takes over what a former process knew of this fleet. */
  restore(chains: ReadonlyMap<string, ChainState>, incidents: readonly Incident[]): void {
    for (const [slug, { watched }] of this.#chains) {
      const known = chains.get(slug);
      if (known !== undefined) {
        this.#chains.set(slug, { watched, state: retainChain(known, watched), told: null });
      }
    }
    this.#incidents = incidents;
    this.#latest = null;
  }

  /** Works out what the next report needs, in slices: a large fleet's would keep polls waiting if it were made at once. */
  async prepare(): Promise<void> {
    const { nowMs } = this.#options;
    await inSlices(this.#chains, ([slug, memory]) => this.#tell(slug, memory, nowMs()), nowMs);
  }

  /** What is known now. */
  report(): Report {
    const nowMs = this.#options.nowMs();
    const latest = this.#latest;
    if (latest !== null && Math.abs(nowMs - latest.generatedAtMs) < FRESH_MS) {
      return latest;
    }
    this.#latest = composeReport({
      chains: [...this.#chains].map(([slug, memory]) => this.#tell(slug, memory, nowMs)),
      endpoints: endpointsOf(this.#fleet),
      previousIncidents: this.#incidents,
      budgets: this.#options.budgets(nowMs),
      skipped: this.#fleet.skipped,
      ...(this.#options.maintenance === undefined ? {} : { maintenance: this.#options.maintenance(nowMs) }),
      cutOffUntilMs: this.#cutOffUntilMs,
      nowMs,
    });
    this.#incidents = this.#latest.incidents;
    return this.#latest;
  }

  #tell(slug: string, memory: Memory, nowMs: number): CachedReport {
    const told = cachedReport(memory.told, memory, nowMs);
    if (told !== memory.told) {
      this.#chains.set(slug, { watched: memory.watched, state: memory.state, told });
    }
    return told;
  }

  #tellIfReached(observations: readonly Observation[]): void {
    if (!this.#isCutOff() || observations.every(isUnreached)) {
      return;
    }
    this.#cutOffUntilMs = this.#options.nowMs();
    // This ends the incident, so that it is told once.
    const { incidents } = this.report();
    if (incidents.every(({ scope }) => scope !== "network")) {
      this.#options.onReached?.(endpointsOf(this.#fleet).filter((endpoint) => this.#isUnreached(endpoint)));
    }
  }

  /** Whether nothing at all could be reached, by the latest report. */
  #isCutOff(): boolean {
    return this.#incidents.some(({ scope }) => scope === "network");
  }

  #isUnreached(endpoint: Endpoint): boolean {
    return sourceKeysOf(endpoint).some((source) => isUnreached(this.#stateOf(source)?.last));
  }

  #isEvident(source: string): boolean {
    const memory = this.#memoryOf(source);
    const state = this.#stateOf(source);
    if (memory === undefined || state?.last == null) {
      return false;
    }
    const staleMs = staleAfterMs(memory.watched.chain.thresholds, state.pollIntervalMs);
    return this.#options.nowMs() - state.last.receivedAtMs <= staleMs;
  }

  #stateOf(source: string): SourceState | undefined {
    const memory = this.#memoryOf(source);
    return memory === undefined ? undefined : sourceOf(memory.state, source);
  }

  #memoryOf(source: string): Memory | undefined {
    return this.#chains.get(this.#chainOf.get(source) ?? "");
  }
}
