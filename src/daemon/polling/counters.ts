import { type Endpoint, endpointsOf, type Fleet, type Indexer } from "../../core/model/fleet.ts";
import { memoize } from "../../core/model/memoize.ts";
import {
  DURATION_BOUNDS_SECONDS,
  type EndpointCounters,
  type MetricsSource,
} from "../../core/model/metrics-source.ts";
import { FAILURE_REASONS, type FailureReason } from "../../core/model/observation.ts";
import type { ParityReading } from "../../core/model/parity.ts";

/** Counts by name; an absent name means 0. */
type Counts<Name extends string = string> = Partial<Record<Name, number>>;

/** The counters of one endpoint since the start of the process: plain data, edited in place. */
export interface Counters {
  requests: number;
  readonly failures: Counts<FailureReason>;
  /** Readings without a value, by probe and target. */
  readonly parityFailures: Counts;
  /** Rounds that its indexer skipped because of it. */
  roundsSkipped: number;
  /** Requests by duration: a count for each bound, and one for longer requests. */
  durations: number[];
  sumSeconds: number;
}

const NO_DURATIONS: readonly number[] = [...DURATION_BOUNDS_SECONDS, Number.POSITIVE_INFINITY].map(() => 0);
// Object.fromEntries widens its keys to string; these are the list's own.
const NO_FAILURES = Object.fromEntries(
  FAILURE_REASONS.map((reason) => [reason, 0]),
) as EndpointCounters["failures"];

export class PollCounters {
  readonly counters: Counters = {
    requests: 0,
    failures: {},
    parityFailures: {},
    roundsSkipped: 0,
    durations: [...NO_DURATIONS],
    sumSeconds: 0,
  };
  /** Changes with the counters. */
  revision = 0;

  countRequest(durationMs: number): void {
    const seconds = durationMs / 1_000;
    const { durations } = this.counters;
    const bound = DURATION_BOUNDS_SECONDS.findIndex((most) => seconds <= most);
    increase(durations, bound === -1 ? DURATION_BOUNDS_SECONDS.length : bound);
    this.counters.requests += 1;
    this.counters.sumSeconds += seconds;
    this.revision += 1;
  }

  countFailure(reason: FailureReason): void {
    increase(this.counters.failures, reason);
    this.revision += 1;
  }

  countParity(readings: readonly ParityReading[]): void {
    for (const { kind, probe, target } of readings) {
      if (kind === "failed") {
        increase(this.counters.parityFailures, `${probe} ${target}`);
        this.revision += 1;
      }
    }
  }

  countSkippedRound(): void {
    this.counters.roundsSkipped += 1;
    this.revision += 1;
  }

  /** Continues the counts of another process; higher counts of this process stay. */
  restore(saved: Counters): void {
    const own = this.counters;
    raise(own.failures, saved.failures);
    raise(own.parityFailures, saved.parityFailures);
    own.roundsSkipped = Math.max(own.roundsSkipped, saved.roundsSkipped);
    if (saved.requests > own.requests) {
      own.requests = saved.requests;
      own.durations = [...saved.durations];
      own.sumSeconds = saved.sumSeconds;
    }
    this.revision += 1;
  }
}

/** What the metrics of a fleet are read from. `countersOf`: of an endpoint. */
export function metricsOf(
  fleet: Fleet,
  countersOf: (endpoint: Endpoint) => Counters,
): Pick<MetricsSource, "endpoints" | "indexers" | "parity" | "durations"> {
  const nodes: Indexer = { protocol: "", variant: "rpc", tier: "", endpoints: fleet.rpcEndpoints };
  return {
    endpoints: endpointsOf(fleet).map((endpoint) => {
      const { requests, failures } = countersOf(endpoint);
      return { endpoint, requests, failures: { ...NO_FAILURES, ...failures } };
    }),
    indexers: fleet.indexers.map((indexer) => ({
      indexer,
      roundsSkipped: sum(indexer.endpoints.map((endpoint) => countersOf(endpoint).roundsSkipped)),
    })),
    durations: [...fleet.indexers, nodes].flatMap((indexer) => {
      const all = indexer.endpoints.map(countersOf).filter(({ requests }) => requests > 0);
      const counts = NO_DURATIONS.map((_, index) => sum(all.map(({ durations }) => durations[index] ?? 0)));
      const sumSeconds = sum(all.map((counters) => counters.sumSeconds));
      return all.length === 0 ? [] : [{ indexer, counts, sumSeconds }];
    }),
    parity: endpointsOf(fleet).flatMap((endpoint) => {
      const { parityFailures } = countersOf(endpoint);
      return comparedValues(endpoint).map(({ probe, target }) => {
        return { probe, target, failures: parityFailures[`${probe} ${target.key}`] ?? 0 };
      });
    }),
  };
}

const comparedValues = memoize(({ parity = [], targets }: Endpoint) =>
  parity.flatMap(({ probe, selections }) =>
    targets
      .filter(({ key }) => selections.some(({ target }) => target === key))
      .map((target) => ({ probe, target })),
  ),
);

function increase<Name extends PropertyKey>(counts: Partial<Record<Name, number>>, name: Name): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function raise<Name extends string>(counts: Counts<Name>, saved: Counts<Name>): void {
  for (const [name, count] of Object.entries<number | undefined>(saved)) {
    // Object.entries widens the keys.
    const known = name as Name;
    counts[known] = Math.max(counts[known] ?? 0, count ?? 0);
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
