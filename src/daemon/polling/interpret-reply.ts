import type { Exchange } from "../../core/model/exchange.ts";
import type { Endpoint } from "../../core/model/fleet.ts";
import type { PostResult } from "../../core/model/http-post.ts";
import { jsonOf } from "../../core/model/memoize.ts";
import type { Redact } from "../../core/model/redact.ts";
import { quote } from "../../dialects/answer/quote.ts";
import type { Question } from "../../dialects/dialect.ts";
import { type Interpretation, interpret } from "../../dialects/interpret.ts";

/** A question that was sent, and what came of it. Text that came back may echo a secret. */
interface Sent {
  readonly endpoint: Endpoint;
  readonly question: Question;
  readonly result: PostResult;
}

/** What came of one request: for the poll, and for a person who wants to see what we saw. */
interface Understood {
  readonly answer: Interpretation;
  readonly exchange: Exchange;
}

/** Interprets what came back, without the secrets that it echoes. */
export function interpretReply(sent: Sent, redact: Redact): Understood {
  const { endpoint, question } = sent;
  const { sentAtMs, receivedAtMs } = sent.result;
  // Before anything is cut out of a body: half of an echoed key would no longer be recognised.
  const result = withoutSecrets(sent.result, redact);
  const answer: Interpretation =
    result.kind === "failed"
      ? { ...result, retryAfterMs: null }
      : interpret({ endpoint, question, reply: result.reply, nowMs: receivedAtMs });
  const { outcome, text } = told(result, answer);
  const httpStatus = result.kind === "replied" ? result.reply.httpStatus : null;
  return {
    answer,
    exchange: { sentAtMs, receivedAtMs, asked: jsonOf(question.body), httpStatus, outcome, text },
  };
}

function withoutSecrets(result: PostResult, redact: Redact): PostResult {
  if (result.kind === "failed") {
    return { ...result, detail: redact(result.detail) };
  }
  const { reply } = result;
  const body = redact(unescaped(reply.body));
  return body === reply.body ? result : { ...result, reply: { ...reply, body } };
}

/** The same JSON with no more escapes than it needs: a key that is echoed letter by letter is a key. */
function unescaped(body: string): string {
  if (!body.includes("\\")) {
    return body;
  }
  return body.replace(/\\(?:\\|\/|u00([2-7][0-9a-f]))/gi, (escaped, hex: string | undefined) => {
    const character = hex === undefined ? escaped.slice(1) : String.fromCharCode(Number.parseInt(hex, 16));
    return character === "\\" || character === '"' ? escaped : character;
  });
}

function told(result: PostResult, answer: Interpretation): Pick<Exchange, "outcome" | "text"> {
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
