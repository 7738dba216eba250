import { destinationOf } from "../budgets/accounts.ts";
import { Chain } from "../core/chain/chain.ts";
import { newChainState, sourceOf } from "../core/chain/chain-state.ts";
import { offsetOf, retainChain } from "../core/chain/retain.ts";
import { watchFleet } from "../core/chain/watch-fleet.ts";
import type { Suspicion } from "../core/head/consensus.ts";
import { isNetworkDown, isUnreached } from "../core/incidents/network-outage.ts";
import { type Endpoint, endpointsOf, type Fleet, sourceKeysOf } from "../core/model/fleet.ts";
import type { Observation, PollTimes, ReportedBlock } from "../core/model/observation.ts";
import type { ParityReading } from "../core/model/parity.ts";
import type { BudgetReport, ChainPart, Incident, Report, TargetId } from "../core/model/report.ts";
import { isoTime } from "../core/model/text.ts";
import { staleAfterMs } from "../core/model/thresholds.ts";
import { composeReport, decideIncidents, type ReportInput } from "../core/report/compose.ts";
import { reportChain } from "../core/report/report-chain.ts";
import type { SourceState } from "../core/source/source-state.ts";
import { DRIFT_MS } from "../io/clock-steps.ts";
import type { KnownState } from "../io/state/parts.ts";
import { inSlices } from "./state/in-slices.ts";

export interface MonitorOptions {
  /** By the wall clock. */
  readonly nowMs: () => number;
  /** By a clock that nobody sets. Default: `nowMs`, which is enough if nobody sets the wall clock. */
  readonly uptimeMs?: () => number;
  /** `nowMs` is by the wall clock, as for `maintenance`. */
  readonly budgets: (nowMs: number) => readonly BudgetReport[];
  /** The chains that an endpoint serves and chains.yaml does not list for it. Default: none are known. */
  readonly unlisted?: () => Report["unlisted"];
  /** When the maintenance window of a target ends; null if it is not in one. Default: always null. */
  readonly maintenance?: (nowMs: number) => (target: TargetId) => number | null;
}

export type SavedMonitor = Pick<KnownState, "chains" | "incidents">;

/** What follows from a decision, for the pollers. Sources are named by their keys. */
export interface Consequences {
  /** Whether the status of a target, or the state of our own network, has just changed. */
  readonly hasTurned: boolean;
  /** Targets whose status is about to change, or has just changed: another poll confirms it. */
  readonly changing: ReadonlySet<string>;
  /** Sources whose height the other sources show to be impossible. */
  readonly implausible: ReadonlySet<string>;
  /** Blocks that RPC nodes should be asked for. */
  readonly suspicions: readonly Suspicion[];
  /** After a network outage, the endpoints whose polls failed in it. */
  readonly missed: readonly Endpoint[];
}

/** A report shows the last whole second, or the last decision if that is later. So readers within one second see the same. */
const REPORT_EVERY_MS = 1_000;
/**
 * The report of a chain without news is used for this time, because most chains of a large fleet were not polled since the last
 * report. Meanwhile, its details show old ages, and stale evidence is not yet shown as stale.
 */
const CHAIN_REPORT_EVERY_MS = 15_000;

/**
 * Holds what is known of every chain, in three steps. `observe` keeps facts; `tick` decides the statuses, and `decideIncidents`
 * the incidents that follow from them; `report` and all other reads show the last decision, and change nothing.
 *
 * Inside, all instants are on a clock that nobody sets. Observations arrive and reports leave with times of the wall clock.
 */
export class Monitor {
  readonly #options: MonitorOptions;
  #fleet: Fleet;
  #chains: ReadonlyMap<string, Chain> = new Map();
  #chainOf: ReadonlyMap<string, Chain> = new Map();
  #incidents: readonly Incident[] = [];
  /** By target key; only for targets that are not `ok`. */
  readonly #explanations = new Map<string, string>();
  /** Observed since the last decision. */
  #news: Observation[] = [];
  /** When something was decided last. */
  #decidedMs = Number.NEGATIVE_INFINITY;
  #lastOutageMs = Number.NEGATIVE_INFINITY;
  /** Our own clock minus the uptime. */
  #epochMs: number;
  /** The wall clock minus our own clock. A drift of at most `DRIFT_MS` does not change it. */
  #wallOffsetMs = 0;
  /** The last report of each chain, with the revision of its state. */
  readonly #reported = new WeakMap<Chain, { revision: number; atMs: number; report: ChainPart }>();

  constructor(fleet: Fleet, options: MonitorOptions) {
    const { nowMs, uptimeMs = nowMs } = options;
    this.#options = options;
    this.#epochMs = nowMs() - uptimeMs();
    this.#fleet = fleet;
    this.watch(fleet);
  }

