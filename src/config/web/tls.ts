import { dirname, resolve } from "node:path";
import { createSecureContext } from "node:tls";
import type { SecretStore } from "../resolve/secrets.ts";
import type { Path } from "../yaml/config-error.ts";
import type { ProblemList } from "../yaml/problem-list.ts";
import type { TlsEntry } from "./schema.ts";
import { TLS_VERSIONS, TLS13_CIPHERS } from "./tls-names.ts";
import type { TlsSettings } from "./web-settings.ts";

interface TlsContext {
  readonly file: string;
  readonly readFile: (path: string) => string;
  readonly problems: ProblemList;
  readonly secrets: SecretStore;
}

const TLS_PATH: Path = ["tls_server_config"];

/** Reads the certificates and validates them; null without TLS, or if a problem was added. */
export function resolveTls(entry: TlsEntry, context: TlsContext): TlsSettings | null {
  if (!isTlsConfigured(entry)) {
    return null;
  }
  context.secrets.remember([entry.key ?? ""]);
  const cert = readPem(entry, "cert", context);
  const key = readPem(entry, "key", context);
  const clientCa = isSet(entry, "client_ca") ? readPem(entry, "client_ca", context) : null;
  checkClientAuth(entry, context.problems);
  if (cert === null || key === null) {
    return null;
  }
  const settings = settingsOf(entry, { cert, key, clientCa });
  validate(settings, context.problems);
  return settings;
}

function settingsOf(entry: TlsEntry, pem: Pick<TlsSettings, "cert" | "key" | "clientCa">): TlsSettings {
  const tls12Ciphers = entry.cipher_suites.filter((name) => !TLS13_CIPHERS.includes(name));
  return {
    ...pem,
    clientAuth: entry.client_auth_type ?? "none",
    clientAllowedSans: entry.client_allowed_sans ?? null,
    minVersion: entry.min_version ?? "TLSv1.2",
    maxVersion: entry.max_version ?? "TLSv1.3",
    ciphers: entry.cipher_suites.length === 0 ? null : [...TLS13_CIPHERS, ...tls12Ciphers].join(":"),
    prefersServerCiphers: entry.prefer_server_cipher_suites,
    curves: entry.curve_preferences.length === 0 ? null : entry.curve_preferences.join(":"),
  };
}

type Pem = "cert" | "key" | "client_ca";

/** As in exporter-toolkit: versions and ciphers alone do not enable TLS. */
function isTlsConfigured(entry: TlsEntry): boolean {
  return (
    (["cert", "key", "client_ca"] as const).some((what) => isSet(entry, what)) ||
    entry.client_auth_type !== undefined
  );
}

function isSet(entry: TlsEntry, what: Pem): boolean {
  return (entry[`${what}_file`] ?? entry[what]) !== undefined;
}

/** A PEM from the file itself or from another one that it names; null, and a problem is added, if there is none. */
function readPem(entry: TlsEntry, what: Pem, { file, readFile, problems }: TlsContext): string | null {
  const key = `${what}_file` as const;
  const path = entry[key];
  if (path === undefined) {
    if (entry[what] === undefined) {
      problems.addProblem([...TLS_PATH, key], `Cannot find required key: expected the path of a PEM file`);
    }
    return entry[what] ?? null;
  }
  try {
    return readFile(resolve(dirname(file), path));
  } catch (error) {
    problems.addProblem([...TLS_PATH, key], `Cannot read ${path}: ${whyUnreadable(error)}`);
    return null;
  }
}

function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  return code === "ENOENT" ? "no such file" : code;
}

function checkClientAuth(entry: TlsEntry, problems: ProblemList): void {
  const { client_auth_type: clientAuth = "none", client_allowed_sans: names } = entry;
  const authority = (["client_ca_file", "client_ca"] as const).find((key) => entry[key] !== undefined);
  if (authority !== undefined && clientAuth === "none") {
    problems.addProblem(
      [...TLS_PATH, authority],
      "Cannot use client authorities without client certificates: set client_auth_type",
    );
  }
  if (names !== undefined && clientAuth !== "require any" && clientAuth !== "require and verify") {
    problems.addProblem(
      [...TLS_PATH, "client_allowed_sans"],
      "Cannot check names in optional client certificates: set client_auth_type to RequireAndVerifyClientCert",
    );
  }
}

/** OpenSSL checks keys and certificates; its messages contain nothing of them. */
function validate(settings: TlsSettings, problems: ProblemList): void {
  const { cert, key, clientCa, minVersion, maxVersion } = settings;
  const versions = Object.values(TLS_VERSIONS);
  if (versions.indexOf(minVersion) > versions.indexOf(maxVersion)) {
    problems.addProblem(
      [...TLS_PATH, "min_version"],
      "Cannot use a min_version above max_version: no client could connect",
    );
    return;
  }
  attempt(
    () => createSecureContext({ cert }),
    (why) => problems.addProblem([...TLS_PATH, "cert_file"], `Cannot use the certificate: ${why}`),
  );
  attempt(
    () => createSecureContext({ cert, key }),
    (why) =>
      problems.addProblem([...TLS_PATH, "key_file"], `Cannot use the key with this certificate: ${why}`),
  );
  if (clientCa !== null) {
    attempt(
      () => createSecureContext({ ca: clientCa }),
      (why) =>
        problems.addProblem([...TLS_PATH, "client_ca_file"], `Cannot use the client authorities: ${why}`),
    );
  }
}

function attempt(what: () => unknown, onFailure: (why: string) => void): void {
  try {
    what();
  } catch (error) {
    onFailure(error instanceof Error ? error.message : String(error));
  }
}
