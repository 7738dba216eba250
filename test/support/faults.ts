import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import type { FailureReason } from "../../src/core/model/observation.ts";
import { deliver } from "../../src/sim/fleet/origin.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import {
  type Answer,
  type Damage,
  type Fault,
  graphError,
  html,
  json,
} from "../../src/sim/servers/answer.ts";

/** A fault with the reason that a poll must report for it; null: the answer is usable despite the fault. */
type NamedFault = Partial<Answer> & { readonly reason: FailureReason | null };

export type FaultName = keyof typeof FAULTS;

/** @throws {RangeError} If there is none of this name. */
export function faultNamed(name: string): Partial<Answer> {
  const fault = new Map<string, Partial<Answer>>(Object.entries(FAULTS)).get(name);
  if (fault === undefined) {
    throw new RangeError(`Cannot find fault ${name}`);
  }
  return fault;
}

/** The fault of one half of the requests, in no order. */
export function halfOf(fault: Partial<Answer>): Fault {
  const random = createRandom("half");
  return () => (random() < 0.5 ? fault : null);
}

/** The fault of the next requests, so many of them. */
export function times(count: number, fault: Partial<Answer>): Fault {
  let left = count;
  return () => {
    left -= 1;
    return left < 0 ? null : fault;
  };
}

const GARBAGE = Buffer.from("this is no deflate stream");

/** The ways in which an answer is damaged on its way. */
const DAMAGES = damagesOf({
  hang_before_headers: () => undefined,
  hang_within_body: startBody,
  reset_before_headers: (response) => response.socket?.resetAndDestroy(),
  reset_within_body(response, answer) {
    startBody(response, answer);
    // Only after the half has left: a reset throws away what is still to be sent.
    response.write("", () => setTimeout(() => response.socket?.resetAndDestroy(), 20));
  },
  /** One byte a second. */
  drip(response, answer) {
    response.writeHead(answer.status, answer.headers);
    const letters = answer.body[Symbol.iterator]();
    const timer = setInterval(() => {
      const letter = letters.next();
      if (letter.done === true) {
        response.end();
      } else {
        response.write(letter.value);
      }
    }, 1_000);
    response.on("close", () => clearInterval(timer));
  },
  /** Half of the JSON, with a matching length. */
  truncated: (response, answer) => deliver(response, { ...answer, body: firstHalf(answer.body) }),
  /** 20 MB of JSON. */
  huge(response, answer) {
    response.writeHead(answer.status, answer.headers);
    const chunks = Array.from({ length: 320 }, () => "x".repeat(64 * 1024));
    Readable.from(['{"data":"', ...chunks, '"}']).pipe(response);
  },
  /** 1 GB of series of the gauge that is asked for. */
  page_of_1_gb(response, answer) {
    response.writeHead(answer.status, answer.headers);
    Readable.from(gigabyteOf('envio_progress_block{chainId="7"} 7\n')).pipe(response);
  },
  /** 1 GB of one line. */
  line_of_1_gb(response, answer) {
    response.writeHead(answer.status, answer.headers);
    Readable.from(gigabyteOf("other_metric")).pipe(response);
  },
  /** 64 gzip members of 1 MB of spaces each, which together are one valid file. */
  gzip_bomb(response, answer) {
    const member = gzipSync(Buffer.alloc(1024 * 1024, " "));
    const body = Buffer.concat(Array.from({ length: 64 }, () => member));
    response.writeHead(answer.status, { ...answer.headers, "content-encoding": "gzip" }).end(body);
  },
  /** Labelled `deflate`, but is not. */
  deflate_garbage: (response, answer) =>
    response.writeHead(answer.status, { ...answer.headers, "content-encoding": "deflate" }).end(GARBAGE),
  /** True, as HTTP/1.0 without a length: the end of the connection ends it. */
  http_1_0: (response, answer) =>
    response.socket?.end(
      `HTTP/1.0 ${answer.status} OK\r\ncontent-type: application/json\r\n\r\n${answer.body}`,
    ),
  /** True, after a 102 and a 103. */
  informational(response, answer) {
    response.writeProcessing();
    response.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" });
    deliver(response, answer);
  },
});

function damagesOf<Name extends string>(
  senders: Readonly<Record<Name, (...sent: Parameters<Damage["send"]>) => unknown>>,
): Readonly<Record<Name, Damage>> {
  const damages = Object.entries<Damage["send"]>(senders).map(
    ([name, send]) => [name, { name, send }] as const,
  );
  return Object.fromEntries(damages) as Record<Name, Damage>;
}

/** In pieces of about 64 kB, made when they are sent. */
function* gigabyteOf(text: string): Generator<string> {
  const piece = text.repeat(Math.ceil((64 * 1024) / text.length));
  for (let sent = 0; sent < 2 ** 30; sent += piece.length) {
    yield piece;
  }
}

function startBody(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, "content-length": String(Buffer.byteLength(body)) });
  response.write(firstHalf(body));
}

function firstHalf(text: string): string {
  return text.slice(0, Math.floor(text.length / 2));
}

const INDEXER = "0xbdfb5ee5a2abf4fc7bb1bd1221067aef7f9de491";

