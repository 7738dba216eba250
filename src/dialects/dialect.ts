import type { PostRequest } from "../core/model/http-post.ts";
import type { Failure, Head } from "../core/model/observation.ts";
import type { ReplyValue } from "./form.ts";

/** The content of a row: what a reply reports about one chain. */
export type RowContent =
  | { readonly kind: "head"; readonly head: Head }
  | { readonly kind: "not_started" }
  | ({ readonly kind: "failed" } & Failure);

export interface Row {
  /** Null if the reply does not name the chain. */
  readonly chainId: number | null;
  readonly content: RowContent;
}

/** The row of an indexer that has not indexed anything yet. Such an indexer may omit its chain. */
export const NOT_STARTED: Row = { chainId: null, content: { kind: "not_started" } };

/** The rows in the data of a reply, or a text with the reason why there are no rows. */
export type RowsOrReason = readonly Row[] | string;

/** One way to ask an indexer for its heights, and to read the reply. */
export interface Question {
  /** The JSON that is sent with POST; null: a GET. */
  readonly body: Readonly<Record<string, unknown>> | null;
  /**
   * The part of the reply that is read: the `data` of GraphQL or the `result` of JSON-RPC, the whole reply, or the text of a
   * metrics page.
   */
  readonly reads: "data" | "reply" | "metrics";
  /** The beginnings of the lines to keep. Pages of metrics may be large, so other lines are dropped on arrival. */
  readonly keep?: readonly string[];
  read(found: ReplyValue): RowsOrReason;
}

/** The request for a question. Metrics are asked for in the text format, because a server may prefer another one. */
export function requestOf(
  { url, headers }: Pick<PostRequest, "url" | "headers">,
  { body, keep }: Question,
): PostRequest {
  return keep === undefined
    ? { url, headers, body }
    : { url, headers: { accept: "text/plain", ...headers }, body, keep };
}

/** The text of a question, in one line. */
export function questionText({ body }: Question): string {
  return String(body === null ? "GET" : (body["query"] ?? body["method"] ?? JSON.stringify(body)));
}
