import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Answer } from "../../src/daemon/polling/interpret-result.ts";
import { FAMILIES, questionsFor } from "../../src/dialects/families.ts";
import { parityValueOf, withExactNumbers } from "../../src/dialects/selections.ts";
import { answerTo, endpointOf } from "./endpoint-of.ts";
import { replyOf } from "./read-fixture.ts";

describe("interpretReply() of hostile replies", () => {
  it("never throws, and accepts only a positive safe integer as a height", () => {
    const anyBody = fc.oneof(
      fc.json(),
      fc.string(),
      anyAnswer().map((answer) => JSON.stringify(answer)),
    );
    const anyDialect = fc.constantFrom(
      ...["auto", "rpc", "ponder-status", "envio-metrics"],
      ...Object.keys(FAMILIES),
    );
    const anyChains = fc.constantFrom([1], [1, 10]);

    fc.assert(
      fc.property(anyBody, anyDialect, anyChains, (body, dialect, chainIds) => {
        const heights = read(body, dialect, chainIds).flatMap((interpretation) =>
          interpretation.kind === "answered"
            ? interpretation.observations.flatMap((one) => (one.kind === "head" ? [one.head.block] : []))
            : [],
        );
        expect(heights.filter((block) => !(Number.isSafeInteger(block) && block > 0))).toEqual([]);
      }),
    );
  });

  it("survives nesting of 100,000 levels", () => {
    const deep = 100_000;
    const bodies = {
      lists: `${"[".repeat(deep)}${"]".repeat(deep)}`,
      "open lists": "[".repeat(deep),
      "objects in data": `{"data":${'{"a":'.repeat(deep)}1${"}".repeat(deep + 1)}`,
      "lists as errors": `{"errors":${"[".repeat(deep)}${"]".repeat(deep)}}`,
      "a height": `{"data":{"_meta":[{"chainId":1,"progressBlock":${"[".repeat(deep)}-1${"]".repeat(deep)}}]}}`,
    };

    const kinds = Object.values(bodies).map((body) => read(body, "envio", [1])[0]?.kind);

    expect(kinds).toEqual(["failed", "failed", "failed", "failed", "answered"]);
  });

  // Quadratic time on a megabyte exceeds any timeout.
  it("reads a megabyte of half a pattern, or of half a metrics line, in linear time", () => {
    const megabyteOf = (half: string) => half.repeat(Math.ceil(1_000_000 / half.length));
    const halves = [
      ...["bad indexers: ", "deployment ", "invalid subgraph name `/graphql", "api requests usage "],
      ...["exceeded the daily ", "<title ", "\\u0041", '\\"'],
    ];
    const bodies = halves.map(megabyteOf).flatMap((text) => {
      const errors = Array.from({ length: 100 }, () => ({ message: text.slice(0, 10_000) }));
      return [JSON.stringify({ errors }), JSON.stringify({ error: text }), text, `<html>${text}`];
    });
    const metrics = [
      '{a="',
      'a="b",',
      '\\"',
      '"}',
      " ",
      "{",
      "envio_progress_block",
      'envio_progress_block{a="b"}\n',
    ];

    const kinds = [
      ...bodies.flatMap((body) => [200, 500].map((status) => read(body, "graph", [1], status)[0]?.kind)),
      ...metrics.map((half) => {
        const body = `# TYPE x gauge\nenvio_progress_block{${megabyteOf(half)}`;
        return read(body, "envio-metrics", [1])[0]?.kind;
      }),
    ];

    expect(new Set(kinds)).toEqual(new Set(["failed"]));
    expect(read(`envio_progress_block{${megabyteOf("a")}} 7`, "envio-metrics", [1])).toHaveLength(1);
  });

  it("finds an indexing error after indexers that failed for other reasons", () => {
    const message = `bad indexers: {${"0xbdfb: Timeout, ".repeat(20)}\n0xbdfc: BadResponse(no attestation: indexing_error)}`;

    expect(failureOf(message)).toMatchObject({ reason: "indexing_error" });
  });

  it("reads the first 100 errors, the first 2,000 characters of each, and 10,000 characters of a body for a rate limit", () => {
    const unknown = Array.from({ length: 100 }, () => ({ message: "x" }));
    const known = { message: "auth error: no key" };
    const reasonOf = (body: string) => {
      const [answer] = read(body, "graph", [1]);
      return answer?.kind === "failed" ? answer.reason : answer?.kind;
    };

    const ofErrors = [
      [...unknown.slice(1), known],
      [...unknown, known],
      [{ message: `${"x".repeat(1_985)} auth error: no key` }],
      [{ message: `${"x".repeat(1_995)} auth error: no key` }],
    ].map((errors) => reasonOf(JSON.stringify({ errors })));
    const ofBodies = [9_980, 9_990].map((length) => reasonOf(`<html>${"x".padEnd(length)}rate limit`));

    expect(ofErrors).toEqual(["unauthorized", "graphql", "unauthorized", "graphql"]);
    expect(ofBodies).toEqual(["rate_limited", "malformed"]);
  });

  it("quotes 200 characters of the provider's message, and never cuts a character", () => {
    const lengths = { x: [200, 201, 500], "🦀": [200, 500] };
    const quoted = Object.entries(lengths).flatMap(([word, of]) =>
      of.map((length) => failureOf(word.repeat(length))),
    );

    const cut = (word: string) => `${word.repeat(199)}…`;
    const details = ["x".repeat(200), cut("x"), cut("x"), "🦀".repeat(200), cut("🦀")];
    expect(quoted).toMatchObject(details.map((detail) => ({ detail })));
  });

  it("does not cut an escape sequence", () => {
    // Of a longer text, 400 characters are read: here 10, spaces, and the beginning of an escape.
    const quoted = ["\\", "\\u", "\\u00", "\\u004"].map((half) =>
      failureOf(`${"x".repeat(10).padEnd(400 - half.length)}${half}1 and more`),
    );

    expect(quoted).toMatchObject(quoted.map(() => ({ detail: `${"x".repeat(10)}…` })));
  });
});

