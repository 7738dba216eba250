import { describe, expect, it } from "vitest";
import { issueCertificate } from "../../support/certificates.ts";
import { clientOf } from "../../support/client-of.ts";
import { serve } from "../../support/listener.ts";
import { startRawServer, takeRefusingPort } from "../../support/raw-server.ts";

describe("createHttpClient() without a connection", () => {
  it("waits for a TLS handshake no longer than its deadline", async () => {
    await using silent = await startRawServer({ onRequest: () => undefined });
    await using client = clientOf({ timeoutMs: 150 });

    const result = await client.post({ url: `https://127.0.0.1:${silent.port}/`, headers: {}, body: {} });

    expect(result).toMatchObject({ kind: "failed", reason: "timeout" });
    expect(silent.connectionCount()).toBe(1);
  });

  it("sends nothing over a connection that it does not trust, and says what is wrong with the certificate", async () => {
    const stranger = issueCertificate({ host: "Trusted by nobody" });
    const details: string[] = [];
    for (const certificate of [
      issueCertificate({ host: "localhost" }),
      issueCertificate({ host: "localhost", issuer: stranger }),
    ]) {
      const tls = { key: certificate.keyPem, cert: certificate.certPem };
      await using server = await startRawServer({ onRequest: (socket) => socket.end(), tls });
      const result = await posted(`https://localhost:${server.port}/`);
      details.push(result.kind === "failed" ? `${result.reason}: ${result.detail}` : result.kind);
      expect(server.requests).toEqual([]);
    }

    expect(details).toEqual([
      "tls: the TLS certificate is self-signed",
      "tls: the TLS certificate comes from an authority that is not trusted",
    ]);
  });

  it("names the reason if there is no server, no TLS or no such name", async () => {
    await using plain = await serve((_request, response) => response.end());
    const urls = [
      `http://127.0.0.1:${await takeRefusingPort()}/`,
      `https://127.0.0.1:${plain.port}/`,
      // Refused by the resolver itself: no packet leaves.
      `http://${"a".repeat(64)}.invalid/`,
    ];

    const results = await Promise.all(urls.map(posted));

    expect(results).toMatchObject([{ reason: "connect" }, { reason: "tls" }, { reason: "dns" }]);
  });
});

async function posted(url: string) {
  await using client = clientOf();
  return await client.post({ url, headers: {}, body: {} });
}
