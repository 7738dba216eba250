import type { Exchange } from "../../core/model/exchange.ts";
import type { Endpoint } from "../../core/model/fleet.ts";
import type { PostResult } from "../../core/model/http-post.ts";
import { jsonOf } from "../../core/model/memoize.ts";
import type { Redact } from "../../core/model/redact.ts";
import type { Outcome } from "../../dialects/answer/outcome.ts";
import { quote } from "../../dialects/answer/quote.ts";
import type { Question } from "../../dialects/dialect.ts";
import { type Interpretation, interpret } from "../../dialects/interpret.ts";

/** A question that was sent, and its result. Text of the reply may echo a secret. */
interface SentRequest {
  readonly endpoint: Endpoint;
  readonly question: Question;
  readonly result: PostResult;
}

/** What a request brought: for the poll, and for a person who wants to see the exchange. */
interface InterpretedReply {
  readonly answer: Interpretation;
  readonly exchange: Exchange;
  /** With the secrets that it may echo; empty where there was no reply. */
  readonly body: string;
}

/** Interprets the reply. Secrets that it echoes are removed from what is kept of it, not from the whole body. */
export function interpretReply(
  { endpoint, question, result }: SentRequest,
  redact: Redact,
): InterpretedReply {
  const answer = withoutSecrets(
    result.kind === "failed"
      ? { ...result, retryAfterMs: null }
      : interpret({ endpoint, question, reply: result.reply, nowMs: result.receivedAtMs }),
    redact,
  );
  const { text, ...exchange } = toExchange(question, result, answer);
  const body = result.kind === "failed" ? "" : result.reply.body;
  return { answer, exchange: { ...exchange, text: redact(text) }, body };
}

function withoutSecrets(answer: Interpretation, redact: Redact): Interpretation {
  return answer.kind === "answered"
    ? { ...answer, outcomes: answer.outcomes.map((outcome) => outcomeWithoutSecrets(outcome, redact)) }
    : { ...answer, detail: redact(answer.detail) };
}

function outcomeWithoutSecrets(outcome: Outcome, redact: Redact): Outcome {
  if (outcome.kind === "failed") {
    return { ...outcome, detail: redact(outcome.detail) };
  }
  if (outcome.kind !== "head") {
    return outcome;
  }
  const { hash, deployment, failure } = outcome.head;
  const isClean = (text: string | null | undefined): boolean => text == null || redact(text) === text;
  if (isClean(hash) && isClean(deployment) && isClean(failure)) {
    return outcome;
  }
  const ids = { hash: isClean(hash) ? hash : null, deployment: isClean(deployment) ? deployment : null };
  const head = { ...outcome.head, ...ids };
  return { ...outcome, head: failure === undefined ? head : { ...head, failure: redact(failure) } };
}

function toExchange(question: Question, result: PostResult, answer: Interpretation): Exchange {
  const { sentAtMs, receivedAtMs } = result;
  const httpStatus = result.kind === "replied" ? result.reply.httpStatus : null;
  return { sentAtMs, receivedAtMs, asked: jsonOf(question.body), httpStatus, ...outcomeOf(result, answer) };
}

function outcomeOf(result: PostResult, answer: Interpretation): Pick<Exchange, "outcome" | "text"> {
  switch (answer.kind) {
    case "failed":
      return { outcome: answer.reason, text: answer.detail };
    case "refused":
      return { outcome: "refused", text: answer.detail };
    case "answered": {
      const failed = answer.outcomes.find((outcome) => outcome.kind === "failed");
      const body = result.kind === "replied" ? quote(result.reply.body) : "";
      return failed === undefined
        ? { outcome: "usable", text: body }
        : { outcome: failed.reason, text: failed.detail };
    }
  }
}
