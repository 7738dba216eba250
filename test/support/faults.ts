import type { ServerResponse } from "node:http";
import { createRandom } from "../../src/sim/model/random.ts";
import {
  type Answer,
  type Damage,
  type Fault,
  graphError,
  html,
  json,
} from "../../src/sim/servers/answer.ts";

/** @throws {RangeError} If there is none of this name. */
export function faultNamed(name: string): Partial<Answer> {
  const fault = new Map<string, Partial<Answer>>(Object.entries(FAULTS)).get(name);
  if (fault === undefined) {
    throw new RangeError(`Cannot find fault ${name}`);
  }
  return fault;
}

/** The fault applies to half of the requests, in a random order. */
export function halfOf(fault: Partial<Answer>): Fault {
  const random = createRandom("half");
  return () => (random() < 0.5 ? fault : null);
}

/** The fault applies to this number of requests. */
export function times(count: number, fault: Partial<Answer>): Fault {
  let left = count;
  return () => {
    left -= 1;
    return left < 0 ? null : fault;
  };
}

/** Faults of any kind of server. daemon-stories/faults.txt has what Synclag says about each; test/fixtures/errors and replies have what providers send. */
export const FAULTS = {
  hang_before_headers: damaged("hang_before_headers", () => undefined),
  hang_within_body: damaged("hang_within_body", startBody),
  reset_before_headers: damaged("reset_before_headers", reset),
  reset_within_body: damaged("reset_within_body", (response, answer) => {
    startBody(response, answer);
    // A reset discards what was not sent yet, so it waits until half of the reply is out.
    response.write("", () => setTimeout(() => reset(response), 20));
  }),

  http_301: {
    ...html("301 Moved", 301),
    headers: { "content-type": "text/html", location: "http://127.0.0.1:1/elsewhere" },
  },
  http_401: json({ error: "Unauthorized" }, 401),
  http_402: json({ error: "Payment Required" }, 402),
  http_403: html("403 Forbidden", 403),
  http_404: html("404 Not Found", 404),
  http_429: json({ message: "Too many requests" }, 429),
  http_429_retry_after: waitFor("2"),
  http_500: html("Internal server error: store", 500),
  http_502: html("502 Bad Gateway", 502),
  http_503: html("503 Service Temporarily Unavailable", 503),

  unknown_key: graphError("auth error: API key not found"),
  payment_required: graphError("auth error: payment required for subsequent requests for this API key"),
  spend_limit: graphError("auth error: spend limit exceeded for this API key"),
  rate_limit_text: graphError("Too many requests, try again later"),
  subgraph_not_found: graphError("subgraph not found: 4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe"),
  no_indexers: graphError("no indexers found"),
  indexers_indexing_error: graphError("bad indexers: {0xbdfb: BadResponse(no attestation: indexing_error)}"),
  indexing_error: graphError("indexing_error"),
  gateway_fault: graphError("internal error: failed to select indexers"),
  query_timed_out: graphError("Query timed out"),

  html_with_200: html("Welcome to nginx!"),
  empty: raw(""),
  nested: raw(`${'{"data":'.repeat(100_000)}1${"}".repeat(100_000)}`),
  no_data: raw("{}"),
  data_null: raw('{"data":null}'),
  meta_null: raw('{"data":{"_meta":null}}'),
  number_null: raw('{"data":{"_meta":{"block":{"number":null}}}}'),
} as const satisfies Readonly<Record<string, Partial<Answer>>>;

/** Replies that are damaged on their way. */
function damaged(name: string, send: (...sent: Parameters<Damage["send"]>) => unknown) {
  return { damage: { name, send } };
}

function startBody(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, "content-length": String(Buffer.byteLength(body)) });
  response.write(body.slice(0, Math.floor(body.length / 2)));
}

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** A 429 with a `Retry-After`: seconds, or an HTTP date. */
function waitFor(retryAfter: string): Answer {
  const { headers, ...answer } = json({ message: "Too many requests" }, 429);
  return { ...answer, headers: { ...headers, "retry-after": retryAfter } };
}

function raw(body: string): Answer {
  return { status: 200, headers: { "content-type": "application/json" }, body };
}
