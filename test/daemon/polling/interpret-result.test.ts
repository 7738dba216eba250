import { describe, expect, it } from "vitest";
import type { PostResult } from "../../../src/core/model/http-post.ts";
import { createRedact } from "../../../src/core/model/redact.ts";
import { interpretResult } from "../../../src/daemon/polling/interpret-result.ts";
import { questionsFor } from "../../../src/dialects/families.ts";
import { sampleEndpoint, sampleTarget } from "../../views/sample-report.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const ENDPOINT = sampleEndpoint({
  key: "lockup/subgraph/production/base",
  dialect: "graph",
  targets: [sampleTarget({ variant: "subgraph" })],
  chain: "base",
});
const TIMES = { sentAtMs: 1_000, receivedAtMs: 1_250 };

describe("interpretResult()", () => {
  it("has the reply as readable text, the request, and its time", () => {
    const { exchange } = interpretBody('{"data":{"_meta":{"block":{"number":38000000}}}}');

    expect(exchange).toEqual({
      ...TIMES,
      asked: expect.stringContaining('{"query":'),
      httpStatus: 200,
      outcome: "usable",
      text: '{"data":{"_meta":{"block":{"number":38000000}}}}',
    });
  });

  const echoed: Readonly<Record<string, (echo: string) => string>> = {
    "a message": (echo) => JSON.stringify({ errors: [{ message: echo }] }),
    "an error code": (echo) => JSON.stringify({ error: { message: "no", code: echo } }),
    "a height": (echo) => JSON.stringify({ data: { _meta: { block: { number: echo } } } }),
    "a title": (echo) => `<html><title>${echo}</title></html>`,
    "plain text": (echo) => echo,
    "broken JSON": (echo) => `{"data":"${inUnicodeEscapes(echo)}`,
    "data beside it": (echo) =>
      `{"data":{"echo":"${inUnicodeEscapes(echo)}","_meta":{"block":{"number":7}}}}`,
  };
  it.each(Object.entries(echoed))(
    "removes a key that is echoed in %s even if the text is cut within it",
    (_, bodyOf) => {
      for (const filler of ["x", "spaced  "]) {
        for (let before = 100; before <= 440; before += 1) {
          const echo = filler.repeat(before).slice(0, before);

          const { answer, exchange } = interpretBody(bodyOf(`${echo}${KEY} and more`));

          expect(JSON.stringify([answer, exchange])).not.toContain(KEY.slice(0, 4));
        }
      }
    },
  );

  it("reads a height that has the same digits as a secret", () => {
    const { answer } = interpretBody(
      '{"data":{"_meta":{"block":{"number":28545123}}}}',
      createRedact(["8545"]),
    );

    expect(answer).toMatchObject({ observations: [{ kind: "head", head: { block: 28_545_123 } }] });
  });

  it("leaves out a deployment id that contains a secret, and nothing else", () => {
    const _meta = { block: { number: 7, hash: "0xabc" }, deployment: `Qm${KEY}` };

    const { answer } = interpretBody(JSON.stringify({ data: { _meta } }));

    expect(answer).toMatchObject({ observations: [{ head: { block: 7, hash: "0xabc", deployment: null } }] });
  });

  it("says that no HTTP reply came, without a key", () => {
    const detail = `no reply within 10 s, ${KEY}`;

    const { exchange, answer } = interpret({ kind: "failed", reason: "timeout", detail, ...TIMES });

    expect(exchange).toMatchObject({
      httpStatus: null,
      outcome: "timeout",
      text: "no reply within 10 s, [secret]",
    });
    expect(answer).toMatchObject({ kind: "failed", reason: "timeout", retryAfterMs: null });
  });
});

function interpretBody(body: string, redact?: ReturnType<typeof createRedact>) {
  const reply = { httpStatus: 200, retryAfter: null, body };
  return interpret({ kind: "replied", reply, ...TIMES }, redact);
}

const REDACT_KEY = createRedact([KEY]);

function interpret(result: PostResult, redact = REDACT_KEY) {
  const [question] = questionsFor(ENDPOINT);
  if (question === undefined) {
    throw new Error("Cannot ask anything: the dialect has no question");
  }
  return interpretResult(ENDPOINT, question, result, redact);
}

function inUnicodeEscapes(text: string): string {
  return [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}
