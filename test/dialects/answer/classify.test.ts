import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { classify } from "../../../src/dialects/answer/classify.ts";
import { readFixture, replyOf } from "../read-fixture.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

/** Every captured error, under the HTTP status that it comes with, and what it means. */
const ERRORS = [
  { file: "auth-missing-header.json", means: "unauthorized" },
  { file: "auth-invalid-header.json", means: "unauthorized" },
  { file: "auth-missing-key.json", means: "unauthorized" },
  { file: "auth-malformed-key.json", means: "unauthorized" },
  { file: "auth-unknown-key.json", means: "unauthorized" },
  { file: "auth-domain.json", means: "unauthorized" },
  { file: "auth-subgraph.json", means: "unauthorized" },
  { file: "payment-required.json", means: "payment_required" },
  { file: "spend-limit.json", means: "payment_required" },
  { file: "payment-and-auth.json", means: "payment_required" },
  { file: "unknown-subgraph.json", means: "not_found" },
  { file: "no-allocations.json", means: "not_found" },
  { file: "no-valid-versions.json", means: "not_found" },
  { file: "invalid-subgraph-id.json", means: "not_found" },
  { file: "bad-query.json", means: "graphql" },
  { file: "no-indexers.json", means: "no_indexers" },
  { file: "bad-indexers-timeout.json", means: "no_indexers" },
  { file: "bad-indexers-no-attestation.json", means: "no_indexers" },
  { file: "bad-indexers-status.json", means: "no_indexers" },
  { file: "bad-indexers-behind.json", means: "no_indexers" },
  { file: "bad-indexers-missing-block.json", means: "no_indexers" },
  { file: "bad-indexers-no-status.json", means: "no_indexers" },
  { file: "bad-indexers-blocked.json", means: "no_indexers" },
  { file: "bad-indexers-unsupported.json", means: "no_indexers" },
  { file: "bad-indexers-internal.json", means: "no_indexers" },
  { file: "bad-indexers-indexing-error.json", means: "indexing_error" },
  { file: "gateway-fault.json", means: "graphql" },
  { file: "gateway-too-many-requests.json", means: "rate_limited" },
  { file: "studio-rate-limit.json", means: "rate_limited" },
  { file: "indexing-error.json", means: "indexing_error" },
  { file: "no-deployment.json", means: "not_found" },
  { file: "not-started.json", means: "not_started" },
  { file: "not-started-0.44.json", means: "not_started" },
  { file: "no-deployment-0.44.json", means: "not_found" },
  { file: "playground-url.json", status: 400, means: "not_found" },
  { file: "invalid-subgraph-name.json", status: 400, means: "not_found" },
  { file: "database-unavailable.json", means: "graphql" },
  { file: "depth-limit.json", means: "graphql" },
  { file: "result-size-limit.json", means: "graphql" },
  { file: "store-error.json", means: "graphql" },
  { file: "entities.json", means: "graphql" },
  { file: "null-block.json", means: "graphql" },
  { file: "null-data.json", means: "graphql" },
  { file: "timed-out.json", means: "graphql" },
  { file: "reorganized.json", means: "graphql" },
  { file: "overloaded.json", means: "rate_limited" },
  { file: "too-expensive.json", means: "graphql" },
  { file: "no-field.json", means: "refused" },
  { file: "no-field-located.json", means: "refused" },
  { file: "cannot-query-field.json", means: "refused" },
  { file: "panic.json", means: "graphql" },
  { file: "block-not-indexed.json", means: "graphql" },
  { file: "content-type-required.json", status: 400, means: "graphql" },
  { file: "body-required.json", status: 400, means: "graphql" },
  { file: "client-error.json", status: 400, means: "not_found" },
  { file: "internal-server-error.txt", status: 500, means: "http_status" },
  { file: "graph-node-route.json", means: "not_found" },
  { file: "hasura-no-meta.json", means: "refused" },
  { file: "hasura-no-meta-older.json", means: "refused" },
  { file: "hasura-no-block.json", means: "refused" },
  { file: "hasura-reworded.json", means: "refused" },
  { file: "ponder-validation.json", means: "refused" },
  { file: "converter.json", status: 400, means: "graphql" },
  { file: "rpc-limit.json", means: "rate_limited" },
  { file: "rpc-limit-reworded.json", means: "rate_limited" },
  { file: "rpc-capacity.json", means: "rate_limited" },
  { file: "rpc-unauthorized.json", means: "unauthorized" },
  { file: "rpc-no-method.json", means: "refused" },
  { file: "rpc-internal.json", means: "graphql" },
  { file: "without-message.json", means: "graphql" },
  { file: "proxy-message.json", means: "malformed" },
  { file: "proxy-message.json", status: 404, means: "not_found" },
  { file: "proxy-rate-limit.json", status: 403, means: "rate_limited" },
  { file: "too-many-requests.txt", means: "rate_limited" },
  { file: "too-many-requests.txt", status: 429, means: "rate_limited" },
  { file: "too-many-requests.txt", status: 503, means: "http_status" },
  { file: "postgres-clients.json", means: "graphql" },
  { file: "postgres-clients.json", status: 500, means: "graphql" },
  { file: "disk-quota.json", means: "graphql" },
  { file: "too-many-redirects.txt", means: "malformed" },
  { file: "too-many-redirects.txt", status: 403, means: "unauthorized" },
  { file: "too-many-open-files.txt", status: 503, means: "http_status" },
  { file: "gateway-too-many-requests.json", status: 500, means: "graphql" },
  { file: "ready.txt", means: "malformed" },
  { file: "empty.txt", means: "malformed" },
  { file: "empty.txt", status: 302, means: "http_status" },
  { file: "empty.txt", status: 401, means: "unauthorized" },
  { file: "empty.txt", status: 402, means: "payment_required" },
  { file: "empty.txt", status: 404, means: "not_found" },
  { file: "empty.txt", status: 405, means: "http_status" },
  { file: "empty.txt", status: 429, means: "rate_limited" },
  { file: "empty.txt", status: 503, means: "http_status" },
  { file: "truncated.txt", means: "malformed" },
  { file: "no-errors.json", means: "malformed" },
  { file: "empty-object.json", means: "malformed" },
  { file: "list.json", means: "malformed" },
  { file: "word.json", means: "malformed" },
  { file: "null.json", means: "malformed" },
  { file: "page.html", means: "malformed" },
  { file: "forbidden.html", status: 403, means: "unauthorized" },
  { file: "rate-limited.html", status: 403, means: "rate_limited" },
  { file: "rate-limited.html", means: "rate_limited" },
  { file: "bad-gateway.html", status: 502, means: "http_status" },
] as const;

