import {
  type ChainState,
  observeChain,
  reportChain,
  startChain,
  type WatchedChain,
} from "./core/chain-state.ts";
import { composeReport } from "./core/compose-report.ts";
import type { Endpoint, Fleet } from "./core/fleet.ts";
import type { Observation } from "./core/observation.ts";
import type { BudgetReport, Report } from "./core/report.ts";

interface Memory {
  readonly watched: WatchedChain;
  readonly state: ChainState;
}

/** Holds what is remembered of every chain, and tells it as one report. */
export class Monitor {
  readonly #budgets: (nowMs: number) => readonly BudgetReport[];
  #fleet: Fleet;
  #chains: Map<string, Memory> = new Map();
  #chainOf: ReadonlyMap<string, string> = new Map();
  #report: Report;
  #isChanged = false;

  constructor(
    fleet: Fleet,
    options: { readonly nowMs: number; readonly budgets: (nowMs: number) => readonly BudgetReport[] },
  ) {
    this.#budgets = options.budgets;
    this.#fleet = fleet;
    this.watch(fleet);
  }

  /** Watches `fleet` from now on: what stays in it keeps its memory, the rest is forgotten. */
  watch(fleet: Fleet): void {
    const targets = fleet.indexers.flatMap((indexer) =>
      indexer.endpoints.flatMap((endpoint) => endpoint.targets),
    );
    this.#fleet = fleet;
    this.#chains = new Map(
      fleet.chains.map((chain) => {
        const watched = { chain, targets: targets.filter((target) => target.chain === chain.slug) };
        const former = this.#chains.get(chain.slug);
        const state = former === undefined ? startChain(watched) : retainChain(former.state, watched);
        return [chain.slug, { watched, state }];
      }),
    );
    this.#chainOf = new Map([
      ...targets.map((target) => [target.key, target.chain] as const),
      ...fleet.rpcEndpoints.map((endpoint) => [endpoint.key, endpoint.chain ?? ""] as const),
    ]);
    this.#isChanged = true;
  }

  /** Takes in what one poll said; of sources that a reload removed meanwhile it takes nothing. */
  observe(observations: readonly Observation[]): void {
    for (const observation of observations) {
      const slug = this.#chainOf.get(observation.source);
      const memory = slug === undefined ? undefined : this.#chains.get(slug);
      if (slug !== undefined && memory !== undefined) {
        this.#chains.set(slug, {
          ...memory,
          state: observeChain(memory.state, memory.watched, [observation]),
        });
      }
    }
    this.#isChanged = true;
  }
}
