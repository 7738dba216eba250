import { type Endpoint, endpointsOf, type Fleet, type Indexer } from "../../core/model/fleet.ts";
import {
  DURATION_BOUNDS_SECONDS,
  type EndpointCounters,
  type MetricsSource,
} from "../../core/model/metrics-source.ts";
import { FAILURE_REASONS, type FailureReason } from "../../core/model/observation.ts";

/** What is counted of an endpoint: sums that only grow. */
type Counted =
  | "requests"
  /** That the requests took, together. */
  | "seconds"
  /** Requests by duration: the index of the first bound that it does not exceed. */
  | `duration: ${number}`
  | `failed: ${FailureReason}`
  /** Readings without a value, by probe and target. */
  | `parity: ${string}`
  /** Rounds that its indexer skipped because of it. */
  | "skipped rounds";

/** Since the start of the process; an absent name means 0. */
export type Counts = Partial<Record<Counted, number>>;

/** One for each bound, and one for what took longer. */
const DURATION_CLASSES = [...DURATION_BOUNDS_SECONDS, Number.POSITIVE_INFINITY];

/** The counters of one endpoint. */
export class Counters {
  readonly counts: Counts = {};
  /** Changes with the counts. */
  revision = 0;

  of(counted: Counted): number {
    return this.counts[counted] ?? 0;
  }

  add(counted: Counted, by = 1): void {
    this.counts[counted] = this.of(counted) + by;
    this.revision += 1;
  }

  addRequest(durationMs: number): void {
    const seconds = durationMs / 1_000;
    this.add("requests");
    this.add("seconds", seconds);
    this.add(`duration: ${DURATION_CLASSES.findIndex((most) => seconds <= most)}`);
  }

  /** Continues the counts of another process; higher counts of this process stay. */
  restore(saved: Counts): void {
    for (const [name, count] of Object.entries<number | undefined>(saved)) {
      // Object.entries widens the keys.
      const counted = name as Counted;
      this.counts[counted] = Math.max(this.of(counted), count ?? 0);
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
  const sumOf = ({ endpoints }: Indexer, counted: Counted): number =>
    endpoints.reduce((sum, endpoint) => sum + countersOf(endpoint).of(counted), 0);
  return {
    endpoints: endpointsOf(fleet).map((endpoint) => {
      const counters = countersOf(endpoint);
      const failures = FAILURE_REASONS.map((reason) => [reason, counters.of(`failed: ${reason}`)]);
      return {
        endpoint,
        requests: counters.of("requests"),
        // Object.fromEntries widens its keys to string; these are the list's own.
        failures: Object.fromEntries(failures) as EndpointCounters["failures"],
      };
    }),
    indexers: fleet.indexers.map((indexer) => ({ indexer, roundsSkipped: sumOf(indexer, "skipped rounds") })),
    durations: [...fleet.indexers, nodes]
      .filter((indexer) => sumOf(indexer, "requests") > 0)
      .map((indexer) => ({
        indexer,
        counts: DURATION_CLASSES.map((_, index) => sumOf(indexer, `duration: ${index}`)),
        sumSeconds: sumOf(indexer, "seconds"),
      })),
    parity: endpointsOf(fleet).flatMap((endpoint) =>
      (endpoint.parity ?? []).flatMap(({ probe, selections }) => {
        const compared = new Set(selections.map(({ target }) => target));
        return endpoint.targets
          .filter(({ key }) => compared.has(key))
          .map((target) => {
            return { probe, target, failures: countersOf(endpoint).of(`parity: ${probe} ${target.key}`) };
          });
      }),
    ),
  };
}
