import type { FailureReason, Head } from "../core/model/observation.ts";

/** What an answer says of one chain. */
export interface Row {
  /** Null where the answer does not say which chain it speaks of. */
  readonly chainId: number | null;
  readonly said:
    | { readonly kind: "head"; readonly head: Head }
    | { readonly kind: "not_started" }
    | { readonly kind: "failed"; readonly reason: FailureReason; readonly detail: string };
}

/** What came of reading one answer. */
export type Reading =
  | { readonly kind: "rows"; readonly rows: readonly Row[] }
  /** The server does not know this question; the next one of the dialect may fit. No failure. */
  | { readonly kind: "refused"; readonly detail: string }
  | { readonly kind: "failed"; readonly reason: FailureReason; readonly detail: string };

/** One way to ask a family of indexers for its heights, and to read the answer's `data`. */
export interface Question {
  /** The body of the request, as JSON will carry it. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Reads the `data` of a GraphQL answer, or the `result` of a JSON-RPC one. */
  read(data: unknown): Reading;
}

/** A family of indexers: its questions, richest first. A refused one leads to the next. */
export interface Dialect {
  readonly questions: readonly Question[];
}
