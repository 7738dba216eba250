import { describe, expect, it } from "vitest";
import { issueCertificate } from "../../support/certificates.ts";
import { clientOf } from "../../support/client-of.ts";
import { startRawServer } from "../../support/raw-server.ts";

// test/faults.test.ts has what else can be wrong below HTTP.
describe("createHttpClient() without a connection", () => {
  it("waits for a TLS handshake no longer than its deadline", async () => {
    await using silent = await startRawServer({ onRequest: () => undefined });
    await using client = clientOf({ timeoutMs: 150 });

    const result = await client.post({ url: `https://127.0.0.1:${silent.port}/`, headers: {}, body: {} });

    expect(result).toMatchObject({ kind: "failed", reason: "timeout" });
    expect(silent.connectionCount()).toBe(1);
  });

  it("sends nothing over a connection that it does not trust", async () => {
    const certificate = issueCertificate({ host: "localhost" });
    const tls = { key: certificate.keyPem, cert: certificate.certPem };
    await using server = await startRawServer({ onRequest: (socket) => socket.end(), tls });
    await using client = clientOf();

    const result = await client.post({ url: `https://localhost:${server.port}/`, headers: {}, body: {} });

    expect(result).toMatchObject({ kind: "failed", reason: "tls" });
    expect(server.requests).toEqual([]);
  });
});
