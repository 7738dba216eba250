import { describe, expect, it } from "vitest";
import { issueCertificate } from "../../support/certificates.ts";
import { clientOf } from "../../support/client-of.ts";
import { startDeafServer } from "../../support/deaf-server.ts";
import { startRawServer, takeRefusingPort } from "../../support/raw-server.ts";

describe("createHttpClient() without a connection", () => {
  it("fails with connect where nobody listens", async () => {
    await using client = clientOf();

    const result = await client.post({
      url: `http://127.0.0.1:${await takeRefusingPort()}/`,
      headers: {},
      body: {},
    });

    expect(result).toMatchObject({
      kind: "failed",
      reason: "connect",
      detail: "the host refuses the connection",
    });
  });

  it("waits for a connection no longer than its deadline", async () => {
    await using deaf = await startDeafServer();
    await using client = clientOf({ timeoutMs: 200 });

    const result = await client.post({ url: `http://127.0.0.1:${deaf.port}/`, headers: {}, body: {} });

    expect(result).toMatchObject({
      kind: "failed",
      reason: "timeout",
      detail: "no complete answer within 0.2 s",
    });
  });

  // Refused by the resolver itself: no packet leaves.
  it.each([{ host: `${"a".repeat(64)}.invalid` }, { host: "a..b" }])(
    "fails with dns for a name that can't resolve: $host",
    async ({ host }) => {
      await using client = clientOf();

      const result = await client.post({ url: `http://${host}/`, headers: {}, body: {} });

      expect(result).toMatchObject({
        kind: "failed",
        reason: "dns",
        detail: "the host name does not resolve",
      });
    },
  );

  it("waits for a TLS handshake no longer than its deadline", async () => {
    await using silent = await startRawServer({ onRequest: () => undefined });
    await using client = clientOf({ timeoutMs: 150 });

    const result = await client.post({ url: `https://127.0.0.1:${silent.port}/`, headers: {}, body: {} });

    expect(result).toMatchObject({ kind: "failed", reason: "timeout" });
    expect(silent.connectionCount()).toBe(1);
  });

  // test/faults.test.ts has what else can be wrong with a certificate.
  it("sends nothing over a connection that it does not trust", async () => {
    const certificate = issueCertificate({
      host: "localhost",
      validFrom: new Date(Date.now() - 3_600_000),
      validTo: new Date(Date.now() + 3_600_000),
    });
    const tls = { key: certificate.keyPem, cert: certificate.certPem };
    await using server = await startRawServer({ onRequest: (socket) => socket.end(), tls });
    await using client = clientOf();

    const result = await client.post({ url: `https://localhost:${server.port}/`, headers: {}, body: {} });

    expect(result).toMatchObject({ kind: "failed", reason: "tls" });
    expect(server.requests).toEqual([]);
  });
});
