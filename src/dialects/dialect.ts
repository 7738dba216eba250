import type { FailureReason, Head } from "../core/model/observation.ts";

/** What an answer says of one chain. */
export type RowContent =
  | { readonly kind: "head"; readonly head: Head }
  | { readonly kind: "not_started" }
  | { readonly kind: "failed"; readonly reason: FailureReason; readonly detail: string };

export interface Row {
  /** Null where the answer does not name the chain. */
  readonly chainId: number | null;
  readonly content: RowContent;
}

/** The result of reading one answer. */
export type Reading =
  | { readonly kind: "rows"; readonly rows: readonly Row[] }
  /** The server does not know this question; the dialect's next one may fit. Not a failure. */
  | { readonly kind: "refused"; readonly detail: string }
  | { readonly kind: "failed"; readonly reason: FailureReason; readonly detail: string };

/** One way to ask a family of indexers for its heights, and to read the answer's `data`. */
export interface Question {
  /** The body of the request, sent as JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Reads the `data` of a GraphQL answer, or the `result` of a JSON-RPC one. */
  read(data: unknown): Reading;
}

/** A family of indexers: its questions, richest first. A refused question leads to the next. */
export interface Dialect {
  readonly questions: readonly Question[];
}
