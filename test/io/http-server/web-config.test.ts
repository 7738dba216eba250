import { once } from "node:events";
import { type IncomingMessage, request as requestPlain } from "node:http";
import { type RequestOptions, request } from "node:https";
import { text } from "node:stream/consumers";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import bcrypt from "bcryptjs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openWebConfig } from "../../../src/commands/load-config.ts";
import { runCommand } from "../../commands/run-command.ts";
import { type Issued, issueCertificate } from "../../support/certificates.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { serve } from "../../support/served.ts";
import { webConfigFolder } from "../../support/web-configs.ts";

const PAIR = "cert_file: cert.pem, key_file: key.pem";
/** The least work that bcrypt knows. */
const HASH = bcrypt.hashSync("open sesame", 4);
const TLS = `tls_server_config: { ${PAIR} }`;
const CLIENTS = `tls_server_config: { ${PAIR}, client_auth_type: RequireAnyClientCert }`;
const DENY = "http_server_config: { headers: { X-Frame-Options: deny } }";
const ALICE = `basic_auth_users: { alice: "${HASH}" }`;

let folder: ReturnType<typeof webConfigFolder>;
let monotonicMs = 0;
let log: ReturnType<typeof recordLog>;
let webFiles = 0;

beforeEach(() => {
  webFiles = 0;
  folder = webConfigFolder();
  log = recordLog();
});

afterEach(() => folder[Symbol.dispose]());

describe("basic_auth_users", () => {
  it("admits a right name and password alone", async () => {
    await using server = await serveWith(ALICE);
    const right = basic("alice:open sesame");
    const cases: readonly (readonly [string, number])[] = [
      [right, 200],
      [right.replace("Basic", "bAsIc"), 200],
      [basic("alice:sesame"), 401],
      [basic("bob:open sesame"), 401],
      [basic("alice:"), 401],
      [basic("alice"), 401],
      ["Bearer x", 401],
      ["Basic %%%", 401],
    ];

    const answers = await Promise.all(
      cases.map(([authorization]) => fetch(`${server.url}/metrics`, { headers: { authorization } })),
    );

    expect(answers.map(({ status }, index) => [cases[index]?.[0], status])).toEqual(cases);
  });

  it("shows nothing without a password", async () => {
    await using server = await serveWith(ALICE);
    const paths = ["/", "/metrics", "/api/v1/status", "/openapi.json", "/-/healthy", "/-/ready", "/nowhere"];

    const answers = await Promise.all(paths.map((path) => fetch(server.url + path)));

    expect(answers.map(({ status, headers }) => [status, headers.get("www-authenticate")])).toEqual(
      paths.map(() => [401, 'Basic realm="synclag", charset="UTF-8"']),
    );
  });

  it("hashes a correct password once and a wrong one each time", async () => {
    const compare = vi.spyOn(bcrypt, "compare");
    await using server = await serveWith(ALICE);
    const ask = (password: string) =>
      fetch(`${server.url}/metrics`, { headers: { authorization: basic(`alice:${password}`) } });

    for (const password of ["open sesame", "open sesame", "open sesame", "guess", "guess"]) {
      await (await ask(password)).text();
    }

    expect(compare).toHaveBeenCalledTimes(3);
    compare.mockRestore();
  });

  it("works one out for an unknown name too, so that the time tells nothing", async () => {
    const compare = vi.spyOn(bcrypt, "compare");
    await using server = await serveWith(ALICE);

    await fetch(`${server.url}/metrics`, { headers: { authorization: basic("mallory:x") } });

    expect(compare).toHaveBeenCalledTimes(1);
    compare.mockRestore();
  });

  it("lets synclag check in with a password, and tells it that it lacks one", async () => {
    await using server = await serveWith(ALICE);
    const check = (user: string) => runCommand(["check", "--url", server.url.replace("//", `//${user}`)]);

    const admitted = await check("alice:open%20sesame@");
    const refused = await check("");

    expect(admitted.out).toContain("targets");
    expect(refused).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining("answered with HTTP 401; name a user"),
    });
  });
});

