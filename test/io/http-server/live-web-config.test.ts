import { request as requestPlain } from "node:http";
import { type RequestOptions, request } from "node:https";
import bcrypt from "bcryptjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openWebConfig } from "../../../src/commands/load-config.ts";
import type { HttpServer } from "../../../src/io/http-server/server.ts";
import { type LogLine, recordLog } from "../../support/log-recorder.ts";
import { serve } from "../../support/served.ts";
import { webConfigFolder } from "../../support/web-configs.ts";

const TLS = "tls_server_config: { cert_file: cert.pem, key_file: key.pem }";
const CLIENTS = TLS.replace(" }", ", client_auth_type: RequireAnyClientCert }");
/** The least work that bcrypt knows. */
const HASH = bcrypt.hashSync("open sesame", 4);
const ALICE = `basic_auth_users: { alice: "${HASH}" }`;
const DENY = "http_server_config: { headers: { X-Frame-Options: deny } }";

let folder: ReturnType<typeof webConfigFolder>;
let monotonicMs = 0;

beforeEach(() => {
  folder = webConfigFolder();
});

afterEach(() => folder[Symbol.dispose]());

describe("a web configuration that changes while it is served", () => {
  it("stays in use as a whole where a change needs a restart, and the log says why", async () => {
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
      const { server, lines } = await serveWith(from);
      await using _ = server;
      const before = await get(`${server.url}/-/healthy`);

      write(`${to}\n${DENY}`);
      const first = await get(`${server.url}/-/healthy`);
      monotonicMs += 1_000;
      const second = await get(`${server.url}/-/healthy`);

      expect([before, first, second]).toEqual(Array(3).fill({ status, frameOptions: undefined }));
      expect(lines).toEqual([
        expect.objectContaining({
          level: 50,
          msg: "Web configuration reload failed; keeping the current one",
          detail: expect.stringContaining(`web.yml: ${why} without a restart`),
        }),
      ]);
    }
  });

  it("takes the next change that needs no restart", async () => {
    const { server, lines } = await serveWith(ALICE);
    await using _ = server;
    write("");
    await get(`${server.url}/-/healthy`);

    write(`basic_auth_users: { bob: "${HASH}" }\n${DENY}`);
    const answers = [
      await get(`${server.url}/-/healthy`, { auth: "bob:open sesame" }),
      await get(`${server.url}/-/healthy`, { auth: "alice:open sesame" }),
    ];

    expect(answers).toEqual([
      { status: 200, frameOptions: "deny" },
      { status: 401, frameOptions: "deny" },
    ]);
    expect(lines.map(({ msg }) => msg)).toEqual([
      "Web configuration reload failed; keeping the current one",
      "Web configuration reloaded",
    ]);
  });

  it("asks for passwords from the first user on, without a restart", async () => {
    const { server } = await serveWith(TLS);
    await using _ = server;
    const before = await get(`${server.url}/-/healthy`);

    write(`${TLS}\n${ALICE}`);
    const after = await get(`${server.url}/-/healthy`);

    expect([before.status, after.status]).toEqual([200, 401]);
  });
});

async function serveWith(
  text: string,
): Promise<{ readonly server: HttpServer; readonly lines: readonly LogLine[] }> {
  const { logger, lines } = recordLog();
  const file = folder.write("web.yml", text);
  const world = { readFile: folder.readFile, monotonicMs: () => monotonicMs };
  return { server: await serve({}, { web: openWebConfig(file, world, () => logger) }), lines };
}

/** A second later the file is read again. */
function write(text: string): void {
  folder.write("web.yml", text);
  monotonicMs += 1_000;
}

/** A status of null: the connection was closed. */
function get(url: string, options: RequestOptions = {}) {
  const send = url.startsWith("https:") ? request : requestPlain;
  return new Promise<{ readonly status: number | null; readonly frameOptions: unknown }>((resolve) => {
    send(url, { rejectUnauthorized: false, agent: false, ...options }, ({ headers, statusCode = null }) =>
      resolve({ status: statusCode, frameOptions: headers["x-frame-options"] }),
    )
      .on("error", () => resolve({ status: null, frameOptions: undefined }))
      .end();
  });
}
