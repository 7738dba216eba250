import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Reply } from "../../src/core/model/http-post.ts";
import { failEverySource, type Interpretation, interpret } from "../../src/dialects/interpret.ts";
import { questionsFor } from "../../src/dialects/registry.ts";
import { endpointOf } from "./endpoint-of.ts";
import { readFixture, replyOf } from "./read-fixture.ts";

interface Case {
  readonly dialect: string;
  readonly chainIds: readonly number[];
  readonly reply: Reply;
  readonly index?: number;
}

function interpretCase({ dialect, chainIds, reply, index = 0 }: Case): Interpretation {
  const endpoint = endpointOf(dialect, chainIds);
  const question = questionsFor(endpoint)[index];
  if (question === undefined) {
    throw new RangeError(`Cannot ask question ${index}: ${dialect} has fewer`);
  }
  return interpret({ endpoint, question, reply, nowMs: 0 });
}

/** Outcomes in short: the block of a head, else its kind, with the reason of a failure. */
function inShort(interpretation: Interpretation): readonly (string | number)[] {
  if (interpretation.kind !== "answered") {
    return [interpretation.kind];
  }
  return interpretation.outcomes.map((outcome) => {
    if (outcome.kind === "head") {
      return outcome.head.block;
    }
    return outcome.kind === "failed" ? outcome.reason : outcome.kind;
  });
}

