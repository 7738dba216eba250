import {
  type ChainState,
  observeChain,
  retainChain,
  startChain,
  type WatchedChain,
  watchFleet,
} from "./core/chain-state.ts";
import { composeReport } from "./core/compose-report.ts";
import { endpointsOf, type Fleet } from "./core/fleet.ts";
import type { Observation } from "./core/observation.ts";
import type { BudgetReport, Incident, Report } from "./core/report.ts";

export interface MonitorOptions {
  readonly nowMs: () => number;
  readonly budgets: (nowMs: number) => readonly BudgetReport[];
}

interface Memory {
  readonly watched: WatchedChain;
  readonly state: ChainState;
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
      this.#chains.set(watched.chain.slug, { watched, state });
    }
    this.#chainOf = new Map([
      ...chains.flatMap(({ targets }) => targets.map(({ key, chain }) => [key, chain] as const)),
      ...fleet.rpcEndpoints.map(({ key, chain }) => [key, chain ?? ""] as const),
    ]);
    this.#latest = null;
  }

  /** Takes in what one poll said; of a source that a reload removed meanwhile it takes nothing. */
  observe(observations: readonly Observation[]): void {
    for (const observation of observations) {
      const slug = this.#chainOf.get(observation.source) ?? "";
      const memory = this.#chains.get(slug);
      if (memory !== undefined) {
        const state = observeChain(memory.state, memory.watched, [observation]);
        this.#chains.set(slug, { ...memory, state });
      }
    }
    this.#latest = null;
  }

  /** What is known now. */
  report(): Report {
    const nowMs = this.#options.nowMs();
    const latest = this.#latest;
    if (latest !== null && Math.abs(nowMs - latest.generatedAtMs) < FRESH_MS) {
      return latest;
    }
    this.#latest = composeReport({
      chains: [...this.#chains.values()],
      endpoints: endpointsOf(this.#fleet),
      previousIncidents: this.#incidents,
      budgets: this.#options.budgets(nowMs),
      skipped: this.#fleet.skipped,
      nowMs,
    });
    this.#incidents = this.#latest.incidents;
    return this.#latest;
  }
}
