import type { Chain, Endpoint, Indexer, IndexerId, Target, Thresholds } from "./fleet.ts";
import type { FailureReason } from "./observation.ts";
import type {
  ChainReport,
  GapReport,
  Incident,
  ParityReport,
  ReferenceReport,
  Report,
  TargetReport,
} from "./report.ts";

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

/** Readings of one parity probe on one target that brought no value, since the start of the process. */
export interface ParityCounter {
  readonly target: Target;
  readonly probe: string;
  readonly failures: number;
}

/** What names a target, and labels its metrics. */
export interface TargetId extends IndexerId {
  readonly chain: string;
  readonly chainId: number;
}

/** The part of a report that the status JSON carries as well: `/metrics` and `check` read the same metrics from it. */
export interface StatusSource {
  readonly report: {
    readonly chains: readonly MeasuredChain[];
    readonly incidents: readonly Pick<Incident, "scope" | "subject">[];
  };
}

export interface MeasuredChain extends Pick<ChainReport, "blockIntervalMs"> {
  readonly chain: Pick<Chain, "slug" | "id"> & {
    readonly thresholds: Omit<Thresholds, "staleMs">;
  };
  readonly reference: Pick<ReferenceReport, "block" | "sources"> | null;
  readonly targets: readonly MeasuredTarget[];
  readonly gaps: readonly MeasuredGap[];
  readonly parity: readonly MeasuredParity[];
}

export interface MeasuredTarget
  extends Pick<
    TargetReport,
    | "status"
    | "up"
    | "block"
    | "blockTimestampSec"
    | "lastSuccessMs"
    | "lastAdvanceMs"
    | "lagBlocks"
    | "lagMs"
    | "maintenance"
  > {
  readonly target: TargetId;
}

export interface MeasuredGap extends Pick<GapReport, "against" | "blocks" | "seconds" | "uncertaintyBlocks"> {
  readonly target: TargetId;
}

export interface MeasuredParity extends Pick<ParityReport, "probe" | "result" | "lastComparisonMs"> {
  readonly target: TargetId;
  readonly against: Pick<TargetId, "variant">;
  readonly compared: Pick<NonNullable<ParityReport["compared"]>, "block" | "difference"> | null;
}

/** What the metrics of a daemon are read from at a scrape: memory only, never a request to an indexer. */
export interface MetricsSource extends StatusSource {
  readonly report: Report;
  readonly endpoints: readonly EndpointCounters[];
  readonly indexers: readonly IndexerCounters[];
  readonly parity: readonly ParityCounter[];
  readonly loop: {
    readonly lastTickMs: number | null;
    readonly inFlight: number;
    readonly queued: number;
  };
  /** Lines of the log that could not be written. */
  readonly lostLogLines: number;
  readonly reload: {
    readonly successful: boolean;
    readonly lastSuccessMs: number;
  };
}