describe("interpret()", () => {
  it.each([
    { dialect: "graph", chainIds: [1], file: "graph/meta.json", outcomes: [23368264] },
    {
      dialect: "envio",
      chainIds: [10, 1, 8453],
      file: "envio/meta.json",
      outcomes: [137848820, 22817138, "missing"],
    },
    { dialect: "envio", chainIds: [1], file: "envio/meta.json", outcomes: [22817138] },
    {
      dialect: "ponder",
      chainIds: [1, 8453],
      file: "ponder/status.json",
      outcomes: [20293450, "not_started"],
    },
    { dialect: "squid", chainIds: [1], file: "squid/status.json", outcomes: [23368264] },
    { dialect: "squid", chainIds: [1], file: "squid/status-broken.json", outcomes: ["schema"] },
    {
      dialect: "subquery",
      chainIds: [1, 8453, 10],
      file: "subquery/metadatas.json",
      outcomes: [23368264, "not_started", "missing"],
    },
    {
      dialect: "subquery",
      chainIds: [1, 10],
      file: "subquery/metadatas-broken.json",
      outcomes: [7, "schema"],
    },
    { dialect: "rpc", chainIds: [], file: "rpc/block.json", outcomes: [23368072] },
    { dialect: "graph", chainIds: [1], file: "errors/not-started.json", outcomes: ["not_started"] },
    { dialect: "graph", chainIds: [1, 10], file: "graph/meta.json", outcomes: ["schema", "schema"] },
  ])("reads $file as $outcomes for chains $chainIds in $dialect", ({ file, outcomes, ...rest }) => {
    expect(inShort(interpretCase({ ...rest, reply: replyOf(readFixture(file)) }))).toEqual(outcomes);
  });

  it.each(["graph", "envio", "ponder", "squid", "subquery", "auto"])(
    "accepts the plain shape of one number in %s",
    (dialect) => {
      const reply = replyOf(readFixture("graph/meta-plain.json"));

      expect(inShort(interpretCase({ dialect, chainIds: [1], reply }))).toEqual([23368264]);
      expect(inShort(interpretCase({ dialect, chainIds: [1, 10], reply }))).toEqual(["schema", "schema"]);
    },
  );

  it("lets the head count that comes with an indexing error, and heeds the error", () => {
    const body = '{"data":{"_meta":{"block":{"number":7}}},"errors":[{"message":"indexing_error"}]}';

    expect(interpretCase({ dialect: "graph", chainIds: [1], reply: replyOf(body), index: 1 })).toMatchObject({
      outcomes: [{ kind: "head", head: { block: 7, indexingErrors: true } }],
    });
  });

  it("takes no other error beside data for one of indexing", () => {
    const body = '{"data":{"_meta":{"block":{"number":7}}},"errors":[{"message":"Query timed out"}]}';

    expect(interpretCase({ dialect: "graph", chainIds: [1], reply: replyOf(body) })).toMatchObject({
      outcomes: [{ kind: "head", head: { block: 7, indexingErrors: null } }],
    });
  });

  it.each([
    {
      case: "data without the block beside an error",
      file: "graph/meta-cut-by-indexing-error.json",
      reason: "indexing_error",
    },
    {
      case: "a squid whose table is gone",
      file: "squid/status-table-missing.json",
      reason: "graphql",
    },
    {
      case: "a SubQuery project whose table is gone",
      file: "subquery/metadata-table-missing.json",
      reason: "graphql",
    },
    { case: "a wrong key", file: "errors/auth-unknown-key.json", reason: "unauthorized" },
    { case: "a page", file: "errors/page.html", reason: "malformed" },
  ])("fails with $reason for $case", ({ file, reason }) => {
    const reply = replyOf(readFixture(file));

    for (const dialect of ["auto", file.split("/")[0] ?? ""].filter((name) => name !== "errors")) {
      expect(interpretCase({ dialect, chainIds: [1], reply })).toMatchObject({ kind: "failed", reason });
    }
  });

  it.each(['{"data":null}', '{"data":{}}', '{"data":{"_meta":null}}', '{"data":{"_meta":{"other":1}}}'])(
    "fails %s in a fixed dialect, and takes it for a refusal in auto",
    (body) => {
      const [fixed, auto] = ["graph", "auto"].map((dialect) =>
        interpretCase({ dialect, chainIds: [1], reply: replyOf(body) }),
      );

      expect(fixed).toMatchObject({ kind: "failed", reason: "schema", retryAfterMs: null });
      expect(auto).toMatchObject({ kind: "refused" });
    },
  );

  it.each(["graph", "envio", "ponder", "auto"])("takes a validation error for a refusal in %s", (dialect) => {
    const reply = replyOf(readFixture("errors/hasura-no-meta.json"));

    expect(interpretCase({ dialect, chainIds: [1], reply })).toEqual({
      kind: "refused",
      detail: "field '_meta' not found in type: 'query_root' (validation-failed)",
    });
  });

  it.each([
    { server: "graph/meta.json", refusal: "errors/cannot-query-field.json", chainIds: [1] },
    { server: "envio/chain-metadata.json", refusal: "errors/hasura-no-meta.json", chainIds: [1, 10] },
    { server: "ponder/status.json", refusal: "errors/ponder-validation.json", chainIds: [1, 8453] },
    { server: "squid/status.json", refusal: "errors/cannot-query-field.json", chainIds: [1] },
    { server: "subquery/metadatas.json", refusal: "errors/cannot-query-field.json", chainIds: [1, 8453] },
  ])("finds the question in auto that $server answers", ({ server, refusal, chainIds }) => {
    const asked = questionsFor(endpointOf("auto", chainIds)).map((_, index) =>
      [server, refusal].map((file) =>
        interpretCase({ dialect: "auto", chainIds, index, reply: replyOf(readFixture(file)) }),
      ),
    );

    expect(asked.some(([answered]) => answered?.kind === "answered")).toBe(true);
    expect(asked.every(([, refused]) => refused?.kind === "refused")).toBe(true);
  });

  it("never throws, and never takes anything but a positive safe integer for a head", () => {
    const anyBody = fc.oneof(
      fc.json(),
      fc.string(),
      anyAnswer().map((answer) => JSON.stringify(answer)),
    );
    const anyDialect = fc.constantFrom("auto", "graph", "envio", "ponder", "squid", "subquery", "rpc");
    const anyChains = fc.constantFrom([1], [1, 10]);

    fc.assert(
      fc.property(anyBody, anyDialect, anyChains, (body, dialect, chainIds) => {
        for (const index of questionsFor(endpointOf(dialect, chainIds)).keys()) {
          const blocks = inShort(interpretCase({ dialect, chainIds, index, reply: replyOf(body) })).filter(
            (word) => typeof word === "number",
          );
          expect(blocks.every((block) => Number.isSafeInteger(block) && block > 0)).toBe(true);
        }
      }),
    );
  });
});

/** Answers that are almost right, with any value where a number belongs. */
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

describe("failEverySource()", () => {
  it.each([
    { dialect: "envio", sources: ["airdrops/multichain/production/1", "airdrops/multichain/production/10"] },
    { dialect: "rpc", sources: ["airdrops/multichain/production/all"] },
  ])("tells each source of an endpoint in $dialect the same", ({ dialect, sources }) => {
    const failure = { reason: "timeout", detail: "no answer within 10 s" } as const;

    expect(failEverySource(endpointOf(dialect, [1, 10]), failure)).toEqual(
      sources.map((source) => ({ source, kind: "failed", ...failure })),
    );
  });
});
