import { type Exchange, GET } from "../../core/model/exchange.ts";
import type { Endpoint } from "../../core/model/fleet.ts";
import type { PostResult } from "../../core/model/http-post.ts";
import { jsonOf } from "../../core/model/memoize.ts";
import type { Observation, PollTimes } from "../../core/model/observation.ts";
import type { Redact } from "../../core/model/redact.ts";
import { assignRows, servedChains } from "../../dialects/assign-rows.ts";
import type { Question } from "../../dialects/dialect.ts";
import { type Interpretation, interpretReply } from "../../dialects/interpret-reply.ts";
import { quote } from "../../dialects/values.ts";

type AskedEndpoint = Pick<Endpoint, "key" | "kind" | "chainId" | "dialect" | "targets">;

/** The result of a request: an observation of each source of the endpoint, or why there is none. */
export type Answer =
  | {
      readonly kind: "answered";
      readonly observations: readonly Observation[];
      /** The ids of the chains that the reply names, or null. */
      readonly served: readonly number[] | null;
    }
  | Exclude<Interpretation, { readonly kind: "rows" }>;

/**
 * Interprets the result of a request, for the poll and for the chain page. `body`: the body of the reply, with secrets that it
 * may echo; empty without a reply. The other results have no secrets.
 */
export function interpretResult(
  endpoint: AskedEndpoint,
  question: Question,
  result: PostResult,
  redact: Redact,
): { readonly answer: Answer; readonly exchange: Exchange; readonly body: string } {
  const interpretation =
    result.kind === "failed"
      ? { ...result, retryAfterMs: null }
      : interpretReply(question, result.reply, result.receivedAtMs);
  const answer = answerOf(endpoint, interpretation, result, redact);
  const { httpStatus, body } = result.kind === "failed" ? { httpStatus: null, body: "" } : result.reply;
  const { sentAtMs, receivedAtMs } = result;
  const asked = question.body === null ? GET : jsonOf(question.body);
  const exchange = { sentAtMs, receivedAtMs, asked, httpStatus, ...outcomeOf(answer, body, redact) };
  return { answer, exchange, body };
}

function answerOf(
  endpoint: AskedEndpoint,
  interpretation: Interpretation,
  times: PollTimes,
  redact: Redact,
): Answer {
  if (interpretation.kind === "rows") {
    const { rows } = interpretation;
    const observations = assignRows(endpoint, rows, times).map((one) => withoutSecrets(one, redact));
    return { kind: "answered", observations, served: servedChains(rows) };
  }
  const detail = redact(interpretation.detail);
  // With dialect `auto`, data of another shape may fit another question.
  return interpretation.kind === "failed" && interpretation.reason === "schema" && endpoint.dialect === "auto"
    ? { kind: "refused", detail }
    : { ...interpretation, detail };
}

function withoutSecrets(observation: Observation, redact: Redact): Observation {
  if (observation.kind === "failed") {
    return { ...observation, detail: redact(observation.detail) };
  }
  if (observation.kind !== "head") {
    return observation;
  }
  const { hash, deployment, failure } = observation.head;
  const cleanOf = (id: string | null): string | null => (id === null || redact(id) !== id ? null : id);
  const head = { ...observation.head, hash: cleanOf(hash), deployment: cleanOf(deployment) };
  return { ...observation, head: failure === undefined ? head : { ...head, failure: redact(failure) } };
}

/** How an exchange ended, in the words of the reply. */
function outcomeOf(answer: Answer, body: string, redact: Redact): Pick<Exchange, "outcome" | "text"> {
  switch (answer.kind) {
    case "failed":
      return { outcome: answer.reason, text: answer.detail };
    case "refused":
      return { outcome: "refused", text: answer.detail };
    case "answered": {
      const failed = answer.observations.find((one) => one.kind === "failed");
      return failed === undefined
        ? { outcome: "usable", text: redact(quote(body)) }
        : { outcome: failed.reason, text: failed.detail };
    }
  }
}
