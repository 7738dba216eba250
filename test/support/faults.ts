import type { ServerResponse } from "node:http";
import type { FailureReason } from "../../src/core/model/observation.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import {
  type Answer,
  type Damage,
  type Fault,
  graphError,
  html,
  json,
} from "../../src/sim/servers/answer.ts";

/** A fault with the reason that a poll must report for it. */
type NamedFault = Partial<Answer> & { readonly reason: FailureReason };

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

/** Faults of every reason, for servers of any kind. test/fixtures/errors and replies have all that providers say. */
export const FAULTS = {
  hang_before_headers: damaged("hang_before_headers", "timeout", () => undefined),
  hang_within_body: damaged("hang_within_body", "timeout", startBody),
  reset_before_headers: damaged("reset_before_headers", "connect", reset),
  reset_within_body: damaged("reset_within_body", "connect", (response, answer) => {
    startBody(response, answer);
    // Only after the half has left: a reset throws away what is still to be sent.
    response.write("", () => setTimeout(() => reset(response), 20));
  }),

  http_301: {
    ...html("301 Moved", 301),
    headers: { "content-type": "text/html", location: "http://127.0.0.1:1/elsewhere" },
    reason: "http_status",
  },
  http_401: { ...json({ error: "Unauthorized" }, 401), reason: "unauthorized" },
  http_402: { ...json({ error: "Payment Required" }, 402), reason: "payment_required" },
  http_403: { ...html("403 Forbidden", 403), reason: "unauthorized" },
  http_404: { ...html("404 Not Found", 404), reason: "not_found" },
  http_429: { ...json({ message: "Too many requests" }, 429), reason: "rate_limited" },
  http_429_retry_after: { ...waitFor("2"), reason: "rate_limited" },
  http_500: { ...html("Internal server error: store", 500), reason: "http_status" },
  http_502: { ...html("502 Bad Gateway", 502), reason: "http_status" },
  http_503: { ...html("503 Service Temporarily Unavailable", 503), reason: "http_status" },

  unknown_key: { ...graphError("auth error: API key not found"), reason: "unauthorized" },
  payment_required: {
    ...graphError("auth error: payment required for subsequent requests for this API key"),
    reason: "payment_required",
  },
  spend_limit: {
    ...graphError("auth error: spend limit exceeded for this API key"),
    reason: "payment_required",
  },
  rate_limit_text: { ...graphError("Too many requests, try again later"), reason: "rate_limited" },
  subgraph_not_found: {
    ...graphError("subgraph not found: 4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe"),
    reason: "not_found",
  },
  no_indexers: { ...graphError("no indexers found"), reason: "no_indexers" },
  indexers_indexing_error: {
    ...graphError("bad indexers: {0xbdfb: BadResponse(no attestation: indexing_error)}"),
    reason: "indexing_error",
  },
  indexing_error: { ...graphError("indexing_error"), reason: "indexing_error" },
  gateway_fault: { ...graphError("internal error: failed to select indexers"), reason: "graphql" },
  query_timed_out: { ...graphError("Query timed out"), reason: "graphql" },

  html_with_200: { ...html("Welcome to nginx!"), reason: "malformed" },
  empty: { ...raw(""), reason: "malformed" },
  nested: { ...raw(`${'{"data":'.repeat(100_000)}1${"}".repeat(100_000)}`), reason: "schema" },
  no_data: { ...raw("{}"), reason: "malformed" },
  data_null: { ...raw('{"data":null}'), reason: "schema" },
  meta_null: { ...raw('{"data":{"_meta":null}}'), reason: "schema" },
  number_null: { ...raw('{"data":{"_meta":{"block":{"number":null}}}}'), reason: "schema" },
} as const satisfies Readonly<Record<string, NamedFault>>;

/** Answers as they are, but spoilt on their way. */
function damaged<const Reason extends FailureReason>(
  name: string,
  reason: Reason,
  send: (...sent: Parameters<Damage["send"]>) => unknown,
) {
  return { damage: { name, send }, reason };
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