/** Every named fault, for servers of any kind. The texts are those of the providers' own source code. */
export const FAULTS = {
  hang_before_headers: { damage: DAMAGES.hang_before_headers, reason: "timeout" },
  hang_within_body: { damage: DAMAGES.hang_within_body, reason: "timeout" },
  drip: { damage: DAMAGES.drip, reason: "timeout" },
  reset_before_headers: { damage: DAMAGES.reset_before_headers, reason: "connect" },
  reset_within_body: { damage: DAMAGES.reset_within_body, reason: "connect" },

  http_301: redirect(301),
  http_307: redirect(307),
  http_400: replying(html("400 Bad Request", 400), "http_status"),
  http_400_invalid_id: replying(
    json({ error: "GraphQL server error (client error): Invalid subgraph id `x`" }, 400),
    "not_found",
  ),
  http_401: replying(json({ error: "Unauthorized" }, 401), "unauthorized"),
  http_402: replying(json({ error: "Payment Required" }, 402), "payment_required"),
  http_403: replying(html("403 Forbidden", 403), "unauthorized"),
  http_403_rate_limit: replying(json({ error: "rate limit exceeded" }, 403), "rate_limited"),
  http_404: replying(html("404 Not Found", 404), "not_found"),
  http_405: replying(html("405 Not Allowed", 405), "http_status"),
  http_413: replying(html("413 Request Entity Too Large", 413), "http_status"),
  http_429: replying(json({ message: "Too many requests" }, 429), "rate_limited"),
  http_429_retry_after: rateLimited("2"),
  http_500: replying(
    { status: 500, headers: { "content-type": "text/plain" }, body: "Internal server error: store" },
    "http_status",
  ),
  http_501: replying(html("501 Not Implemented", 501), "http_status"),
  http_502: replying(html("502 Bad Gateway", 502), "http_status"),
  http_503: replying(html("503 Service Temporarily Unavailable", 503), "http_status"),
  http_503_too_many_files: replying(
    { status: 503, headers: { "content-type": "text/plain" }, body: "too many open files" },
    "http_status",
  ),
  http_504: replying(html("504 Gateway Time-out", 504), "http_status"),

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
  playground_url: replying(
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

  html_with_200: replying(html("Welcome to nginx!"), "malformed"),
  empty: replying({ status: 200, headers: { "content-type": "application/json" }, body: "" }, "malformed"),
  truncated: { damage: DAMAGES.truncated, reason: "malformed" },
  deflate_garbage: { damage: DAMAGES.deflate_garbage, reason: "malformed" },
  nested: replying(raw(`${'{"data":'.repeat(100_000)}1${"}".repeat(100_000)}`), "schema"),
  huge: { damage: DAMAGES.huge, reason: "too_large" },
  metrics_page_of_1_gb: { damage: DAMAGES.page_of_1_gb, reason: "too_large" },
  metrics_line_of_1_gb: { damage: DAMAGES.line_of_1_gb, reason: "too_large" },
  gzip_bomb: { damage: DAMAGES.gzip_bomb, reason: "malformed" },

  json_null: replying(raw("null"), "malformed"),
  json_text: replying(raw('"ok"'), "malformed"),
  json_list: replying(raw("[]"), "malformed"),
  no_data: replying(raw("{}"), "malformed"),
  data_null: replying(raw('{"data":null}'), "schema"),
  data_list: replying(raw('{"data":[]}'), "schema"),
  meta_null: replying(raw('{"data":{"_meta":null}}'), "schema"),
  block_null: replying(raw('{"data":{"_meta":{"block":null}}}'), "schema"),
  number_null: replying(raw('{"data":{"_meta":{"block":{"number":null}}}}'), "schema"),
  number_list: replying(raw('{"data":{"_meta":{"block":{"number":[7]}}}}'), "schema"),
  proto_keys: replying(raw('{"__proto__":{"data":{"_meta":{"block":{"number":7}}}}}'), "malformed"),

  plain_text: { headers: { "content-type": "text/plain" }, reason: null },
  untyped: { headers: {}, reason: null },
  http_1_0: { damage: DAMAGES.http_1_0, reason: null },
  informational: { damage: DAMAGES.informational, reason: null },
} as const satisfies Readonly<Record<string, NamedFault>>;

/** A 429 with a `Retry-After`: seconds, or an HTTP date. */
function rateLimited(retryAfter: string): NamedFault {
  const { headers, ...answer } = json({ message: "Too many requests" }, 429);
  return replying({ ...answer, headers: { ...headers, "retry-after": retryAfter } }, "rate_limited");
}

function replying(answer: Answer, reason: FailureReason): NamedFault {
  return { ...answer, reason };
}

function raw(body: string): Answer {
  return { status: 200, headers: { "content-type": "application/json" }, body };
}

function text(message: string, reason: FailureReason): NamedFault {
  return replying(graphError(message), reason);
}

function badIndexers(why: string, reason: FailureReason): NamedFault {
  return text(`bad indexers: {${INDEXER}: ${why}}`, reason);
}

function redirect(status: number): NamedFault {
  const answer = html(`${status} Moved`, status);
  return replying(
    { ...answer, headers: { ...answer.headers, location: "http://127.0.0.1:1/elsewhere" } },
    "http_status",
  );
}
