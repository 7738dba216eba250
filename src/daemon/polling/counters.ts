import {
  type Endpoint,
  endpointsOf,
  type Fleet,
  type IndexerId,
  indexerKey,
} from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { memoize } from "../../core/model/memoize.ts";
import {
  DURATION_BOUNDS_SECONDS,
  type EndpointCounters,
  type MetricsSource,
} from "../../core/model/metrics-source.ts";
import { FAILURE_REASONS, type FailureReason } from "../../core/model/observation.ts";
import type { ParityReading } from "../../core/model/parity.ts";
import { watchProbes } from "../../core/parity/watched-probe.ts";

/** The counters of one indexer, or of the nodes of all chains: plain data, edited in place. */
export interface Counters {
  /** By the endpoint's key. */
  requests: Record<string, number>;
  /** By the endpoint's key, then by reason; only what has occurred. */
  failures: Record<string, Partial<Record<FailureReason, number>>>;
  roundsSkipped: number;
  /** How many requests took how long: one for each bound, and one for what took longer. */
  counts: number[];
  sumSeconds: number;
}

/** Counters, and a number that changes with them. */
export interface CountersGroup {
  readonly counters: Counters;
  revision: number;
}

/** By what the nodes of all chains are counted. */
const NODES: IndexerId = { protocol: "", variant: "rpc", tier: "" };
const NO_FAILURES = failuresOf({});

/** Counts since the start of the process, or since a reload has added what is counted. */
export class PollCounters {
  /** Of the endpoints in use: a reload may remove one while its poll is under way. */
  #keys: ReadonlySet<string> = new Set();
  readonly #groups = new Map<string, CountersGroup>();
  /** Readings that brought no value, by probe and target; replaced at each change. */
  #parityFailures: ReadonlyMap<string, number> = new Map();
  #revision = 0;

  constructor(fleet: Fleet) {
    this.watch(fleet);
  }

  /** Forgets what a fleet no longer has: it starts anew when it returns. */
  watch(fleet: Fleet): void {
    const endpoints = groupBy(endpointsOf(fleet), indexerKey);
    this.#keys = new Set(endpointsOf(fleet).map(({ key }) => key));
    for (const indexer of this.#groups.keys()) {
      const keys = new Set(endpoints.get(indexer)?.map(({ key }) => key));
      const counters = this.#change(indexer);
      counters.requests = only(counters.requests, keys);
      counters.failures = only(counters.failures, keys);
      if (keys.size === 0) {
        this.#groups.delete(indexer);
      }
    }
    const compared = new Set(comparedValues(fleet).map(({ probe, target }) => `${probe} ${target.key}`));
    this.#parityFailures = new Map([...this.#parityFailures].filter(([key]) => compared.has(key)));
  }

  countRequest(endpoint: Endpoint, durationMs: number): void {
    if (!this.#keys.has(endpoint.key)) {
      return;
    }
    const counters = this.#change(indexerKey(endpoint));
    const seconds = durationMs / 1_000;
    const bound = DURATION_BOUNDS_SECONDS.findIndex((most) => seconds <= most);
    const index = bound === -1 ? DURATION_BOUNDS_SECONDS.length : bound;
    counters.requests[endpoint.key] = (counters.requests[endpoint.key] ?? 0) + 1;
    counters.counts[index] = (counters.counts[index] ?? 0) + 1;
    counters.sumSeconds += seconds;
  }

  countFailure(endpoint: Endpoint, reason: FailureReason): void {
    const { key } = endpoint;
    if (this.#keys.has(key)) {
      const { failures } = this.#change(indexerKey(endpoint));
      failures[key] = { ...failures[key], [reason]: (failures[key]?.[reason] ?? 0) + 1 };
    }
  }

  countSkippedRound(indexer: IndexerId): void {
    this.#change(indexerKey(indexer)).roundsSkipped += 1;
  }

