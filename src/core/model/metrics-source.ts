import type { Fleet } from "./fleet.ts";
import type { FailureReason } from "./observation.ts";
import type { Incident, Report } from "./report.ts";

/** The upper bounds of the histogram of request durations. The last finite one is the default timeout of a poll. */
export const DURATION_BUCKETS_SECONDS: readonly number[] = [
  ...[0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  Number.POSITIVE_INFINITY,
];

/** What is counted of an endpoint: sums that only grow. */
export type Counted =
  | "requests"
  /** The total duration of the requests; with `query`, of the requests that carry the query of a probe. */
  | `${"" | `query ${string} `}seconds`
  /** The number of these requests in a bucket of durations, by the bucket's upper bound. */
  | `${"" | `query ${string} `}within: ${number}`
  | `failed: ${FailureReason}`
  /** Replies without a value of a probe that compares variants, by probe and target. */
  | `parity: ${string}`
  /** Rounds of its indexer that were skipped because this endpoint was still being polled. */
  | "skipped rounds";

/** Since the start of the process; an absent name means 0. */
export type Counts = Readonly<Partial<Record<Counted, number>>>;

/** What the metrics of a daemon are read from at a scrape: memory only, never a request to an indexer. */
export interface MetricsSource {
  readonly report: Report;
  readonly fleet: Fleet;
  /** By the endpoint's key, also of endpoints that were removed from the fleet. */
  readonly counts: ReadonlyMap<string, Counts>;
  /** Null where no store is shared with other replicas. */
  readonly replica: {
    readonly isLeader: boolean;
    readonly isStoreUp: boolean;
    /** Whether this replica polls the fleet, and so exports its metrics. */
    readonly isPolling: boolean;
  } | null;
  /** How many incidents of each scope began since the start of the process. */
  readonly incidents: ReadonlyMap<Incident["scope"], number>;
  readonly loop: {
    readonly lastTickMs: number | null;
    readonly inFlight: number;
    readonly queued: number;
  };
  /** Requests to our own server that failed because a handler threw. */
  readonly httpErrors: number;
  /** Messages to the webhook since the start. */
  readonly notifications: Readonly<Record<"sent" | "failed" | "dropped", number>>;
  readonly reload: {
    /** Why the last reload failed; null: it did not. */
    readonly error: Report["reload_error"];
    readonly lastSuccessMs: number;
  };
}
