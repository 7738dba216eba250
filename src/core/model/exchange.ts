import type { FailureReason, PollTimes } from "./observation.ts";

/** The value of `asked` for a request without a body. */
export const GET = "GET";

/** One request and its result, as shown on the chain page. */
export interface Exchange extends PollTimes {
  /** The request's body, as JSON; `GET` for one without. */
  readonly asked: string;
  /** Null if there was no HTTP response. */
  readonly httpStatus: number | null;
  /** `refused`: the server does not know this query, and the next one was sent. */
  readonly outcome: "usable" | "refused" | FailureReason;
  /** The beginning of the response, or the error: one line, without secrets. */
  readonly text: string;
}

/** An endpoint with its last exchanges, newest first. */
export interface EndpointRecord {
  readonly replies: readonly Exchange[];
  readonly failures: readonly Exchange[];
  readonly key: string;
  /** `status`: the index-node API of an indexer's endpoint. */
  readonly kind: "indexer" | "rpc" | "status";
  /** Keys of the targets that it serves; empty for an RPC node. */
  readonly targets: readonly string[];
  /** A curl command that repeats the last poll, without secrets; null before the first. */
  readonly curl: string | null;
}
