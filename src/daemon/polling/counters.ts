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

/** Counts by name; an absent name means 0. */
type Counts<Name extends string = string> = Partial<Record<Name, number>>;

/** The counters of one indexer, or of the nodes of all chains: plain data, edited in place. */
export interface Counters {
  /** By the endpoint's key. */
  requests: Counts;
  /** By the endpoint's key. */
  failures: Partial<Record<string, Counts<FailureReason>>>;
  /** Readings without a value, by probe and target. */
  parityFailures: Counts;
  roundsSkipped: number;
  /** Requests by duration: a count for each bound, and one for longer requests. */
  counts: number[];
  sumSeconds: number;
}

/** Counters, and a number that changes with them. */
export interface CountersGroup {
  readonly counters: Counters;
  revision: number;
}

/** Counts since the start of the process, or since a reload added the endpoint. */
export class PollCounters {
  /** By `indexerKey`. */
  readonly #groups = new Map<string, CountersGroup>();
  /** The keys of the endpoints in use: a reload may remove one while its poll is under way. */
  #keys: ReadonlySet<string> = new Set();
  #revision = 0;

  constructor(fleet: Fleet) {
    this.watch(fleet);
  }

  /** Forgets endpoints that the fleet no longer has; one that returns starts at 0. */
  watch(fleet: Fleet): void {
    const endpoints = groupBy(endpointsOf(fleet), indexerKey);
    this.#keys = new Set(endpointsOf(fleet).map(({ key }) => key));
    const isKept = ([key]: readonly [string, unknown]) => this.#keys.has(key);
    for (const indexer of this.#groups.keys()) {
      const counters = this.#change(indexer);
      counters.requests = Object.fromEntries(Object.entries(counters.requests).filter(isKept));
      counters.failures = Object.fromEntries(Object.entries(counters.failures).filter(isKept));
      if (!endpoints.has(indexer)) {
        this.#groups.delete(indexer);
      }
    }
  }

  countRequest(endpoint: Endpoint, durationMs: number): void {
    if (this.#keys.has(endpoint.key)) {
      const counters = this.#change(indexerKey(endpoint));
      const seconds = durationMs / 1_000;
      const bound = DURATION_BOUNDS_SECONDS.findIndex((most) => seconds <= most);
      const index = bound === -1 ? DURATION_BOUNDS_SECONDS.length : bound;
      increase(counters.requests, endpoint.key);
      counters.counts[index] = (counters.counts[index] ?? 0) + 1;
      counters.sumSeconds += seconds;
    }
  }

  countFailure({ key, ...indexer }: Endpoint, reason: FailureReason): void {
    if (this.#keys.has(key)) {
      const { failures } = this.#change(indexerKey(indexer));
      failures[key] ??= {};
      increase(failures[key], reason);
    }
  }

  countParity(endpoint: Endpoint, readings: readonly ParityReading[]): void {
    for (const { kind, probe, target } of readings) {
      if (kind === "failed") {
        increase(this.#change(indexerKey(endpoint)).parityFailures, `${probe} ${target}`);
      }
    }
  }

  countSkippedRound(indexer: IndexerId): void {
    this.#change(indexerKey(indexer)).roundsSkipped += 1;
  }

  /** What the metrics of a fleet are read from. */
  of(fleet: Fleet): Pick<MetricsSource, "endpoints" | "indexers" | "parity" | "durations"> {
    const nodes = { ...NODES, endpoints: fleet.rpcEndpoints };
    const counted = [...fleet.indexers, nodes].map(
      (indexer) => [indexer, this.#groups.get(indexerKey(indexer))?.counters ?? NOTHING] as const,
    );
    return {
      endpoints: counted.flatMap(([{ endpoints }, { requests, failures }]) =>
        endpoints.map((endpoint) => ({
          endpoint,
          requests: requests[endpoint.key] ?? 0,
          failures: withEveryReason(failures[endpoint.key]),
        })),
      ),
      indexers: counted
        .filter(([indexer]) => indexer !== nodes)
        .map(([indexer, { roundsSkipped }]) => ({ indexer, roundsSkipped })),
      durations: counted
        .filter(([, { counts }]) => sum(counts) > 0)
        .map(([indexer, { counts, sumSeconds }]) => ({ indexer, counts: [...counts], sumSeconds })),
      parity: comparedValues(fleet).map(({ probe, target }) => {
        const counters = this.#groups.get(indexerKey(target))?.counters ?? NOTHING;
        return { probe, target, failures: counters.parityFailures[`${probe} ${target.key}`] ?? 0 };
      }),
    };
  }

  /** For another replica, by `indexerKey`: these change separately. */
  get groups(): ReadonlyMap<string, CountersGroup> {
    return this.#groups;
  }

  /** Continues the counts of another process, by `indexerKey`; higher counts of this process stay. */
  restore(saved: ReadonlyMap<string, Counters>): void {
    for (const [indexer, known] of saved) {
      const counters = this.#change(indexer);
      raise(counters.requests, known.requests);
      raise(counters.parityFailures, known.parityFailures);
      for (const [key, failures = {}] of Object.entries(known.failures)) {
        counters.failures[key] ??= {};
        raise(counters.failures[key], failures);
      }
      counters.roundsSkipped = Math.max(counters.roundsSkipped, known.roundsSkipped);
      if (sum(known.counts) > sum(counters.counts)) {
        counters.counts = [...known.counts];
        counters.sumSeconds = known.sumSeconds;
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

/** The indexer under which the nodes of all chains are counted. */
const NODES: IndexerId = { protocol: "", variant: "rpc", tier: "" };
const NOTHING: Readonly<Counters> = newCounters();
const NO_FAILURES = withEveryReason({});

function newCounters(): Counters {
  const counts = new Array<number>(DURATION_BOUNDS_SECONDS.length + 1).fill(0);
  return { requests: {}, failures: {}, parityFailures: {}, roundsSkipped: 0, counts, sumSeconds: 0 };
}

function increase(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function raise(counts: Counts, saved: Counts): void {
  for (const [name, count = 0] of Object.entries(saved)) {
    counts[name] = Math.max(counts[name] ?? 0, count);
  }
}

function withEveryReason(counted: Counts<FailureReason> | undefined): EndpointCounters["failures"] {
  // Object.fromEntries widens its keys to string; these are the list's own.
  return counted === undefined
    ? NO_FAILURES
    : (Object.fromEntries(
        FAILURE_REASONS.map((reason) => [reason, counted[reason] ?? 0]),
      ) as EndpointCounters["failures"]);
}

/** Every compared value. */
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