describe("classify()", () => {
  it.each(ERRORS.map((row) => ({ status: 200, ...row })))(
    "reads $file with HTTP $status as $means",
    (row) => {
      const classified = classify(
        replyOf(readFixture(`errors/${row.file}`), { httpStatus: row.status }),
        NOW_MS,
      );

      expect(classified.kind === "failed" ? classified.reason : classified.kind).toBe(row.means);
    },
  );

  it("has an expectation for every captured error", () => {
    const captured = readdirSync(new URL("../../fixtures/errors/", import.meta.url)).sort();

    expect([...new Set(ERRORS.map(({ file }) => file))].sort()).toEqual(captured);
  });

  it.each([200, 401, 404, 500])("takes good data under HTTP %i for data", (httpStatus) => {
    const classified = classify(replyOf(readFixture("graph/meta.json"), { httpStatus }), NOW_MS);

    expect(classified).toMatchObject({ kind: "data", data: { _meta: { block: { number: 23368264 } } } });
  });

  it("keeps the error that stands beside data", () => {
    const classified = classify(replyOf(readFixture("graph/meta-beside-indexing-error.json")), NOW_MS);

    expect(classified).toMatchObject({ kind: "data", error: { reason: "indexing_error" } });
  });

  it.each([
    { case: "data", body: '{"data":null}' },
    { case: "result", body: '{"jsonrpc":"2.0","id":1,"result":null}' },
  ])("leaves a $case of null to the question", ({ body }) => {
    expect(classify(replyOf(body), NOW_MS)).toEqual({ kind: "data", data: null, error: null });
  });

  it.each([
    { case: "an unclear 200", httpStatus: 200, body: '{"errors":[{"message":"slow down"}]}' },
    { case: "a 403", httpStatus: 403, body: "no" },
  ])("takes the Retry-After of $case for a rate limit", ({ httpStatus, body }) => {
    const classified = classify(replyOf(body, { httpStatus, retryAfter: "90" }), NOW_MS);

    expect(classified).toMatchObject({ kind: "failed", reason: "rate_limited", retryAfterMs: 90_000 });
  });

  it.each([
    "API rate limit exceeded",
    "You have exceeded your daily request limit",
    "Monthly capacity limit exceeded",
    "monthly quota exceeded",
    "Your app is rate-limited",
    "Too many queries, slow down",
  ])("takes `%s` for a rate limit", (message) => {
    const body = JSON.stringify({ errors: [{ message }] });

    expect(classify(replyOf(body), NOW_MS)).toMatchObject({ reason: "rate_limited", detail: message });
  });

  it.each([
    "Disk quota exceeded",
    "query depth limit exceeded",
    "memory limit exceeded",
    "connection limit exceeded for non-superusers",
    "too many connections for role",
    "maximum redirect limit reached: too many redirects",
  ])("does not take `%s` for a rate limit, and keeps the words", (message) => {
    const body = JSON.stringify({ errors: [{ message }] });

    expect(classify(replyOf(body), NOW_MS)).toMatchObject({ reason: "graphql", detail: message });
  });

  it("takes a 503 for a rate limit only with a Retry-After", () => {
    const answer = { httpStatus: 503, retryAfter: "30" };
    const body = readFixture("errors/gateway-too-many-requests.json");

    expect(classify(replyOf(body, answer), NOW_MS)).toMatchObject({
      reason: "rate_limited",
      retryAfterMs: 30_000,
    });
  });

  it.each([
    { file: "playground-url.json", explanation: "remove /graphql from the URL" },
    { file: "database-unavailable.json", explanation: "graph-node cannot reach its PostgreSQL database" },
    { file: "overloaded.json", explanation: "graph-node is overloaded and rejects queries from everyone" },
    {
      file: "too-expensive.json",
      explanation: "graph-node has blocked this query until its process restarts",
    },
  ])("explains $file beside the provider's words", ({ file, explanation }) => {
    const classified = classify(replyOf(readFixture(`errors/${file}`)), NOW_MS);

    expect(classified).toMatchObject({ detail: expect.stringContaining(explanation) });
  });

  it("hands on the Retry-After of an overloaded server", () => {
    const retryAfter = "Fri, 20 Nov 2026 12:01:00 GMT";

    const classified = classify(replyOf("", { httpStatus: 503, retryAfter }), NOW_MS);

    expect(classified).toMatchObject({ reason: "http_status", retryAfterMs: 60_000 });
  });

  it("quotes the provider, in one line and cut short", () => {
    const words = `no\r\n\u001B[31mway\u0000 ${"x".repeat(5_000)}`;

    const classified = classify(replyOf(JSON.stringify({ errors: [{ message: words }] })), NOW_MS);

    expect(classified).toMatchObject({ detail: expect.stringMatching(/^no \[31mway x{180,190}…$/) });
  });

  it.each([
    { body: readFixture("errors/bad-gateway.html"), httpStatus: 502, detail: "HTTP 502: 502 Bad Gateway" },
    { body: "", httpStatus: 503, detail: "HTTP 503" },
    { body: "", httpStatus: 200, detail: "Cannot read the answer as GraphQL: the body is empty" },
    { body: "[]", httpStatus: 200, detail: "Cannot read the answer as GraphQL: []" },
    {
      body: readFixture("errors/converter.json"),
      httpStatus: 400,
      detail: "HTTP 400: Conversion failed: Complex _meta queries are not supported",
    },
    {
      body: readFixture("errors/rpc-internal.json"),
      httpStatus: 200,
      detail: "Internal error (-32603)",
    },
  ])("says $detail", ({ body, httpStatus, detail }) => {
    expect(classify(replyOf(body, { httpStatus }), NOW_MS)).toMatchObject({ detail });
  });

  it.each([
    { case: "lists", body: `${"[".repeat(100_000)}${"]".repeat(100_000)}`, kind: "failed" },
    { case: "open lists", body: "[".repeat(100_000), kind: "failed" },
    {
      case: "objects in data",
      body: `{"data":${'{"a":'.repeat(100_000)}1${"}".repeat(100_001)}`,
      kind: "data",
    },
    {
      case: "lists as errors",
      body: `{"errors":${"[".repeat(100_000)}${"]".repeat(100_001 - 1)}}`,
      kind: "failed",
    },
  ])("survives $case nested 100,000 deep", ({ body, kind }) => {
    expect(classify(replyOf(body), NOW_MS).kind).toBe(kind);
  });

  it.each([
    "bad indexers: ",
    "deployment ",
    "invalid subgraph name `/graphql",
    "api requests usage ",
    "exceeded the daily ",
    "<title ",
    "\\u0041",
  ])("reads a megabyte of half the pattern '%s' about as fast as any other", (half) => {
    const bodies = (words: string) => {
      const text = words.repeat(Math.ceil(1_000_000 / words.length));
      const errors = Array.from({ length: 100 }, () => ({ message: text.slice(0, 10_000) }));
      return [JSON.stringify({ errors }), JSON.stringify({ error: text }), text, `<html>${text}`];
    };
    const msOf = (body: string, httpStatus: number) =>
      fastestMs(() => classify(replyOf(body, { httpStatus }), NOW_MS));
    const totalMs = (words: string) =>
      bodies(words).reduce((sum, body) => sum + msOf(body, 200) + msOf(body, 500), 0);

    expect(totalMs(half) / totalMs("nothing much ")).toBeLessThan(25);
  });

  it("finds an indexing error behind the indexers that were bad for other reasons", () => {
    const message = `bad indexers: {${"0xbdfb: Timeout, ".repeat(20)}\n0xbdfc: BadResponse(no attestation: indexing_error)}`;

    expect(classify(replyOf(JSON.stringify({ errors: [{ message }] })), NOW_MS)).toMatchObject({
      reason: "indexing_error",
    });
  });
});

/** The least time of several runs: what else this machine does only adds to it. */
function fastestMs(work: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const startedMs = performance.now();
    work();
    return performance.now() - startedMs;
  });
  return Math.min(...times);
}
