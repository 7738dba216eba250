import type { FailureReason } from "../../core/model/observation.ts";
import { graphError, html, json } from "../servers/answer.ts";
import type { Delivery, Fault } from "../servers/faults.ts";

/** A fault with the reason that a poll must report for it. */
export interface NamedFault {
  readonly fault: Fault;
  /** Null: the answer is usable despite the fault, and the poll succeeds. */
  readonly reason: FailureReason | null;
}

const INDEXER = "0xbdfb5ee5a2abf4fc7bb1bd1221067aef7f9de491";

/** Every named fault, for servers of any kind. The texts are those of the providers' own source code. */
export const FAULTS = {
  hang_before_headers: delivery("hang_before_headers", "timeout"),
  hang_within_body: delivery("hang_within_body", "timeout"),
  drip: delivery("drip", "timeout"),
  reset_before_headers: delivery("reset_before_headers", "connect"),
  reset_within_body: delivery("reset_within_body", "connect"),

  http_301: redirect(301),
  http_307: redirect(307),
  http_400: answer(html("400 Bad Request", 400), "http_status"),
  http_400_invalid_id: answer(
    json({ error: "GraphQL server error (client error): Invalid subgraph id `x`" }, 400),
    "not_found",
  ),
  http_401: answer(json({ error: "Unauthorized" }, 401), "unauthorized"),
  http_402: answer(json({ error: "Payment Required" }, 402), "payment_required"),
  http_403: answer(html("403 Forbidden", 403), "unauthorized"),
  http_403_rate_limit: answer(json({ error: "rate limit exceeded" }, 403), "rate_limited"),
  http_404: answer(html("404 Not Found", 404), "not_found"),
  http_405: answer(html("405 Not Allowed", 405), "http_status"),
  http_413: answer(html("413 Request Entity Too Large", 413), "http_status"),
  http_429: answer(json({ message: "Too many requests" }, 429), "rate_limited"),
  http_429_retry_after: rateLimited("2"),
  http_500: answer(
    { status: 500, headers: { "content-type": "text/plain" }, body: "Internal server error: store" },
    "http_status",
  ),
  http_501: answer(html("501 Not Implemented", 501), "http_status"),
  http_502: answer(html("502 Bad Gateway", 502), "http_status"),
  http_503: answer(html("503 Service Temporarily Unavailable", 503), "http_status"),
  http_503_too_many_files: answer(
    { status: 503, headers: { "content-type": "text/plain" }, body: "too many open files" },
    "http_status",
  ),
  http_504: answer(html("504 Gateway Time-out", 504), "http_status"),

  no_authorization: text("auth error: missing authorization header", "unauthorized"),
  invalid_authorization: text("auth error: invalid authorization header", "unauthorized"),
  missing_key: text("auth error: missing API key", "unauthorized"),
  malformed_key: text("auth error: malformed API key", "unauthorized"),
  unknown_key: text("auth error: API key not found", "unauthorized"),
  domain_not_authorized: text("auth error: domain not authorized by user", "unauthorized"),
  subgraph_not_authorized: text("auth error: subgraph not authorized by user", "unauthorized"),
  payment_required: text(
    "auth error: payment required for subsequent requests for this API key",
    "payment_required",
  ),
  spend_limit: text("auth error: spend limit exceeded for this API key", "payment_required"),
  rate_limit_text: text("Too many requests, try again later", "rate_limited"),
  overloaded: text(
    "service is overloaded and can not run the query right now. Please try again in a few minutes",
    "rate_limited",
  ),
  subgraph_not_found: text("subgraph not found: 4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe", "not_found"),
  no_allocations: text("subgraph not found: no allocations", "not_found"),
  no_valid_versions: text("subgraph not found: no valid versions", "not_found"),
  invalid_subgraph_id: text("subgraph not found: invalid subgraph ID: x", "not_found"),
  no_deployment: text(
    "deployment `QmPy7o9wnKEidMJUvVTiDdne2rrdJ28v122b7WJK6oRQkH` does not exist",
    "not_found",
  ),
  playground_url: answer(
    json({ error: "GraphQL server error (client error): Invalid subgraph name `tiny/anvil/graphql`" }, 400),
    "not_found",
  ),
  no_indexers: text("no indexers found", "no_indexers"),
  indexers_time_out: badIndexers("Timeout", "no_indexers"),
  indexers_too_far_behind: badIndexers("Unavailable(too far behind)", "no_indexers"),
  indexers_missing_block: badIndexers(
    "Unavailable(missing block: 23368264, latest: 23360001)",
    "no_indexers",
  ),
  indexers_no_status: badIndexers("Unavailable(no status: not found)", "no_indexers"),
  indexers_bad_response: badIndexers("BadResponse(no attestation: HTTP 502)", "no_indexers"),
  indexers_indexing_error: badIndexers("BadResponse(no attestation: indexing_error)", "indexing_error"),
  indexing_error: text("indexing_error", "indexing_error"),
  bad_query: text("bad query: query parse error", "graphql"),
  gateway_fault: text("internal error: failed to select indexers", "graphql"),
  query_timed_out: text("Query timed out", "graphql"),
  query_too_expensive: text("query is too expensive", "graphql"),
  database_unavailable: text("Store error: database unavailable", "graphql"),
  too_many_clients: text("sorry, too many clients already", "graphql"),
  disk_quota: text("could not extend file: Disk quota exceeded", "graphql"),
  reorganized: text("the chain was reorganized while executing the query", "graphql"),
  null_for_non_null: text("Null value resolved for non-null field `block`", "graphql"),

  html_with_200: answer(html("Welcome to nginx!"), "malformed"),
  empty: answer({ status: 200, headers: { "content-type": "application/json" }, body: "" }, "malformed"),
  truncated: delivery("truncated", "malformed"),
  deflate_garbage: delivery("deflate_garbage", "malformed"),
  nested: answer(raw(`${'{"data":'.repeat(100_000)}1${"}".repeat(100_000)}`), "schema"),
  huge: delivery("huge", "too_large"),
  gzip_bomb: delivery("gzip_bomb", "malformed"),

  json_null: answer(raw("null"), "malformed"),
  json_text: answer(raw('"ok"'), "malformed"),
  json_list: answer(raw("[]"), "malformed"),
  no_data: answer(raw("{}"), "malformed"),
  data_null: answer(raw('{"data":null}'), "schema"),
  data_list: answer(raw('{"data":[]}'), "schema"),
  meta_null: answer(raw('{"data":{"_meta":null}}'), "schema"),
  block_null: answer(raw('{"data":{"_meta":{"block":null}}}'), "schema"),
  number_null: answer(raw('{"data":{"_meta":{"block":{"number":null}}}}'), "schema"),
  number_list: answer(raw('{"data":{"_meta":{"block":{"number":[7]}}}}'), "schema"),
  proto_keys: answer(raw('{"__proto__":{"data":{"_meta":{"block":{"number":7}}}}}'), "malformed"),

  plain_text: delivery("plain_text", null),
  untyped: delivery("untyped", null),
  http_1_0: delivery("http_1_0", null),
  informational: delivery("informational", null),
} as const satisfies Readonly<Record<string, NamedFault>>;

