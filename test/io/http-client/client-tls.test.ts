import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHttpClient } from "../../../src/io/http-client/client.ts";
import { type Issued, issueCertificate } from "../../support/certificates.ts";
import { type RawServer, startRawServer } from "../../support/raw-server.ts";

const DAY_MS = 86_400_000;
const YESTERDAY = new Date(Date.now() - DAY_MS);
const TOMORROW = new Date(Date.now() + DAY_MS);
const LAST_YEAR = new Date(Date.now() - 365 * DAY_MS);

const VALID = { validFrom: YESTERDAY, validTo: TOMORROW };
const authority = issueCertificate({ host: "Trusted by the test", ...VALID });
const stranger = issueCertificate({ host: "Trusted by nobody", ...VALID });

const CASES: readonly { readonly name: string; readonly certificate: Issued; readonly expected: object }[] = [
  {
    name: "a good certificate",
    certificate: issueCertificate({ host: "localhost", ...VALID, issuer: authority }),
    expected: { kind: "replied", reply: { body: "{}" } },
  },
  {
    name: "a self-signed certificate",
    certificate: issueCertificate({ host: "localhost", ...VALID }),
    expected: failure("is self-signed"),
  },
  {
    name: "an expired certificate",
    certificate: issueCertificate({
      host: "localhost",
      validFrom: LAST_YEAR,
      validTo: YESTERDAY,
      issuer: authority,
    }),
    expected: failure("has expired"),
  },
  {
    name: "a certificate for another host",
    certificate: issueCertificate({ host: "elsewhere.example", ...VALID, issuer: authority }),
    expected: failure("is for another host"),
  },
  {
    name: "a certificate of an unknown authority",
    certificate: issueCertificate({ host: "localhost", ...VALID, issuer: stranger }),
    expected: failure("comes from an authority that is not trusted"),
  },
];

describe("createHttpClient() over TLS", () => {
  const servers: RawServer[] = [];
  const plain = createServer();
  let results: readonly unknown[] = [];

  beforeAll(async () => {
    for (const { certificate } of CASES) {
      const tls = { key: certificate.keyPem, cert: certificate.certPem };
      servers.push(await startRawServer({ onRequest: say, tls }));
    }
    plain.listen(0, "127.0.0.1");
    await once(plain, "listening");
    // A server that listens on a TCP port has an address with a port.
    const ports = [...servers.map(({ port }) => port), (plain.address() as AddressInfo).port];
    results = await postEach(ports.map((port) => `https://localhost:${port}/`));
  }, 30_000);

  afterAll(async () => {
    plain.close();
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  });

  it.each(CASES.map(({ name, expected }, index) => ({ name, expected, index })))(
    "meets $name",
    ({ expected, index }) => {
      expect(results[index]).toMatchObject(expected);
    },
  );

  it("sends nothing over a connection that it doesn't trust", () => {
    expect(servers.map(({ requests }) => requests.length)).toEqual([1, 0, 0, 0, 0]);
  });

  it("waits no longer than its deadline for a handshake that hangs", async () => {
    await using silent = await startRawServer({ onRequest: () => undefined });
    await using client = createHttpClient({
      timeoutMs: 150,
      maxResponseBytes: 1_000,
      connectionsPerHost: 1,
      userAgent: "synclag/test",
      nowMs: Date.now,
    });

    const result = await client.post({ url: `https://127.0.0.1:${silent.port}/`, headers: {}, body: {} });

    expect(result).toMatchObject({ kind: "failed", reason: "timeout" });
    expect(silent.connectionCount()).toBe(1);
  });

  it("calls a server that speaks no TLS a fault of TLS", () => {
    expect(results.at(-1)).toMatchObject({ kind: "failed", reason: "tls" });
  });
});

function failure(what: string): object {
  return { kind: "failed", reason: "tls", detail: `the TLS certificate ${what}` };
}

function say(socket: { write: (text: string) => unknown }, request: string): void {
  socket.write(request === "" ? "" : "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
}

/** Posts from a process that trusts the test's authority. */
async function postEach(urls: readonly string[]): Promise<readonly unknown[]> {
  const folder = await mkdtemp(join(tmpdir(), "synclag-tls-"));
  try {
    const trusted = join(folder, "authority.pem");
    await writeFile(trusted, authority.certPem);
    const script = fileURLToPath(new URL("../../support/post-each.ts", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", script, ...urls], {
      env: { NODE_EXTRA_CA_CERTS: trusted },
    });
    return JSON.parse(stdout) as readonly unknown[];
  } finally {
    await rm(folder, { recursive: true });
  }
}