describe("withExactNumbers()", () => {
  it("agrees with JSON.parse wherever a double is exact", () => {
    const numbers = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => Math.abs(one) > 1e-6);
    fc.assert(
      fc.property(fc.array(numbers), (values) => {
        const exact: readonly unknown[] = JSON.parse(withExactNumbers(JSON.stringify(values)));
        expect(exact.map(Number)).toEqual(values);
      }),
    );
  });

  it("reads zeros before the last digit in linear time", () => {
    expect(parityValueOf(JSON.parse(withExactNumbers(`0.${"0".repeat(1_000_000)}1`)))).toBeNull();
  });
});

function read(
  body: string,
  dialect: string,
  chainIds: readonly number[],
  httpStatus = 200,
): readonly Answer[] {
  const endpoint = endpointOf(dialect, chainIds);
  return questionsFor(endpoint).map((question) =>
    answerTo(endpoint, question, replyOf(body, { httpStatus }), 0),
  );
}

function failureOf(message: string): Answer | undefined {
  return read(JSON.stringify({ errors: [{ message }] }), "graph", [1])[0];
}

/** Replies that are almost right, with any value in place of a number. */
function anyAnswer(): fc.Arbitrary<unknown> {
  const value = fc.oneof(fc.integer(), fc.double(), fc.maxSafeNat().map(String), fc.jsonValue());
  const block = fc.record({ number: value, timestamp: value, hash: value });
  const rows = fc.array(fc.record({ chainId: fc.oneof(fc.constant(1), value), progressBlock: value }));
  const status = fc.dictionary(fc.string(), fc.record({ id: value, block }));
  return fc.oneof(
    block.map((result) => ({ jsonrpc: "2.0", result })),
    block.map((found) => ({ data: { _meta: { block: found } } })),
    rows.map((_meta) => ({ data: { _meta } })),
    status.map((found) => ({ data: { _meta: { status: found } } })),
    fc.array(value).map((errors) => ({ errors })),
  );
}