export type FaultName = keyof typeof FAULTS;

/** A 429 with a `Retry-After`: seconds, or an HTTP date. */
function rateLimited(retryAfter: string): NamedFault {
  const { status, headers, body } = json({ message: "Too many requests" }, 429);
  return answer({ status, headers: { ...headers, "retry-after": retryAfter }, body }, "rate_limited");
}

type Reply = Omit<Extract<Fault, { readonly kind: "answer" }>, "kind">;

function answer(reply: Reply, reason: FailureReason): NamedFault {
  return { fault: { kind: "answer", ...reply }, reason };
}

function raw(body: string): Reply {
  return { status: 200, headers: { "content-type": "application/json" }, body };
}

function delivery(how: Delivery, reason: FailureReason | null): NamedFault {
  return { fault: { kind: "delivery", how }, reason };
}

function text(message: string, reason: FailureReason): NamedFault {
  return answer(graphError(message), reason);
}

function badIndexers(why: string, reason: FailureReason): NamedFault {
  return text(`bad indexers: {${INDEXER}: ${why}}`, reason);
}

function redirect(status: number): NamedFault {
  const reply = html(`${status} Moved`, status);
  return answer(
    { ...reply, headers: { ...reply.headers, location: "http://127.0.0.1:1/elsewhere" } },
    "http_status",
  );
}