  countParity(readings: readonly ParityReading[]): void {
    for (const { kind, probe, target } of readings) {
      if (kind === "failed") {
        const key = `${probe} ${target}`;
        const count = (this.#parityFailures.get(key) ?? 0) + 1;
        this.#parityFailures = new Map(this.#parityFailures).set(key, count);
      }
    }
  }

  /** What the metrics of a fleet are read from. */
  of(fleet: Fleet): Pick<MetricsSource, "endpoints" | "indexers" | "parity" | "durations"> {
    const countersOf = (indexer: IndexerId) => this.#groups.get(indexerKey(indexer))?.counters;
    return {
      endpoints: endpointsOf(fleet).map((endpoint) => {
        const counters = countersOf(endpoint);
        const failures = counters?.failures[endpoint.key];
        return {
          endpoint,
          requests: counters?.requests[endpoint.key] ?? 0,
          failures: failures === undefined ? NO_FAILURES : failuresOf(failures),
        };
      }),
      indexers: fleet.indexers.map((indexer) => ({
        indexer,
        roundsSkipped: countersOf(indexer)?.roundsSkipped ?? 0,
      })),
      durations: [...fleet.indexers, NODES].flatMap((indexer) => {
        const { counts, sumSeconds } = countersOf(indexer) ?? newCounters();
        return sum(counts) === 0 ? [] : [{ indexer, counts: [...counts], sumSeconds }];
      }),
      parity: comparedValues(fleet).map(({ probe, target }) => ({
        probe,
        target,
        failures: this.#parityFailures.get(`${probe} ${target.key}`) ?? 0,
      })),
    };
  }

  /** For another replica, by `indexerKey`: these change separately. */
  get groups(): ReadonlyMap<string, CountersGroup> {
    return this.#groups;
  }

  /** By probe and target; the same object until one changes. */
  get parityFailures(): ReadonlyMap<string, number> {
    return this.#parityFailures;
  }

  /** Continues what another process has counted, by `indexerKey`, and by probe and target. What is ahead of it stays. */
  restore(saved: ReadonlyMap<string, Counters>, parityFailures: ReadonlyMap<string, number>): void {
    for (const [key, known] of saved) {
      raise(this.#change(key), known);
    }
    for (const [key, count] of parityFailures) {
      if (count > (this.#parityFailures.get(key) ?? 0)) {
        this.#parityFailures = new Map(this.#parityFailures).set(key, count);
      }
    }
  }

  #change(indexer: string): Counters {
    const group = this.#groups.get(indexer) ?? { counters: newCounters(), revision: 0 };
    this.#groups.set(indexer, group);
    this.#revision += 1;
    group.revision = this.#revision;
    return group.counters;
  }
}

function newCounters(): Counters {
  const counts = new Array<number>(DURATION_BOUNDS_SECONDS.length + 1).fill(0);
  return { requests: {}, failures: {}, roundsSkipped: 0, counts, sumSeconds: 0 };
}

function raise(counters: Counters, saved: Counters): void {
  raiseEach(counters.requests, saved.requests);
  for (const [key, failures] of Object.entries(saved.failures)) {
    counters.failures[key] = raiseEach({ ...counters.failures[key] }, failures);
  }
  counters.roundsSkipped = Math.max(counters.roundsSkipped, saved.roundsSkipped);
  if (sum(saved.counts) > sum(counters.counts)) {
    counters.counts = [...saved.counts];
    counters.sumSeconds = saved.sumSeconds;
  }
}

function raiseEach(counts: Record<string, number>, saved: Readonly<Record<string, number>>): typeof counts {
  for (const [key, count] of Object.entries(saved)) {
    counts[key] = Math.max(counts[key] ?? 0, count);
  }
  return counts;
}

/** Every reason, at 0 where it has not occurred. */
function failuresOf(counted: Partial<Record<FailureReason, number>>): EndpointCounters["failures"] {
  // Object.fromEntries widens its keys to string; these are the list's own.
  return Object.fromEntries(
    FAILURE_REASONS.map((reason) => [reason, counted[reason] ?? 0]),
  ) as EndpointCounters["failures"];
}

function only<Value>(record: Record<string, Value>, keys: ReadonlySet<string>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => keys.has(key)));
}

/** Every value that is compared. */
const comparedValues = memoize((fleet: Fleet) =>
  fleet.chains.flatMap(({ slug }) =>
    watchProbes(fleet, slug).flatMap(({ name: probe, targets }) =>
      targets.map(({ target }) => ({ probe, target })),
    ),
  ),
);

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
