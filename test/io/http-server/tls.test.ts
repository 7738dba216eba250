import { once } from "node:events";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openWebConfig } from "../../../src/commands/load-config.ts";
import { issueCertificate } from "../../support/certificates.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { serve } from "../../support/served.ts";
import { webConfigFolder } from "../../support/web-configs.ts";

let folder: ReturnType<typeof webConfigFolder>;
let monotonicMs = 0;

beforeEach(() => {
  folder = webConfigFolder();
});

afterEach(() => folder[Symbol.dispose]());

it("gives new connections a new certificate without a restart", async () => {
  await using server = await serveTls("");
  const before = await certificateSeen(server.url);
  const next = issueCertificate({ host: "localhost" });

  folder.write("cert.pem", next.certPem);
  const halfWay = await certificateSeen(server.url);
  folder.write("key.pem", next.keyPem);
  monotonicMs += 1_000;
  const after = await certificateSeen(server.url);

  expect(halfWay).toBe(before);
  expect(next.certPem.replace(/\s/g, "")).toContain(after);
  expect(after).not.toBe(before);
});

it("allows only the configured TLS versions, and HTTP/1.1", async () => {
  await using server = await serveTls(", min_version: TLS13");
  const options = { ALPNProtocols: ["h2", "http/1.1"] };

  using socket = await handshake(server.url, { ...options, maxVersion: "TLSv1.3" });
  const older = handshake(server.url, { ...options, maxVersion: "TLSv1.2" });

  await expect(older).rejects.toThrow(/protocol version/);
  expect(socket.alpnProtocol).toBe("http/1.1");
});

it("asks again for a certificate after a change of client_ca_file, also of clients that were admitted", async () => {
  const [authority, next] = [issueCertificate({ host: "ca" }), issueCertificate({ host: "other" })];
  const { certPem: cert, keyPem: key } = issueCertificate({ host: "client", issuer: authority });
  folder.write("ca.pem", authority.certPem);
  await using server = await serveTls(
    ", client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem",
  );
  using socket = await handshake(server.url, { cert, key, maxVersion: "TLSv1.2" });
  const session = socket.getSession();
  const replies: string[] = [];
  socket.on("data", (data: Buffer) => replies.push(data.toString("latin1").slice(0, 12)));
  const request = "GET /-/healthy HTTP/1.1\r\nhost: x\r\n\r\n";

  socket.write(request);
  await once(socket, "data");
  folder.write("ca.pem", next.certPem);
  monotonicMs += 1_000;
  socket.write(request);
  await once(socket, "close");
  const resumed = await handshake(server.url, { cert, key, session, maxVersion: "TLSv1.2" }).then(
    async (one) => {
      one.on("error", () => undefined).resume();
      await once(one, "close");
      return "closed";
    },
    () => "refused",
  );

  expect(replies).toEqual(["HTTP/1.1 200"]);
  expect(["closed", "refused"]).toContain(resumed);
});

function serveTls(settings: string) {
  const text = `tls_server_config: { cert_file: cert.pem, key_file: key.pem${settings} }`;
  const world = { readFile: folder.readFile, monotonicMs: () => monotonicMs };
  return serve({}, { web: openWebConfig(folder.write("web.yml", text), world, recordLog().logger) });
}

/** A TLS connection after its handshake. */
async function handshake(url: string, options: ConnectionOptions = {}): Promise<TLSSocket & Disposable> {
  const socket = connect({ port: Number(new URL(url).port), rejectUnauthorized: false, ...options });
  await once(socket, "secureConnect");
  return Object.assign(socket, { [Symbol.dispose]: () => void socket.destroy() });
}

/** In base64, as in a PEM file. */
async function certificateSeen(url: string): Promise<string> {
  using socket = await handshake(url);
  return socket.getPeerX509Certificate()?.raw.toString("base64") ?? "none";
}
