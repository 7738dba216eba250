import type { Exchange } from "../../core/model/exchange.ts";
import type { Endpoint } from "../../core/model/fleet.ts";
import type { PostResult } from "../../core/model/http-post.ts";
import { jsonOf } from "../../core/model/memoize.ts";
import type { Redact } from "../../core/model/redact.ts";
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
  /** Empty where there was no reply. */
  readonly body: string;
}

/** Interprets the reply, with secrets that it echoes removed. */
export function interpretReply(sent: SentRequest, redact: Redact): InterpretedReply {
  const { endpoint, question } = sent;
  // Before any part of a body is cut out: half of an echoed key would no longer be recognised.
  const result = withoutSecrets(sent.result, redact);
  const answer: Interpretation =
    result.kind === "failed"
      ? { ...result, retryAfterMs: null }
      : interpret({ endpoint, question, reply: result.reply, nowMs: result.receivedAtMs });
  const body = result.kind === "failed" ? "" : result.reply.body;
  return { answer, exchange: toExchange(question, result, answer), body };
}

function withoutSecrets(result: PostResult, redact: Redact): PostResult {
  if (result.kind === "failed") {
    return { ...result, detail: redact(result.detail) };
  }
  const { reply } = result;
  const body = redact(unescaped(reply.body));
  return body === reply.body ? result : { ...result, reply: { ...reply, body } };
}

/** The same JSON with only the escapes it needs, so that a key that is echoed with escapes is recognised. */
function unescaped(body: string): string {
  if (!body.includes("\\")) {
    return body;
  }
  return body.replace(/\\(?:\\|\/|u00([2-7][0-9a-f]))/gi, (escaped, hex: string | undefined) => {
    const character = hex === undefined ? escaped.slice(1) : String.fromCharCode(Number.parseInt(hex, 16));
    return character === "\\" || character === '"' ? escaped : character;
  });
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
