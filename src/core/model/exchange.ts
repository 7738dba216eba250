import type { FailureReason, PollTimes } from "./observation.ts";

/** One request and what came of it, for a person who looks into an endpoint. */
export interface Exchange extends PollTimes {
  /** The request's body, as JSON. */
  readonly asked: string;
  /** Null where no HTTP answer came. */
  readonly httpStatus: number | null;
  /** `refused`: the server does not know this question, and another one was asked. */
  readonly outcome: "usable" | "refused" | FailureReason;
  /** The beginning of the answer, or what went wrong: one line, without secrets. */
  readonly text: string;
}

/** What a person looks at who wants to know what an endpoint really said. Newest first. */
export interface Exchanges {
  readonly replies: readonly Exchange[];
  readonly failures: readonly Exchange[];
}

/** An endpoint with what it said last. */
export interface EndpointRecord extends Exchanges {
  readonly key: string;
  readonly kind: "indexer" | "rpc";
  /** Keys of the targets that it serves; none for an RPC node. */
  readonly targets: readonly string[];
  /** Repeats the last poll by hand, without a secret; null before the first. */
  readonly curl: string | null;
}
