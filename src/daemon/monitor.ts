import { destinationOf } from "../budgets/accounts.ts";
import { Chain } from "../core/chain/chain.ts";
import { sourceOf } from "../core/chain/chain-state.ts";
import type { BlockOnNode, Suspicion } from "../core/chain/proofs.ts";
import { retainChain, withoutFuture } from "../core/chain/retain.ts";
import { watchFleet } from "../core/chain/watch-fleet.ts";
import { isUnreached } from "../core/incidents/incidents.ts";
import { type Endpoint, endpointsOf, type Fleet, sourceKeysOf } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { Observation } from "../core/model/observation.ts";
import type { ParityReading } from "../core/model/parity.ts";
import type { BudgetReport, ChainPart, Incident, Report, TargetId } from "../core/model/report.ts";
import { isoTime } from "../core/model/text.ts";
import { staleAfterMs } from "../core/model/thresholds.ts";
import { composeReport } from "../core/report/compose.ts";
import { reportChain } from "../core/report/report-chain.ts";
import type { SourceState } from "../core/source/source-state.ts";
import { stepReader } from "../io/clock-steps.ts";
import type { KnownState } from "../io/state/parts.ts";
import { inSlices } from "./state/in-slices.ts";

export interface MonitorOptions {
  readonly nowMs: () => number;
  /** Detects steps of the wall clock. Default: none are detected. */
  readonly uptimeMs?: () => number;
  readonly budgets: (nowMs: number) => readonly BudgetReport[];
  /** Chains that endpoints serve and chains.yaml does not list. Default: none are known. */
  readonly unlisted?: () => Report["unlisted"];
  /** Until when a target is inside a maintenance window. Default: none is. */
  readonly maintenance?: (nowMs: number) => (target: TargetId) => number | null;
  readonly onTurned?: () => void;
  /** Called with blocks for which RPC nodes should be asked. */
  readonly onSuspicions?: (suspicions: readonly Suspicion[]) => void;
  /** Called at the first reply after a network outage, with the endpoints whose polls failed in it. */
  readonly onNetworkRestored?: (missed: readonly Endpoint[]) => void;
  /** Gets what each poll brought. */
  readonly onObserved?: ((observations: readonly Observation[]) => void) | undefined;
}

export type SavedMonitor = Pick<KnownState, "chains" | "incidents">;

interface UndecidedPoll {
  readonly observations: readonly Observation[];
  readonly readings: readonly ParityReading[];
  readonly onDecided: (verdict: {
    /** A target's status is about to change, or has just changed. */
    readonly isChanging: boolean;
    /** A height cannot be, by what the others show. */
    readonly isImplausible: boolean;
  }) => void;
}

/** A report is rebuilt when it is older, or when a poll has ended since. */
const MAX_AGE_MS = 1_000;
/**
 * A report of a chain without news is used again for this long: most chains of a large fleet were not polled since the last report.
 * Ages in details, and the moment at which evidence becomes stale, are late by this at most.
 */
const CHAIN_REPORT_LIFETIME_MS = 15_000;
/** Holds the state of every chain, and makes the report of it. */
export class Monitor {
  readonly #options: MonitorOptions;
  #fleet: Fleet;
  #chains: ReadonlyMap<string, Chain> = new Map();
  #chainOf: ReadonlyMap<string, Chain> = new Map();
  #incidents: readonly Incident[] = [];
  /** By target key; only for targets that are not `ok`. */
  readonly #explanations = new Map<string, string>();
  /** Polls whose consequences are not decided yet. */
  #undecided: UndecidedPoll[] = [];
  #latest: Report | null = null;
  /** The last report of each chain, with the revision of its state. */
  readonly #reported = new WeakMap<Chain, { revision: number; madeMs: number; report: ChainPart }>();
  #lastOutageMs = Number.NEGATIVE_INFINITY;
  /** When the process ran again after it had last stood still. */
  #ranSinceMs = Number.NEGATIVE_INFINITY;
  /** When a status turned last. */
  #turnedMs = Number.NEGATIVE_INFINITY;
  readonly #readStep: () => number;

  constructor(fleet: Fleet, options: MonitorOptions) {
    const { nowMs, uptimeMs } = options;
    this.#options = options;
    this.#readStep = uptimeMs === undefined ? () => 0 : stepReader({ nowMs, uptimeMs });
    this.#fleet = fleet;
    this.watch(fleet);
  }

