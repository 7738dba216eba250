import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WebSettings } from "../../src/config/config.ts";
import { parseWebConfig } from "../../src/config/web.ts";
import { configErrorOf } from "../support/config-error.ts";
import { expectGolden } from "../support/golden.ts";
import { WEB_CONFIGS, WEB_CONFIGS_FILE, webConfigFolder } from "../support/web-configs.ts";

const PAIR = "cert_file: cert.pem, key_file: key.pem";

let folder: ReturnType<typeof webConfigFolder>;

beforeAll(() => {
  folder = webConfigFolder();
});

afterAll(() => folder[Symbol.dispose]());

describe("parseWebConfig()", () => {
  it("accepts the supported keys of exporter-toolkit's format, and refuses all others with position and reason", () => {
    const reports = WEB_CONFIGS.map(
      ({ verdict, name, text }) => `# ${verdict}: ${name}\n${text}\n=> ${problemsOf(text) || "valid"}\n`,
    );

    expect(reports.length).toBeGreaterThan(60);
    expectGolden(WEB_CONFIGS_FILE, reports.join("\n"));
  });

  it("has the defaults of exporter-toolkit", () => {
    const settings = parse(`tls_server_config: { ${PAIR} }`);

    expect(settings).toMatchObject({ headers: {} });
    expect(settings.users.size).toBe(0);
    expect(settings.tls).toMatchObject({
      minVersion: "TLSv1.2",
      clientAuth: "none",
      clientCa: null,
    });
  });

  it("reports all problems at once, with near misses and no secret", () => {
    const problems = problemsOf(
      [
        "tls_server_config:",
        "  cert_file: cert.pem",
        "  key: swordfish-key",
        "  min_version: TLS21",
        "basic_auth_users:",
        "  alice: swordfish-password",
        "http_sever_config: {}",
      ].join("\n"),
    );

    expect(problems.split("\n")).toEqual([
      "1:1: tls_server_config.key_file: required key missing (expected the path of a PEM file)",
      '3:3: tls_server_config.key: unknown key "key"; expected cert_file, key_file, client_ca_file, client_auth_type, min_version',
      '4:16: tls_server_config.min_version: found "TLS21"; did you mean "TLS11"?',
      "6:10: basic_auth_users.alice: found a string, expected a bcrypt hash with a cost from 4 to 31, as htpasswd -nBC 10 makes it",
      '7:1: http_sever_config: unknown key "http_sever_config"; did you mean "http_server_config"?',
    ]);
  });

  it("resolves file names relative to its own folder", () => {
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
});

function parse(text: string): WebSettings {
  return parseWebConfig(text, { file: `${folder.path}/web.yml`, readFile: folder.readFile });
}

/** Without the name of the file in front. */
function problemsOf(text: string): string {
  // OpenSSL's words differ between versions of Node.
  return configErrorOf(() => parse(text))
    .replaceAll(`${folder.path}/web.yml:`, "")
    .replace(/error:[0-9A-F]{8}:.*/, "…");
}