  /** Changes to another fleet: sources that are in both, at the same URL, keep their state. */
  watch(fleet: Fleet): void {
    const nowMs = this.#nowMs();
    const chains = watchFleet(fleet, destinationOf).map((watched) => {
      const known = this.#chains.get(watched.chain.slug)?.state;
      const state =
        known === undefined ? newChainState(this.#wallOffsetMs) : retainChain(known, watched, nowMs);
      return new Chain(watched, nowMs, state);
    });
    this.#fleet = fleet;
    this.#useChains(chains);
    // The index-node API of an endpoint may be another one now, so it is asked again after the next poll.
    this.#explanations.clear();
    this.#decidedMs = this.#nowMs();
  }

  /**
   * Keeps the observations and values of a poll for the next decision. Sources that a reload has removed are ignored.
   */
  observe(observations: readonly Observation[], readings: readonly ParityReading[] = []): void {
    this.#followWall();
    for (const observation of observations) {
      this.#chainOf.get(observation.source)?.observe(this.#onOwnClock(observation));
    }
    for (const reading of readings) {
      this.#chainOf.get(reading.target)?.observeParity(this.#onOwnClock(reading));
    }
    this.#news.push(...observations);
  }

  /** Decides the statuses that follow from the observations since the last call; returns what to do next. */
  tick(): Consequences {
    this.#followWall();
    const nowMs = this.#nowMs();
    const news = this.#news;
    this.#news = [];
    const heard = new Set(news.flatMap(({ source }) => this.#chainOf.get(source) ?? []));
    const decided = [...heard].map((chain) => chain.decide(nowMs));
    if (heard.size > 0) {
      this.#decidedMs = this.#nowMs();
    }
    for (const target of [...this.#explanations.keys()].filter((key) => this.#isOk(key))) {
      this.#explanations.delete(target);
    }
    const missed = this.#missedInOutage(news);
    // Only polls can show an outage or its end: a reply shows that the network works, and without news nothing has changed.
    const isDown =
      news.length === 0
        ? this.#isInOutage()
        : news.every(({ kind }) => kind === "failed") && this.#isNetworkDown(nowMs);
    return {
      hasTurned: decided.some(({ turned }) => turned.length > 0) || this.#isInOutage() !== isDown,
      changing: new Set(decided.flatMap(({ changing }) => changing)),
      implausible: new Set(decided.flatMap(({ implausible }) => implausible)),
      suspicions: decided.flatMap(({ suspicions }) => suspicions),
      missed,
    };
  }

  /** Decides the present incidents, and returns a report with them. */
  decideIncidents(): Report {
    const input = this.#inputAt(this.#atMs());
    this.#incidents = decideIncidents(input, this.#isNetworkDown(input.nowMs - this.#wallOffsetMs));
    return composeReport({ ...input, incidents: this.#incidents });
  }

  /** Records the RPC node's block at the height of a suspicion. `found`: null if the node does not have that block. */
  noteProof(suspicion: Suspicion, found: ReportedBlock | null): void {
    this.#chainOf.get(suspicion.source)?.noteProof(suspicion, found, this.#nowMs());
    this.#decidedMs = this.#nowMs();
  }

  /** Whether the last observation of each source of an endpoint is not stale. */
  hasEvidence(endpoint: Endpoint): boolean {
    const nowMs = this.#nowMs();
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
   * Keeps the reason that an index-node API gives for a failing target, until the target is `ok` again or the fleet changes.
   * `explanation`: null if the API names no reason. Returns whether the reason is new: none was known before.
   */
  keepExplanation(target: string, explanation: string | null): boolean {
    const known = this.#explanations.get(target);
    if (explanation === null || this.#isOk(target)) {
      this.#explanations.delete(target);
    } else {
      this.#explanations.set(target, explanation);
    }
    this.#decidedMs = this.#nowMs();
    return known === undefined && this.#explanations.has(target);
  }

  save(): SavedMonitor {
    const chains = [...this.#chains].map(([slug, { state }]) => [slug, state] as const);
    return { chains: Object.fromEntries(chains), incidents: this.#incidents };
  }

  /**
   * Restores the saved state of this fleet's sources. Our own clock continues the clock of that state. A chain without saved
   * state stays as it is, and the incidents stay if none are given.
   */
  restore({ chains, incidents }: Pick<SavedMonitor, "chains"> & Partial<SavedMonitor>): void {
    const wallMs = this.#options.nowMs();
    const offsetMs = offsetOf(Object.values(chains), wallMs) ?? this.#wallOffsetMs;
    this.#epochMs += wallMs - offsetMs - this.#nowMs();
    this.#wallOffsetMs = offsetMs;
    const nowMs = this.#nowMs();
    const saved = new Map(Object.entries(chains));
    this.#useChains(
      [...this.#chains].map(([slug, chain]) => {
        const known = saved.get(slug);
        return known === undefined
          ? chain
          : new Chain(chain.watched, nowMs, retainChain(known, chain.watched, nowMs));
      }),
    );
    for (const chain of this.#chains.values()) {
      chain.followWall(offsetMs);
    }
    this.#incidents = incidents ?? this.#incidents;
    this.#decidedMs = this.#nowMs();
  }

  /** Makes the reports of the chains in slices, so that the next report of a large fleet does not delay polls. */
  async prepare(): Promise<void> {
    const nowMs = () => this.#nowMs();
    await inSlices(this.#chains.values(), (chain) => this.#reportOf(chain, nowMs()), nowMs);
  }

  report(): Report {
    return composeReport(this.#inputAt(this.#atMs()));
  }

  /** The instant that a report shows if it is made now, by the wall clock. */
  #atMs(): number {
    const wallMs = this.#nowMs() + this.#wallOffsetMs;
    return Math.max(this.#decidedMs + this.#wallOffsetMs, wallMs - (wallMs % REPORT_EVERY_MS));
  }

  #inputAt(nowMs: number): ReportInput {
    return {
      chains: [...this.#chains.values()].map((chain) => ({
        report: this.#reportOf(chain, nowMs - this.#wallOffsetMs),
        state: chain.state,
      })),
      endpoints: endpointsOf(this.#fleet),
      incidents: this.#incidents,
      budgets: this.#options.budgets(nowMs),
      config_digest: this.#fleet.digest,
      skipped: this.#fleet.skipped,
      unlisted: this.#options.unlisted?.() ?? [],
      ...(this.#options.maintenance === undefined ? {} : { maintenance: this.#options.maintenance(nowMs) }),
      lastOutageMs: this.#lastOutageMs,
      explanations: this.#explanations,
      nowMs,
    };
  }

  #reportOf(chain: Chain, nowMs: number): ChainPart {
    const { changedMs, state, watched } = chain;
    const sinceMs = Math.max(0, nowMs - changedMs);
    const atMs = nowMs - (sinceMs % CHAIN_REPORT_EVERY_MS);
    const known = this.#reported.get(chain);
    if (known?.revision === state.revision && known.atMs === atMs) {
      return known.report;
    }
    const report = reportChain(state, watched, atMs);
    this.#reported.set(chain, { revision: state.revision, atMs, report });
    return report;
  }

  #useChains(chains: readonly Chain[]): void {
    this.#chains = new Map(chains.map((chain) => [chain.watched.chain.slug, chain]));
    this.#chainOf = new Map(
      chains.flatMap((chain) => [...chain.watched.sources.keys()].map((key) => [key, chain] as const)),
    );
  }

  /** By our own clock. */
  #nowMs(): number {
    const { nowMs, uptimeMs = nowMs } = this.#options;
    return uptimeMs() + this.#epochMs;
  }

  /** Follows a step of the wall clock. */
  #followWall(): void {
    const offsetMs = this.#options.nowMs() - this.#nowMs();
    const stepMs = offsetMs - this.#wallOffsetMs;
    if (Math.abs(stepMs) > DRIFT_MS) {
      this.#wallOffsetMs = offsetMs;
      for (const chain of this.#chains.values()) {
        chain.followWall(offsetMs);
      }
      this.#incidents = this.#incidents.map((one) => {
        return { ...one, since: isoTime(Date.parse(one.since) + stepMs) };
      });
      this.#decidedMs = this.#nowMs();
    }
  }

  /** Converts the instants of a poll from the wall clock to our own. */
  #onOwnClock<Timed extends PollTimes & { readonly nextMs?: number }>(one: Timed): Timed {
    const offsetMs = this.#options.nowMs() - this.#nowMs();
    return {
      ...one,
      sentAtMs: one.sentAtMs - offsetMs,
      receivedAtMs: one.receivedAtMs - offsetMs,
      ...(one.nextMs !== undefined && { nextMs: one.nextMs - offsetMs }),
    };
  }

  /** Ends a network outage at the first reply, once; returns the endpoints whose polls failed in it. */
  #missedInOutage(news: readonly Observation[]): readonly Endpoint[] {
    if (!this.#isInOutage() || news.every(isUnreached)) {
      return [];
    }
    this.#lastOutageMs = this.#nowMs();
    this.decideIncidents();
    return this.#isInOutage()
      ? []
      : endpointsOf(this.#fleet).filter((endpoint) =>
          sourceKeysOf(endpoint).some((source) => isUnreached(this.#stateOf(source)?.last)),
        );
  }

  #isInOutage(): boolean {
    return this.#incidents.some(({ scope }) => scope === "network");
  }

  /** Whether the polls show now that our own network is down. */
  #isNetworkDown(nowMs: number): boolean {
    const sources = [...this.#chains.values()].flatMap(({ state }) => state.sources);
    return isNetworkDown(sources, endpointsOf(this.#fleet), nowMs);
  }

  #isOk(source: string): boolean {
    return this.#stateOf(source)?.verdict?.status === "ok";
  }

  #stateOf(source: string): SourceState | undefined {
    const chain = this.#chainOf.get(source);
    return chain && sourceOf(chain.state, source);
  }
}