  /** Changes to another fleet: sources that are in both, at the same URL, keep their state. */
  watch(fleet: Fleet): void {
    this.decide();
    const nowMs = this.#options.nowMs();
    const chains = watchFleet(fleet, destinationOf).map((watched) => {
      const known = this.#chains.get(watched.chain.slug)?.state;
      return new Chain(watched, known && retainChain(known, watched, nowMs));
    });
    this.#fleet = fleet;
    this.#useChains(chains);
    // An index-node API may be another one now; it is asked again after the next poll.
    this.#explanations.clear();
    this.#latest = null;
  }

  /**
   * Folds in what a poll brought, and the values that came with it; what is of a source that a reload removed meanwhile is
   * dropped. `onDecided` is called once it is known what follows: when somebody asks, or at the next `decide()`.
   */
  observe(
    observations: readonly Observation[],
    readings: readonly ParityReading[] = [],
    onDecided: UndecidedPoll["onDecided"] = () => undefined,
  ): void {
    this.#followClock();
    for (const observation of observations) {
      this.#chainOf.get(observation.source)?.observe(observation);
    }
    this.#undecided.push({ observations, readings, onDecided });
    this.#options.onObserved?.(observations);
  }

  /** Decides what follows from the observations since the last call. */
  decide(): void {
    const polls = this.#undecided;
    if (polls.length === 0) {
      return;
    }
    this.#undecided = [];
    this.#latest = null;
    const observations = polls.flatMap((poll) => poll.observations);
    const heard = new Set(observations.map(({ source }) => this.#chainOf.get(source)));
    const observed = [...heard].flatMap((chain) => chain?.takeObserved() ?? []);
    const readings = polls.flatMap((poll) => poll.readings);
    for (const [chain, own] of groupBy(readings, ({ target }) => this.#chainOf.get(target))) {
      chain?.observeParity(own);
    }
    for (const target of [...this.#explanations.keys()].filter((key) => this.#isOk(key))) {
      this.#explanations.delete(target);
    }
    this.#detectRestoredNetwork(observations);
    if (observed.some(({ turned }) => turned.length > 0)) {
      this.#turnedMs = this.#options.nowMs();
      this.#options.onTurned?.();
    }
    const changing = new Set(observed.flatMap((one) => one.changing));
    const implausible = new Set(observed.flatMap((one) => one.implausible));
    for (const poll of polls) {
      const isAmong = (keys: ReadonlySet<string>) => poll.observations.some(({ source }) => keys.has(source));
      poll.onDecided({ isChanging: isAmong(changing), isImplausible: isAmong(implausible) });
    }
    this.#options.onSuspicions?.(observed.flatMap(({ suspicions }) => suspicions));
  }

  /** Takes in what an RPC node has at the height of a suspicion; null: it does not have that block. */
  prove(suspicion: Suspicion, found: BlockOnNode | null): void {
    this.#chainOf.get(suspicion.source)?.prove(suspicion, found);
    this.#latest = null;
  }

  /** The process stood still until now, so that no reply could be heard. */
  stoodStill(): void {
    this.#ranSinceMs = this.#options.nowMs();
  }

  /** Whether the last observation of each target of an endpoint is still evidence. */
  isEvident(endpoint: Endpoint): boolean {
    this.decide();
    const nowMs = this.#options.nowMs();
    return sourceKeysOf(endpoint).every((source) => {
      const state = this.#stateOf(source);
      const thresholds = this.#chainOf.get(source)?.watched.chain.thresholds;
      return (
        thresholds !== undefined &&
        state?.last != null &&
        nowMs - state.last.receivedAtMs <= staleAfterMs(thresholds, state.pollIntervalMs)
      );
    });
  }

  /** Whether a target of the endpoint has a settled status other than `ok`. */
  hasTrouble(endpoint: Endpoint): boolean {
    return sourceKeysOf(endpoint).some(
      (source) => this.#stateOf(source)?.verdict != null && !this.#isOk(source),
    );
  }

  /**
   * Keeps what an index-node API says of why a target is not `ok`, until it is again; null: it names no reason. Returns whether
   * that is news: no reason was known before.
   */
  explain(target: string, explanation: string | null): boolean {
    const known = this.#explanations.get(target);
    if (explanation === null || this.#isOk(target)) {
      this.#explanations.delete(target);
    } else {
      this.#explanations.set(target, explanation);
    }
    this.#latest = null;
    return known === undefined && this.#explanations.has(target);
  }

  save(): SavedMonitor {
    this.decide();
    const chains = [...this.#chains].map(([slug, { state }]) => [slug, state] as const);
    return { chains: Object.fromEntries(chains), incidents: this.#incidents };
  }

  /**
   * Restores the saved state of this fleet's sources. A chain without saved state stays as it is, and so do absent incidents.
   */
  restore({ chains, incidents }: Pick<SavedMonitor, "chains"> & Partial<SavedMonitor>): void {
    const nowMs = this.#options.nowMs();
    const saved = new Map(Object.entries(chains));
    this.#useChains(
      [...this.#chains].map(([slug, chain]) => {
        const known = saved.get(slug);
        return known === undefined
          ? chain
          : new Chain(chain.watched, retainChain(withoutFuture(known, nowMs), chain.watched, nowMs));
      }),
    );
    this.#incidents = incidents ?? this.#incidents;
    this.#latest = null;
  }

  /** Works out the next report in slices, so that a large fleet does not delay polls. */
  async prepare(): Promise<void> {
    const { nowMs } = this.#options;
    await inSlices(this.#chains.values(), (chain) => this.#reportOf(chain, nowMs()), nowMs);
    this.decide();
  }

  /** Whether a status has turned since the report was made. */
  hasTurnedSince(report: Report): boolean {
    this.decide();
    return this.#turnedMs >= Date.parse(report.generated_at);
  }

  report(): Report {
    this.decide();
    this.#followClock();
    const nowMs = this.#options.nowMs();
    const latest = this.#latest;
    if (latest !== null && Math.abs(nowMs - Date.parse(latest.generated_at)) < MAX_AGE_MS) {
      return latest;
    }
    this.#latest = composeReport({
      chains: [...this.#chains.values()].map((chain) => ({
        report: this.#reportOf(chain, nowMs),
        state: chain.state,
      })),
      endpoints: endpointsOf(this.#fleet),
      previousIncidents: this.#incidents,
      budgets: this.#options.budgets(nowMs),
      config_digest: this.#fleet.digest,
      skipped: this.#fleet.skipped,
      unlisted: this.#options.unlisted?.() ?? [],
      ...(this.#options.maintenance === undefined ? {} : { maintenance: this.#options.maintenance(nowMs) }),
      lastOutageMs: this.#lastOutageMs,
      ranSinceMs: this.#ranSinceMs,
      explanations: this.#explanations,
      nowMs,
    });
    this.#incidents = this.#latest.incidents;
    return this.#latest;
  }

  #reportOf(chain: Chain, nowMs: number): ChainPart {
    const { state, watched } = chain;
    const known = this.#reported.get(chain);
    if (known?.revision === state.revision && Math.abs(nowMs - known.madeMs) < CHAIN_REPORT_LIFETIME_MS) {
      return known.report;
    }
    const report = reportChain(state, watched, nowMs);
    this.#reported.set(chain, { revision: state.revision, madeMs: nowMs, report });
    return report;
  }

  #useChains(chains: readonly Chain[]): void {
    this.#chains = new Map(chains.map((chain) => [chain.watched.chain.slug, chain]));
    this.#chainOf = new Map(
      chains.flatMap((chain) => [...chain.watched.sources.keys()].map((key) => [key, chain] as const)),
    );
  }

