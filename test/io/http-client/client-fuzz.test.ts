import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HttpClient } from "../../../src/io/http-client/client.ts";
import { clientOf } from "../../support/client-of.ts";
import { type RawServer, startRawServer } from "../../support/raw-server.ts";

const BODY = '{"data":{"_meta":{"block":{"number":7}}}}';
const PLAIN = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;
const CHUNKED = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;

/** Pieces that have a meaning anywhere in a reply. */
const TOKENS = [
  "\r\n",
  "\r\n\r\n",
  "\0",
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 101 Switching\r\n\r\n",
  "transfer-encoding: chunked\r\n",
  "content-encoding: br\r\n",
  "content-length: 99999999999999999999\r\n",
  "connection: upgrade\r\n",
  "ffffffffffffffff\r\n",
  "\xff\xfe",
];

/** A valid reply with pieces removed, doubled or inserted. */
const spoilt = fc
  .record({
    answer: fc.constantFrom(PLAIN, CHUNKED),
    at: fc.nat({ max: PLAIN.length }),
    cut: fc.nat({ max: 12 }),
    insert: fc.oneof(fc.constantFrom(...TOKENS), fc.string({ unit: "binary-ascii", maxLength: 8 })),
  })
  .map(({ answer, at, cut, insert }) => answer.slice(0, at) + insert + answer.slice(at + cut));

describe("createHttpClient()", () => {
  let answer = "";
  let server: RawServer;
  let client: HttpClient;

  beforeAll(async () => {
    server = await startRawServer({ onRequest: (socket) => socket.end(answer, "latin1") });
    client = clientOf({ timeoutMs: 500, maxResponseBytes: 10_000, connectionsPerHost: 1 });
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it.each([
    { what: "a damaged reply", arbitrary: spoilt },
    { what: "any bytes", arbitrary: fc.string({ unit: "binary-ascii", maxLength: 300 }) },
  ])("has a result for $what, and none that names a bug of Synclag", async ({ arbitrary }) => {
    await fc.assert(
      fc.asyncProperty(arbitrary, async (bytes) => {
        answer = bytes;

        const result = await client.post({ url: server.url, headers: {}, body: {} });

        expect(["replied", "connect", "malformed", "too_large", "timeout"]).toContain(
          result.kind === "failed" ? result.reason : result.kind,
        );
      }),
      { numRuns: 300 },
    );
  });
});
