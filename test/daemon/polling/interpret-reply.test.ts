import { describe, expect, it } from "vitest";
import type { PostResult } from "../../../src/core/model/http-post.ts";
import { createRedact } from "../../../src/core/model/redact.ts";
import { interpretReply } from "../../../src/daemon/polling/interpret-reply.ts";
import { questionsFor } from "../../../src/dialects/registry.ts";
import { sampleEndpoint, sampleTarget } from "../../views/sample-report.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const ENDPOINT = sampleEndpoint({
  key: "lockup/subgraph/production/base",
  dialect: "graph",
  targets: [sampleTarget({ variant: "subgraph" })],
  chain: "base",
});

describe("understand()", () => {
  it("tells the reply, what was asked, and when", () => {
    const { exchange } = understandBody('{"data":{"_meta":{"block":{"number":38000000}}}}');

    expect(exchange).toEqual({
      sentAtMs: 1_000,
      receivedAtMs: 1_250,
      asked: expect.stringContaining('{"query":'),
      httpStatus: 200,
      outcome: "usable",
      text: '{"data":{"_meta":{"block":{"number":38000000}}}}',
    });
  });

  it("keeps an echoed key inside, in a reply and in a failure", () => {
    const reply = understandBody(`{"data":{"_meta":{"block":{"number":7}}},"key":"${KEY}"}`);
    const failure = understandBody(`{"errors":[{"message":"auth error: bad key ${KEY}"}]}`);

    expect(reply.exchange.text).not.toContain(KEY);
    expect(failure.exchange).toMatchObject({
      outcome: "unauthorized",
      text: expect.stringContaining("auth error"),
    });
    expect(JSON.stringify([failure.answer, failure.exchange])).not.toContain(KEY);
  });

  it.each([
    { where: "a message", bodyOf: (echo: string) => JSON.stringify({ errors: [{ message: echo }] }) },
    {
      where: "an error code",
      bodyOf: (echo: string) => JSON.stringify({ error: { message: "no", code: echo } }),
    },
    {
      where: "a height",
      bodyOf: (echo: string) => JSON.stringify({ data: { _meta: { block: { number: echo } } } }),
    },
    { where: "a title", bodyOf: (echo: string) => `<html><title>${echo}</title></html>` },
    { where: "a page", bodyOf: (echo: string) => `<html>${echo}</html>` },
    { where: "plain text", bodyOf: (echo: string) => echo },
    { where: "broken JSON", bodyOf: (echo: string) => `{"data":"${inUnicodeEscapes(echo)}` },
    {
      where: "data beside the height",
      bodyOf: (echo: string) =>
        `{"data":{"echo":"${inUnicodeEscapes(echo)}","_meta":{"block":{"number":7}}}}`,
    },
  ])("keeps no beginning of a key that is echoed in $where, wherever the text is cut", ({ bodyOf }) => {
    for (const filler of ["x", "spaced  "]) {
      for (let before = 100; before <= 440; before += 1) {
        const echo = filler.repeat(before).slice(0, before);

        const { answer, exchange } = understandBody(bodyOf(`${echo}${KEY} and more`));

        expect(JSON.stringify([answer, exchange])).not.toContain(KEY.slice(0, 4));
      }
    }
  });

  it("reads a height whose digits are those of a secret", () => {
    const { answer } = understandBody('{"data":{"_meta":{"block":{"number":28545123}}}}', ["8545"]);

    expect(answer).toMatchObject({ outcomes: [{ kind: "head", head: { block: 28_545_123 } }] });
  });

  it("says that no HTTP answer came", () => {
    const result = {
      kind: "failed",
      reason: "timeout",
      detail: `no answer within 10 s, ${KEY}`,
      ...times(),
    } as const;

    const { exchange, answer } = interpretReply(
      { endpoint: ENDPOINT, question: question(), result },
      createRedact([KEY]),
    );

    expect(exchange).toMatchObject({
      httpStatus: null,
      outcome: "timeout",
      text: "no answer within 10 s, [secret]",
    });
    expect(answer).toMatchObject({ kind: "failed", reason: "timeout", retryAfterMs: null });
  });

  it("calls it no failure that the server does not know the question", () => {
    const { exchange } = understandBody('{"errors":[{"message":"Type `_Block_` has no field `timestamp`"}]}');

    expect(exchange.outcome).toBe("refused");
  });
});

const redactors = new Map<readonly string[], ReturnType<typeof createRedact>>();
const ONE_KEY = [KEY];

function understandBody(body: string, secrets: readonly string[] = ONE_KEY) {
  const reply = { httpStatus: 200, contentType: "application/json", retryAfter: null, body };
  const result: PostResult = { kind: "replied", reply, ...times() };
  const redact = redactors.get(secrets) ?? createRedact(secrets);
  redactors.set(secrets, redact);
  return interpretReply({ endpoint: ENDPOINT, question: question(), result }, redact);
}

function inUnicodeEscapes(text: string): string {
  return [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}

function question() {
  const [first] = questionsFor(ENDPOINT);
  if (first === undefined) {
    throw new Error("Cannot ask anything: the dialect has no question");
  }
  return first;
}

function times() {
  return { sentAtMs: 1_000, receivedAtMs: 1_250 };
}
