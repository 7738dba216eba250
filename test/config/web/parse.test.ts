import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseWebConfig } from "../../../src/config/web/parse.ts";
import type { WebSettings } from "../../../src/config/web/web-settings.ts";
import { ConfigError } from "../../../src/config/yaml/config-error.ts";
import { BAD_WEB_CONFIGS, GOOD_WEB_CONFIGS, webConfigFolder } from "../../support/web-configs.ts";

const HASH = "$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG";
const PAIR = "cert_file: cert.pem, key_file: key.pem";

let folder: ReturnType<typeof webConfigFolder>;

beforeAll(() => {
  folder = webConfigFolder();
});

afterAll(() => folder[Symbol.dispose]());

describe("parseWebConfig()", () => {
  it.each(GOOD_WEB_CONFIGS)("takes $name", ({ text }) => {
    expect(parse(text).file).toContain("web.yml");
  });

  it.each(BAD_WEB_CONFIGS)("refuses $name, and says where", ({ text }) => {
    expect(problemsOf(text)).toMatch(/^\d+:\d+: \S+: Cannot ./);
  });

  it("has the defaults of exporter-toolkit", () => {
    const settings = parse(`tls_server_config: { ${PAIR} }`);

    expect(settings).toMatchObject({ asksForHttp2: false, headers: {}, rateLimit: null });
    expect(settings.users.size).toBe(0);
    expect(settings.tls).toMatchObject({
      minVersion: "TLSv1.2",
      maxVersion: "TLSv1.3",
      clientAuth: "none",
      prefersServerCiphers: true,
      ciphers: null,
      curves: null,
    });
  });

  it("takes certificate, key and authorities from the file itself", () => {
    const cert = JSON.stringify(folder.readFile(`${folder.path}/cert.pem`));
    const key = JSON.stringify(folder.readFile(`${folder.path}/key.pem`));

    const { tls } = parse(
      `tls_server_config: { cert: ${cert}, key: ${key}, client_ca: ${cert}, client_auth_type: RequireAndVerifyClientCert, client_allowed_sans: [a.example] }`,
    );

    expect(tls).toMatchObject({ clientAuth: "require and verify", clientAllowedSans: ["a.example"] });
  });

  it("keeps TLS 1.3 whatever suites are listed for 1.2", () => {
    const suites = "cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]";

    const { tls } = parse(`tls_server_config: { ${PAIR}, ${suites} }`);

    expect(tls?.ciphers).toBe(
      "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256",
    );
  });

  it.each([
    { interval: "1s", intervalMs: 1_000 },
    { interval: "1m0.5s", intervalMs: 60_500 },
    { interval: "250000000", intervalMs: 250 },
  ])("limits requests to one each $interval", ({ interval, intervalMs }) => {
    expect(parse(`rate_limit: { interval: ${interval}, burst: 3 }`).rateLimit).toEqual({
      intervalMs,
      burst: 3,
    });
  });

  it.each([
    { text: "rate_limit: { interval: 0s, burst: 3 }" },
    { text: "rate_limit: { burst: 3 }" },
    { text: "rate_limit: {}" },
  ])("limits nothing with $text", ({ text }) => {
    expect(parse(text).rateLimit).toBeNull();
  });

  // Where exporter-toolkit starts a server that can serve nobody.
  it.each([
    {
      text: `tls_server_config: { ${PAIR}, min_version: TLS13, max_version: TLS12 }`,
      why: "no client could",
    },
    { text: "rate_limit: { interval: 1s }", why: "every request would be refused" },
    { text: "rate_limit: { interval: soon, burst: 1 }", why: "a duration" },
    { text: "{}\n---\n{}\n", why: "second document" },
    {
      text: `tls_server_config: { ${PAIR}, client_allowed_sans: [a] }`,
      why: "set client_auth_type",
    },
  ])("also refuses $text", ({ text, why }) => {
    expect(problemsOf(text)).toContain(why);
  });

  it.each(['"a\\0b"', '"a\\eb"', "日本", "é"])(
    "refuses the header %s, with which nothing could be answered",
    (value) => {
      const problems = problemsOf(`http_server_config: { headers: { Strict-Transport-Security: ${value} } }`);

      expect(problems).toMatch(/^1:\d+: http_server_config\.headers\.Strict-Transport-Security: Cannot use /);
    },
  );

  it.each(["alice:hunter2", "[hunter2]", "{ alice: hunter2 }", "{ alice: [hunter2] }"])(
    "does not repeat a password that stands where a hash should: %s",
    (users) => {
      const problems = problemsOf(`basic_auth_users: ${users}`);

      expect(problems).toMatch(/^1:\d+: basic_auth_users\S*: Cannot use (?:this value|a \w+): expected a /);
      expect(problems).not.toContain("hunter2");
    },
  );

  it("reports all problems at once, with near misses and no secret", () => {
    const problems = problemsOf(
      [
        "tls_server_config:",
        "  cert_file: no.pem",
        "  key: swordfish-key",
        "  min_version: TLS21",
        "basic_auth_users:",
        "  alice: swordfish-password",
        "http_sever_config: {}",
      ].join("\n"),
    );

    expect(problems.split("\n")).toEqual([
      '4:16: tls_server_config.min_version: Cannot use "TLS21": did you mean "TLS11"?',
      "6:10: basic_auth_users.alice: Cannot use this value: expected a bcrypt hash with a cost from 4 to 31, as htpasswd -nBC 10 makes it",
      '7:1: http_sever_config: Cannot use unknown key "http_sever_config": did you mean "http_server_config"?',
    ]);
    expect(problems).not.toContain("swordfish");
  });

  it("looks for files beside its own", () => {
    const read: string[] = [];

    parseWebConfig(
      `tls_server_config: { ${PAIR}, client_ca_file: /etc/ca.pem, client_auth_type: RequestClientCert }`,
      {
        file: "/etc/synclag/web.yml",
        readFile: (path) => {
          read.push(path);
          return folder.readFile(`${folder.path}/${path.endsWith("key.pem") ? "key.pem" : "cert.pem"}`);
        },
      },
    );

    expect(read).toEqual(["/etc/synclag/cert.pem", "/etc/synclag/key.pem", "/etc/ca.pem"]);
  });

  it("hands over users as they are written", () => {
    expect([...parse(`basic_auth_users: { constructor: "${HASH}", alice: "${HASH}" }`).users.keys()]).toEqual(
      ["constructor", "alice"],
    );
  });
});

function parse(text: string): WebSettings {
  return parseWebConfig(text, { file: `${folder.path}/web.yml`, readFile: folder.readFile });
}

/** Without the name of the file in front. */
function problemsOf(text: string): string {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.message.replaceAll(`${folder.path}/web.yml:`, "");
    }
    throw error;
  }
  return "";
}
