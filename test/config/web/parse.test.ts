import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseWebConfig } from "../../../src/config/web/parse.ts";
import type { WebSettings } from "../../../src/config/web/web-settings.ts";
import { ConfigError } from "../../../src/config/yaml/config-error.ts";
import { expectGolden } from "../../support/golden.ts";
import {
  BAD_WEB_CONFIGS,
  GOOD_WEB_CONFIGS,
  type WebConfigCase,
  webConfigFolder,
} from "../../support/web-configs.ts";

const HASH = "$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG";
const PAIR = "cert_file: cert.pem, key_file: key.pem";

/** exporter-toolkit starts a server that can serve nobody. */
const SERVES_NOBODY: readonly WebConfigCase[] = [
  {
    name: "no version is left",
    text: `tls_server_config: { ${PAIR}, min_version: TLS13, max_version: TLS12 }`,
  },
  { name: "an interval without a burst", text: "rate_limit: { interval: 1s }" },
  { name: "an interval that is no duration", text: "rate_limit: { interval: soon, burst: 1 }" },
  { name: "two documents", text: "{}\n---\n{}\n" },
  {
    name: "names of clients that nobody asks",
    text: `tls_server_config: { ${PAIR}, client_allowed_sans: [a] }`,
  },
];

/** Headers with which nothing could be answered, and passwords in place of hashes, which the message must not repeat. */
const REFUSED_BY_US: readonly WebConfigCase[] = [
  ...['"a\\0b"', '"a\\eb"', "日本", "é"].map((value) => ({
    name: "a header that cannot be sent",
    text: `http_server_config: { headers: { Strict-Transport-Security: ${value} } }`,
  })),
  ...["alice:hunter2", "[hunter2]", "{ alice: hunter2 }", "{ alice: [hunter2] }"].map((users) => ({
    name: "a password in place of a hash",
    text: `basic_auth_users: ${users}`,
  })),
];

let folder: ReturnType<typeof webConfigFolder>;

beforeAll(() => {
  folder = webConfigFolder();
});

afterAll(() => folder[Symbol.dispose]());

describe("parseWebConfig()", () => {
  it("takes what exporter-toolkit takes", () => {
    const refused = GOOD_WEB_CONFIGS.filter(({ text }) => problemsOf(text) !== "");

    expect(refused).toEqual([]);
  });

  it("refuses what exporter-toolkit refuses, and what would serve nobody, and says where and why", () => {
    const reports = [...BAD_WEB_CONFIGS, ...SERVES_NOBODY, ...REFUSED_BY_US].map(
      ({ name, text }) => `# ${name}\n${text}\n=> ${problemsOf(text)}\n`,
    );

    expectGolden("test/fixtures/config/web-mistakes.expected.txt", reports.join("\n"));
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

  it("limits requests to one each interval, and nothing without interval or burst", () => {
    const limits = [
      "interval: 1s, ",
      "interval: 1m0.5s, ",
      "interval: 250000000, ",
      "interval: 0s, ",
      "",
    ].map((interval) => parse(`rate_limit: { ${interval}burst: 3 }`).rateLimit);

    expect(limits).toEqual([
      { intervalMs: 1_000, burst: 3 },
      { intervalMs: 60_500, burst: 3 },
      { intervalMs: 250, burst: 3 },
      null,
      null,
    ]);
    expect(parse("rate_limit: {}").rateLimit).toBeNull();
  });

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
    const { users } = parse(`basic_auth_users: { constructor: "${HASH}", alice: "${HASH}" }`);

    expect([...users.keys()]).toEqual(["constructor", "alice"]);
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
      // OpenSSL's words differ between versions of Node.
      return error.message.replaceAll(`${folder.path}/web.yml:`, "").replace(/error:[0-9A-F]{8}:.*/, "…");
    }
    throw error;
  }
  return "";
}
