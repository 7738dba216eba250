import type { Reply } from "../../core/model/http-post.ts";
import type { FailureReason } from "../../core/model/observation.ts";
import { type Meaning, RATE_LIMIT_WORDS, readComplaints } from "./error-patterns.ts";
import { quote } from "./quote.ts";
import { type Answer, readAnswer } from "./read-answer.ts";
import { readRetryAfterMs } from "./retry-after.ts";

/** Why an answer gives no height. */
export type ReplyError =
  /** The server does not know the question. No failure. */
  | { readonly kind: "refused"; readonly detail: string }
  /** Nothing is indexed yet. No failure. */
  | { readonly kind: "not_started"; readonly detail: string }
  | {
      readonly kind: "failed";
      readonly reason: FailureReason;
      /** The provider's words: one line, at most some 200 characters. */
      readonly detail: string;
      /** How long the provider asks to be left alone, from the instant it was classified. */
      readonly retryAfterMs: number | null;
    };

export type Classified =
  | ReplyError
  | {
      readonly kind: "data";
      readonly data: unknown;
      /** What is wrong all the same: graph-node before 0.44 sends `indexing_error` beside a good `_meta`. */
      readonly trouble: ReplyError | null;
    };

/** The codes that say more than "it failed". */
const STATUS_REASONS: ReadonlyMap<number, FailureReason> = new Map([
  [401, "unauthorized"],
  [402, "payment_required"],
  [403, "unauthorized"],
  [404, "not_found"],
  [429, "rate_limited"],
]);

/**
 * Sorts an HTTP answer, body before code, for most providers say 200 to everything: The Graph's gateway to a wrong
 * key, Hasura to an unknown field. Data wins even beside errors; whether it suffices is for the question to say.
 */
export function classify(reply: Reply, nowMs: number): Classified {
  const answer = readAnswer(reply.body);
  const trouble = findTrouble(reply, answer, nowMs);
  if (answer.data === undefined || (answer.data === null && trouble !== null)) {
    return trouble ?? fail("malformed", `Cannot read the answer: ${quote(reply.body)}`, null);
  }
  return { kind: "data", data: answer.data, trouble };
}

function findTrouble(reply: Reply, answer: Answer, nowMs: number): ReplyError | null {
  const retryAfterMs = readRetryAfterMs(reply.retryAfter, nowMs);
  const known = readComplaints(answer.complaints);
  if (known !== null) {
    return troubleOf(known.meaning, quote(known.text), retryAfterMs);
  }
  if (reply.httpStatus >= 300) {
    const words = answer.complaints[0] ?? titleOf(reply.body);
    const detail = `HTTP ${reply.httpStatus.toString()}${words === "" ? "" : `: ${words}`}`;
    return fail(reasonOfStatus(reply, answer), quote(detail), retryAfterMs);
  }
  return findTroubleOfSuccess(reply, answer, retryAfterMs);
}

function troubleOf(meaning: Meaning, detail: string, retryAfterMs: number | null): ReplyError {
  if (meaning === "refused" || meaning === "not_started") {
    return { kind: meaning, detail };
  }
  return fail(meaning, detail, retryAfterMs);
}

function reasonOfStatus(reply: Reply, answer: Answer): FailureReason {
  if (reply.httpStatus === 403 && (reply.retryAfter !== null || RATE_LIMIT_WORDS.test(reply.body))) {
    return "rate_limited";
  }
  const isGraphqlError = answer.form === "answer" && answer.complaints.length > 0;
  return STATUS_REASONS.get(reply.httpStatus) ?? (isGraphqlError ? "graphql" : "http_status");
}

/** Of an answer that HTTP calls a success. */
function findTroubleOfSuccess(reply: Reply, answer: Answer, retryAfterMs: number | null): ReplyError | null {
  const complaint = answer.complaints[0];
  if (answer.form === "answer" && complaint === undefined) {
    return null;
  }
  const words = quote(complaint ?? titleOf(reply.body));
  if (retryAfterMs !== null || RATE_LIMIT_WORDS.test(reply.body)) {
    return fail("rate_limited", words, retryAfterMs);
  }
  if (answer.form === "answer") {
    return fail("graphql", words, null);
  }
  const found = words === "" ? "the body is empty" : words;
  return fail("malformed", `Cannot read the answer as GraphQL: ${found}`, null);
}

/** The title of a proxy's page, or the body itself. */
function titleOf(body: string): string {
  return /<title[^<>]{0,200}>([^<]{1,400})/i.exec(body)?.[1] ?? body;
}

function fail(reason: FailureReason, detail: string, retryAfterMs: number | null): ReplyError {
  return { kind: "failed", reason, detail, retryAfterMs };
}