  /** Shifts all remembered instants by a step of the wall clock. */
  #followClock(): void {
    const stepMs = this.#readStep();
    if (stepMs !== 0) {
      for (const chain of this.#chains.values()) {
        chain.shift(stepMs);
      }
      this.#incidents = this.#incidents.map((one) => {
        return { ...one, since: isoTime(Date.parse(one.since) + stepMs) };
      });
      this.#lastOutageMs += stepMs;
      this.#ranSinceMs += stepMs;
      this.#turnedMs += stepMs;
      this.#latest = null;
    }
  }

  #detectRestoredNetwork(observations: readonly Observation[]): void {
    const isDown = (incidents: readonly Incident[]) => incidents.some(({ scope }) => scope === "network");
    if (!isDown(this.#incidents) || observations.every(isUnreached)) {
      return;
    }
    this.#lastOutageMs = this.#options.nowMs();
    // This report ends the incident, so that the outage ends once.
    if (!isDown(this.report().incidents)) {
      this.#options.onNetworkRestored?.(
        endpointsOf(this.#fleet).filter((endpoint) =>
          sourceKeysOf(endpoint).some((source) => isUnreached(this.#stateOf(source)?.last)),
        ),
      );
    }
  }

  #isOk(source: string): boolean {
    return this.#stateOf(source)?.verdict?.status === "ok";
  }

  #stateOf(source: string): SourceState | undefined {
    const chain = this.#chainOf.get(source);
    return chain && sourceOf(chain.state, source);
  }
}
