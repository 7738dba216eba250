import type { QueryResult } from "./selection.ts";

/**
 * Why a poll returned no usable reply: a closed list, and the metric label `reason`. With `query` the reply has a height, but a
 * probe has failed.
 */
export const FAILURE_REASONS = [
  "timeout",
  "dns",
  "connect",
  "tls",
  "http_status",
  "rate_limited",
  "unauthorized",
  "payment_required",
  "not_found",
  "no_indexers",
  "indexing_error",
  "query",
  "graphql",
  "schema",
  "malformed",
  "too_large",
  "implausible",
  "wrong_chain",
  "budget",
  "aborted",
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/** Why there is no usable reply. */
export interface Failure {
  readonly reason: FailureReason;
  /** For people, in one line: what the server said, or what was found. Secrets are already removed. */
  readonly detail: string;
}

/** A block, as a source reports it. */
export interface ReportedBlock {
  /** A positive safe integer. */
  readonly block: number;
  /** The time of the block, in Unix seconds; null if the source does not report it. */
  readonly timestampSec: number | null;
  readonly hash: string | null;
}

/** The newest block that an indexer reports as processed. */
export interface Head extends ReportedBlock {
  /** The deployment of the reply, e.g. `Qm…`; changes when a new version is published. */
  readonly deployment: string | null;
  /** The indexer's own flag. True is bad news; false proves nothing. */
  readonly indexingErrors: boolean | null;
  /** Why the deployment failed, as the indexer reports it, in one line. */
  readonly failure?: string;
  /** The indexer reports that it has completed. This may be wrong, so it is shown and decides nothing. */
  readonly completed?: true;
}

/**
 * When a poll was made. The height was read at some instant between the two. Both are times of the wall clock; `Monitor` converts
 * them to our own clock, which the core uses.
 */
export interface PollTimes {
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
}

/** What one poll reported about one target, or about an RPC node. */
export type Observation = PollTimes & { readonly source: string } & (
    | {
        readonly kind: "head";
        readonly head: Head;
        /** The results of the queries of probes in the same reply; absent: none was asked. */
        readonly queries?: readonly QueryResult[];
      }
    /** Envio's -1, Ponder's null, graph-node's "has not started syncing yet": no failure, and no height. */
    | { readonly kind: "not_started" }
    /** A multi-chain reply without this expected chain. */
    | { readonly kind: "missing" }
    | (Failure & {
        readonly kind: "failed";
        /** When the next request is sent, if the provider or the budget makes us wait; on the same clock. */
        readonly nextMs?: number;
      })
  );

/** The year 5138, in unix milliseconds. A later instant is a mistake, wherever it comes from. */
export const LATEST_MS = 1e14;
