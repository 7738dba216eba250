import type { Endpoint, Indexer } from "./fleet.ts";
import type { FailureReason } from "./observation.ts";
import type { Report } from "./report.ts";

/** Requests and failures of one endpoint since the start of the process. */
export interface EndpointCounters {
  readonly endpoint: Endpoint;
  readonly requests: number;
  readonly failures: Readonly<Record<FailureReason, number>>;
}

export interface IndexerCounters {
  readonly indexer: Indexer;
  readonly roundsSkipped: number;
}

/** What the metrics are read from at a scrape: memory only, never a request to an indexer. */
export interface MetricsSource {
  readonly report: Report;
  readonly endpoints: readonly EndpointCounters[];
  readonly indexers: readonly IndexerCounters[];
  readonly loop: {
    readonly lastTickMs: number | null;
    readonly inFlight: number;
    readonly queued: number;
  };
  readonly reload: {
    readonly successful: boolean;
    readonly lastSuccessMs: number;
  };
}
