import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueCertificate } from "./certificates.ts";

/** A web configuration that exporter-toolkit's own reader and ours must agree about. */
export interface WebConfigCase {
  readonly name: string;
  readonly text: string;
}

const PAIR = "cert_file: cert.pem, key_file: key.pem";
const HASH_TAIL = "X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG";

export const GOOD_WEB_CONFIGS: readonly WebConfigCase[] = [
  { name: "an empty file", text: "" },
  { name: "a comment", text: "# nothing yet\n" },
  { name: "sections without a value", text: "tls_server_config:\nbasic_auth_users:\nhttp_server_config:\n" },
  { name: "a certificate", text: `tls_server_config: { ${PAIR} }` },
  { name: "a version", text: `tls_server_config: { ${PAIR}, min_version: TLS10 }` },
  ...[
    "NoClientCert",
    "RequestClientCert",
    "RequireAnyClientCert",
    "RequireClientCert",
    "VerifyClientCertIfGiven",
    "RequireAndVerifyClientCert",
  ].map((policy) => ({
    name: policy,
    text: `tls_server_config: { ${PAIR}, client_auth_type: ${policy} }`,
  })),
  {
    name: "authorities of clients",
    text: `tls_server_config: { ${PAIR}, client_auth_type: RequireAndVerifyClientCert, client_ca_file: cert.pem }`,
  },
  ...["$2y$10$", "$2a$04$", "$2b$31$", "$2x$12$", "$2$10$"].map((start) => ({
    name: `a password hashed as ${start}`,
    text: `basic_auth_users: { alice: "${start}${HASH_TAIL}" }`,
  })),
  { name: "a user called by a number", text: `basic_auth_users: { 1: "$2y$10$${HASH_TAIL}" }` },
  {
    name: "every header",
    text: `http_server_config: { headers: { X-Content-Type-Options: nosniff, X-Frame-Options: sameorigin, Strict-Transport-Security: max-age=1, X-XSS-Protection: 1, Content-Security-Policy: "default-src 'none'" } }`,
  },
  { name: "an anchor", text: `tls_server_config: { cert_file: &pem cert.pem, key_file: key.pem }` },
];

/** Files that exporter-toolkit takes, and Synclag does not. */
export const UNSUPPORTED_WEB_CONFIGS: readonly WebConfigCase[] = [
  { name: "settings without a value", text: "tls_server_config:\n  cert_file:\n  key_file: ''\n" },
  { name: "a version alone", text: "tls_server_config: { min_version: TLS13 }" },
  {
    name: "everything else about TLS",
    text: `tls_server_config: { ${PAIR}, max_version: TLS12, cipher_suites: [TLS_AES_128_GCM_SHA256], curve_preferences: [X25519], prefer_server_cipher_suites: false }`,
  },
  { name: "HTTP/2", text: "http_server_config: { http2: true }" },
  {
    name: "a header on two lines",
    text: 'http_server_config: { headers: { Content-Security-Policy: "default-src\\n none" } }',
  },
  { name: "a header without a value", text: "http_server_config: { headers: { Content-Security-Policy: } }" },
];

export const BAD_WEB_CONFIGS: readonly WebConfigCase[] = [
  { name: "an unknown section", text: "web_config: {}" },
  { name: "an unknown setting", text: "tls_server_config: { certfile: cert.pem }" },
  { name: "an unknown setting of HTTP", text: "http_server_config: { http3: true }" },
  { name: "a list", text: "[]" },
  { name: "a text", text: "hello" },
  { name: "a tab", text: "\thttp_server_config: {}" },
  { name: "a section twice", text: "http_server_config: {}\nhttp_server_config: {}\n" },
  { name: "a section as a list", text: "tls_server_config: []" },
  { name: "a missing key", text: "tls_server_config: { cert_file: cert.pem }" },
  { name: "a missing certificate", text: "tls_server_config: { key_file: key.pem }" },
  { name: "a policy alone", text: "tls_server_config: { client_auth_type: NoClientCert }" },
  { name: "authorities alone", text: "tls_server_config: { client_ca_file: cert.pem }" },
  { name: "a file that is not there", text: "tls_server_config: { cert_file: no.pem, key_file: key.pem }" },
  {
    name: "certificate and key swapped",
    text: "tls_server_config: { cert_file: key.pem, key_file: cert.pem }",
  },
  { name: "another key", text: "tls_server_config: { cert_file: cert.pem, key_file: other-key.pem }" },
  { name: "an unknown version", text: `tls_server_config: { ${PAIR}, min_version: TLS14 }` },
  { name: "an unknown policy", text: `tls_server_config: { ${PAIR}, client_auth_type: Always }` },
  {
    name: "a policy with a typing mistake",
    text: `tls_server_config: { ${PAIR}, client_auth_type: VerifyClientCertIfGivn }`,
  },
  {
    name: "authorities for clients that nobody asks",
    text: `tls_server_config: { ${PAIR}, client_ca_file: cert.pem }`,
  },
  {
    name: "authorities that are not there",
    text: `tls_server_config: { ${PAIR}, client_auth_type: RequireAndVerifyClientCert, client_ca_file: no.pem }`,
  },
  { name: "a plain password", text: "basic_auth_users: { alice: open-sesame }" },
  { name: "an empty password", text: 'basic_auth_users: { alice: "" }' },
  { name: "no password", text: "basic_auth_users: { alice: }" },
  { name: "half a hash", text: 'basic_auth_users: { alice: "$2y$10$X0h1gDsPszWURQax" }' },
  { name: "too cheap a hash", text: `basic_auth_users: { alice: "$2y$03$${HASH_TAIL}" }` },
  { name: "too dear a hash", text: `basic_auth_users: { alice: "$2y$32$${HASH_TAIL}" }` },
  { name: "another hash", text: `basic_auth_users: { alice: "$6y$10$${HASH_TAIL}" }` },
  { name: "users as a list", text: "basic_auth_users: [alice]" },
  { name: "another header", text: "http_server_config: { headers: { X-Powered-By: x } }" },
  { name: "a header in lower case", text: "http_server_config: { headers: { x-frame-options: deny } }" },
  { name: "a header's other value", text: "http_server_config: { headers: { X-Frame-Options: DENY } }" },
  { name: "sniffing", text: "http_server_config: { headers: { X-Content-Type-Options: sniff } }" },
  { name: "headers as a list", text: "http_server_config: { headers: [deny] }" },
];

/** A folder with a certificate for localhost, its key and another one; `write` puts a file there and tells its path. */
export function webConfigFolder(): Disposable & {
  readonly path: string;
  readonly write: (name: string, text: string) => string;
  readonly readFile: (path: string) => string;
} {
  const path = mkdtempSync(join(tmpdir(), "synclag-web-"));
  const write = (name: string, text: string): string => {
    writeFileSync(join(path, name), text);
    return join(path, name);
  };
  const { certPem, keyPem } = issueCertificate({ host: "localhost" });
  write("cert.pem", certPem);
  write("key.pem", keyPem);
  write("other-key.pem", issueCertificate({ host: "localhost" }).keyPem);
  return {
    path,
    write,
    readFile: (file) => readFileSync(file, "utf8"),
    [Symbol.dispose]() {
      rmSync(path, { recursive: true });
    },
  };
}
