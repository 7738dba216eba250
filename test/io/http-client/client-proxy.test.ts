import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { ProxySettings } from "../../../src/config/config.ts";
import { issueCertificate } from "../../support/certificates.ts";
import { clientOf } from "../../support/client-of.ts";
import { startConnectProxy } from "../../support/connect-proxy.ts";
import { startRawServer } from "../../support/raw-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const NONE: ProxySettings = { httpProxy: "", httpsProxy: "", noProxy: "" };

describe("createHttpClient() behind a proxy", () => {
  it("sends HTTPS requests through CONNECT, so that the proxy sees only the host", async () => {
    const authority = issueCertificate({ host: "Trusted by the test" });
    const certificate = issueCertificate({ host: "indexer.example", issuer: authority });
    const tls = { key: certificate.keyPem, cert: certificate.certPem };
    await using server = await startRawServer({ onRequest: say, tls });
    await using proxy = await startConnectProxy(`Basic ${Buffer.from("me:secret").toString("base64")}`);

    const url = `https://indexer.example:${server.port}/key`;
    const [result] = await postFromProcess(authority.certPem, proxy.url.replace("//", "//me:secret@"), url);

    expect(result).toMatchObject({ kind: "replied", reply: { body: "{}" } });
    expect(proxy.asked).toEqual([`CONNECT indexer.example:${server.port}`]);
    expect(server.requests[0]).toMatch(/^POST \/key /);
  });

  it("sends plain HTTP requests to the proxy unchanged", async () => {
    await using server = await startRawServer({ onRequest: say });
    await using proxy = await startConnectProxy();
    await using client = clientOf({ proxy: { ...NONE, httpProxy: proxy.url } });

    const url = `http://indexer.example:${server.port}/x`;
    const result = await client.post({ url, headers: {}, body: {} });

    expect(result).toMatchObject({ kind: "replied", reply: { body: "{}" } });
    expect(proxy.asked).toEqual([`POST ${url}`]);
  });

  it.each([
    { case: "loopback by address", host: "127.0.0.1", noProxy: "" },
    { case: "loopback by name", host: "localhost", noProxy: "" },
    { case: "a host of NO_PROXY", host: "127.0.0.1.nip.invalid", noProxy: "nip.invalid" },
  ])("bypasses the proxy for $case", async ({ host, noProxy }) => {
    await using server = await startRawServer({ onRequest: say });
    await using proxy = await startConnectProxy();
    await using client = clientOf({ proxy: { httpProxy: proxy.url, httpsProxy: proxy.url, noProxy } });

    await client.post({ url: `http://${host}:${server.port}/`, headers: {}, body: {} });

    expect(proxy.asked).toEqual([]);
  });

  it("says that the proxy refuses, without printing its password", async () => {
    await using proxy = await startConnectProxy("Basic right");
    const httpsProxy = proxy.url.replace("//", "//me:wrong@");
    await using client = clientOf({ proxy: { ...NONE, httpsProxy } });

    const result = await client.post({ url: "https://indexer.example/", headers: {}, body: {} });

    expect(result).toMatchObject({
      kind: "failed",
      reason: "connect",
      detail: "the proxy refuses the connection",
    });
  });
});

function say(socket: { write: (text: string) => unknown }, request: string): void {
  socket.write(request === "" ? "" : "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
}

/** Posts from a process that trusts this authority. */
async function postFromProcess(
  authorityPem: string,
  httpsProxy: string,
  url: string,
): Promise<readonly unknown[]> {
  await using folder = await temporaryFolder();
  const trusted = join(folder.path, "authority.pem");
  await writeFile(trusted, authorityPem);
  const script = fileURLToPath(new URL("../../support/post-each.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", script, url], {
    env: { NODE_EXTRA_CA_CERTS: trusted, HTTPS_PROXY: httpsProxy },
  });
  return JSON.parse(stdout) as readonly unknown[];
}