describe("tls_server_config", () => {
  it("gives new connections a new certificate without a restart", async () => {
    await using server = await serveWith(`tls_server_config: { ${PAIR} }`);
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

  it("keeps the former files while the new ones are invalid, and logs it once", async () => {
    await using server = await serveWith(`tls_server_config: { ${PAIR} }\n${ALICE}`);

    change("tls_server_config: { cert_file: gone.pem, key_file: key.pem }");
    const first = await answerOf(`${server.url}/metrics`);
    monotonicMs += 1_000;
    const second = await answerOf(`${server.url}/metrics`);

    expect([first.status, second.status]).toEqual([401, 401]);
    expect(log.lines).toEqual([expect.objectContaining({ detail: expect.stringContaining("gone.pem") })]);
  });

  it("allows only the versions that it names, and HTTP/1.1", async () => {
    await using server = await serveWith(`tls_server_config: { ${PAIR}, min_version: TLS13 }`);
    const options = { ALPNProtocols: ["h2", "http/1.1"] };

    using socket = await handshake(server.url, { ...options, maxVersion: "TLSv1.3" });
    const older = handshake(server.url, { ...options, maxVersion: "TLSv1.2" });

    await expect(older).rejects.toThrow(/protocol version/);
    expect(socket.alpnProtocol).toBe("http/1.1");
  });

  it("asks clients for a certificate by each policy", async () => {
    const authority = issueCertificate({ host: "clients.example" });
    const client = issueCertificate({ host: "client.example", issuer: authority });
    const stranger = issueCertificate({ host: "stranger.example" });
    folder.write("ca.pem", authority.certPem);
    const verify = "RequireAndVerifyClientCert, client_ca_file: ca.pem";
    const any = "RequireAnyClientCert, client_ca_file: ca.pem";
    const given = "VerifyClientCertIfGiven, client_ca_file: ca.pem";
    const cases: readonly (readonly [string, Issued | null, number | null])[] = [
      ["NoClientCert", null, 200],
      ["RequestClientCert, client_ca_file: ca.pem", null, 200],
      ["RequestClientCert, client_ca_file: ca.pem", stranger, 200],
      [any, null, null],
      [any, stranger, 200],
      [given, null, 200],
      [given, stranger, null],
      [given, client, 200],
      [verify, null, null],
      [verify, stranger, null],
      [verify, client, 200],
    ];

    const met = await Promise.all(
      cases.map(async ([policy, shown]) => {
        await using server = await serveWith(`tls_server_config: { ${PAIR}, client_auth_type: ${policy} }`);
        const certificate = shown === null ? {} : { cert: shown.certPem, key: shown.keyPem };
        return [policy, shown, (await answerOf(`${server.url}/-/healthy`, certificate)).status];
      }),
    );

    expect(met).toEqual(cases);
  });
});

describe("a web configuration that changes at run time", () => {
  it("stays in use as a whole if a change needs a restart, and the log has the reason", async () => {
    const cases: readonly (readonly [from: string, to: string, status: number | null, why: string])[] = [
      ["", `${TLS}\n${ALICE}`, 200, "TLS cannot be enabled"],
      [ALICE, `${TLS}\n${ALICE}`, 401, "TLS cannot be enabled"],
      [`${TLS}\n${ALICE}`, ALICE, 401, "TLS cannot be disabled"],
      [`${TLS}\n${ALICE}`, "", 401, "TLS cannot be disabled"],
      [TLS, CLIENTS, 200, "client_auth_type cannot be changed"],
      [CLIENTS, TLS, null, "client_auth_type cannot be changed"],
      [ALICE, "", 401, "the last user cannot be removed"],
    ];

    for (const [from, to, status, why] of cases) {
      log = recordLog();
      await using server = await serveWith(from);
      const before = await answerOf(`${server.url}/-/healthy`);

      change(`${to}\n${DENY}`);
      const first = await answerOf(`${server.url}/-/healthy`);
      monotonicMs += 1_000;
      const second = await answerOf(`${server.url}/-/healthy`);

      expect([before, first, second]).toMatchObject(
        Array.from({ length: 3 }, () => ({ status, frameOptions: undefined })),
      );
      expect(log.lines).toEqual([
        expect.objectContaining({
          level: 50,
          msg: "Web configuration reload failed; keeping the current one",
          detail: expect.stringMatching(`web.*yml: ${why} without a restart`),
        }),
      ]);
    }
  });

  it("takes the next change that needs no restart, and forgets who was admitted before", async () => {
    await using server = await serveWith(ALICE);
    change("");
    await answerOf(`${server.url}/-/healthy`, { auth: "alice:open sesame" });

    change(`basic_auth_users: { bob: "${HASH}" }\n${DENY}`);
    const answers = [
      await answerOf(`${server.url}/-/healthy`, { auth: "bob:open sesame" }),
      await answerOf(`${server.url}/-/healthy`, { auth: "alice:open sesame" }),
    ];

    expect(answers).toMatchObject([
      { status: 200, frameOptions: "deny" },
      { status: 401, frameOptions: "deny" },
    ]);
    expect(log.lines.map(({ msg }) => msg)).toEqual([
      "Web configuration reload failed; keeping the current one",
      "Web configuration reloaded",
    ]);
  });

  it("asks for passwords from the first user on, without a restart", async () => {
    await using server = await serveWith(TLS);
    const before = await answerOf(`${server.url}/-/healthy`);

    change(`${TLS}\n${ALICE}`);
    const after = await answerOf(`${server.url}/-/healthy`);

    expect([before.status, after.status]).toEqual([200, 401]);
  });
});

function serveWith(text: string) {
  return serve({}, { web: liveOf(text) });
}

/** The web configuration of this text, read again once `monotonicMs` has gone on. */
function liveOf(text: string) {
  webFiles += 1;
  const file = folder.write(webFiles === 1 ? "web.yml" : `web-${webFiles}.yml`, text);
  const { logger } = log;
  return openWebConfig(file, { readFile: folder.readFile, monotonicMs: () => monotonicMs }, logger);
}

/** A second later the file that was served last is read again. */
function change(text: string): void {
  folder.write(webFiles === 1 ? "web.yml" : `web-${webFiles}.yml`, text);
  monotonicMs += 1_000;
}

function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}

/** A status of null: the connection was closed. */
async function answerOf(url: string, options: RequestOptions = {}) {
  const send = url.startsWith("https:") ? request : requestPlain;
  const asked = send(url, { rejectUnauthorized: false, agent: false, ...options }).end();
  try {
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    const body = await text(response);
    return { status: response.statusCode ?? null, frameOptions: response.headers["x-frame-options"], body };
  } catch {
    return { status: null, frameOptions: undefined, body: "" };
  }
}

/** A TLS connection once it stands. */
async function handshake(url: string, options: ConnectionOptions = {}): Promise<TLSSocket & Disposable> {
  const socket = connect({ port: Number(new URL(url).port), rejectUnauthorized: false, ...options });
  await once(socket, "secureConnect");
  return Object.assign(socket, {
    [Symbol.dispose]() {
      socket.destroy();
    },
  });
}

/** In base64, as in a PEM file. */
async function certificateSeen(url: string): Promise<string> {
  using socket = await handshake(url);
  return socket.getPeerX509Certificate()?.raw.toString("base64") ?? "none";
}
