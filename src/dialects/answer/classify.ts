import type { Reply } from "../../core/model/http-post.ts";
import type { FailureReason } from "../../core/model/observation.ts";
import {
  findKnownError,
  isRateLimitText,
  type KnownError,
  quoteExplained,
  titleOf,
} from "./error-patterns.ts";
import { quote } from "./quote.ts";
import { type Answer, readAnswer } from "./read-answer.ts";
import { readRetryAfterMs } from "./retry-after.ts";

/** Why an answer has no height. */
export type ReplyError =
  /** The server does not know the question. Not a failure. */
  | { readonly kind: "refused"; readonly detail: string }
  /** Nothing is indexed yet. Not a failure. */
  | { readonly kind: "not_started"; readonly detail: string }
  | {
      readonly kind: "failed";
      readonly reason: FailureReason;
      /** The provider's words in one line of some 200 characters, with an explanation where they need one. */
      readonly detail: string;
      /** How long the provider asks to wait, from the instant of classification; null where it does not say. */
      readonly retryAfterMs: number | null;
    };

export type Classified =
  | ReplyError
  | {
      readonly kind: "data";
      readonly data: unknown;
      /** The error beside the data: graph-node before 0.44 sends `indexing_error` with a good `_meta`. */
      readonly error: ReplyError | null;
    };

/** The HTTP statuses with a reason of their own. */
const STATUS_REASONS: ReadonlyMap<number, FailureReason> = new Map([
  [401, "unauthorized"],
  [402, "payment_required"],
  [403, "unauthorized"],
  [404, "not_found"],
  [429, "rate_limited"],
]);

/**
 * Classifies an HTTP answer, body before status, because most providers answer 200 to everything: The Graph's gateway
 * to a wrong key, Hasura to an unknown field. Data wins even beside errors; the question decides whether it suffices.
 */
export function classify(reply: Reply, nowMs: number): Classified {
  const answer = readAnswer(reply.body);
  const error = findError(reply, answer, nowMs);
  if (answer.data === undefined || (answer.data === null && error !== null)) {
    return error ?? fail("malformed", `Cannot read the answer: ${quote(reply.body)}`, null);
  }
  return { kind: "data", data: answer.data, error };
}

function findError(reply: Reply, answer: Answer, nowMs: number): ReplyError | null {
  const retryAfterMs = readRetryAfterMs(reply.retryAfter, nowMs);
  const known = findKnownError(answer.errors);
  if (known !== null && !isServerFault(reply, known)) {
    return errorOf(known, retryAfterMs);
  }
  if (reply.httpStatus >= 300) {
    const words = answer.errors[0] ?? titleOf(reply.body);
    const detail = `HTTP ${reply.httpStatus.toString()}${words === "" ? "" : `: ${words}`}`;
    return fail(reasonOfStatus(reply, answer), quoteExplained(detail), retryAfterMs);
  }
  return findErrorOfSuccess(reply, answer, retryAfterMs);
}

/** A 5xx speaks of the server's own limits, unless it says when to come back. */
function isServerFault({ httpStatus, retryAfter }: Reply, { meaning }: KnownError): boolean {
  return meaning === "rate_limited" && httpStatus >= 500 && retryAfter === null;
}

function errorOf({ meaning, text }: KnownError, retryAfterMs: number | null): ReplyError {
  const detail = quoteExplained(text);
  if (meaning === "refused" || meaning === "not_started") {
    return { kind: meaning, detail };
  }
  return fail(meaning, detail, retryAfterMs);
}

function reasonOfStatus(reply: Reply, answer: Answer): FailureReason {
  if (reply.httpStatus === 403 && (reply.retryAfter !== null || isRateLimitText(reply.body))) {
    return "rate_limited";
  }
  const isGraphqlError = answer.form === "answer" && answer.errors.length > 0;
  return STATUS_REASONS.get(reply.httpStatus) ?? (isGraphqlError ? "graphql" : "http_status");
}

/** The error of an answer with a 2xx status. */
function findErrorOfSuccess(reply: Reply, answer: Answer, retryAfterMs: number | null): ReplyError | null {
  const message = answer.errors[0];
  if (answer.form === "answer" && message === undefined) {
    return null;
  }
  const words = quoteExplained(message ?? titleOf(reply.body));
  if (retryAfterMs !== null || isRateLimitText(reply.body)) {
    return fail("rate_limited", words, retryAfterMs);
  }
  if (answer.form === "answer") {
    return fail("graphql", words, null);
  }
  const found = words === "" ? "the body is empty" : words;
  return fail("malformed", `Cannot read the answer as GraphQL: ${found}`, null);
}

function fail(reason: FailureReason, detail: string, retryAfterMs: number | null): ReplyError {
  return { kind: "failed", reason, detail, retryAfterMs };
}
