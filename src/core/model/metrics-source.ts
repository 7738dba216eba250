import type { Endpoint, Indexer, IndexerId, Target } from "./fleet.ts";
import type { FailureReason } from "./observation.ts";
import type { Incident, Report } from "./report.ts";

/** Requests and failures of one endpoint since the start of the process. */
export interface EndpointCounters {
  readonly endpoint: Endpoint;
  readonly requests: number;
  readonly failures: Readonly<Record<FailureReason, number>>;
}

interface IndexerCounters {
  readonly indexer: Indexer;
  readonly roundsSkipped: number;
}

/** Readings of one parity probe on one target that brought no value, since the start of the process. */
interface ParityCounter {
  readonly target: Target;
  readonly probe: string;
  readonly failures: number;
}

/** Upper bounds in seconds of the classes in which durations of polls are counted; the last one is the default timeout of a poll. */
export const DURATION_BOUNDS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** How long the requests of one indexer, or of the nodes of all chains, took. */
interface DurationCounters {
  readonly indexer: IndexerId;
  /** One for each bound, and one for what took longer. */
  readonly counts: readonly number[];
  readonly sumSeconds: number;
}

/** What the metrics of a daemon are read from at a scrape: memory only, never a request to an indexer. */
export interface MetricsSource {
  readonly report: Report;
  readonly endpoints: readonly EndpointCounters[];
  readonly indexers: readonly IndexerCounters[];
  readonly parity: readonly ParityCounter[];
  readonly durations: readonly DurationCounters[];
  /** Null where no store is shared with other replicas. */
  readonly replica: {
    readonly isLeader: boolean;
    readonly isStoreUp: boolean;
    /** Whether this replica polls the fleet, and so speaks of it. */
    readonly isPolling: boolean;
  } | null;
  /** How many incidents of each scope began since the start of the process. */
  readonly incidents: ReadonlyMap<Incident["scope"], number>;
  readonly loop: {
    readonly lastTickMs: number | null;
    readonly inFlight: number;
    readonly queued: number;
  };
  /** Lines of the log that could not be written. */
  readonly lostLogLines: number;
  /** Requests to our own server that failed because a handler threw. */
  readonly httpErrors: number;
  /** Messages to the webhook since the start. */
  readonly notifications: Readonly<Record<"sent" | "failed" | "dropped", number>>;
  readonly reload: {
    readonly successful: boolean;
    readonly lastSuccessMs: number;
  };
}
