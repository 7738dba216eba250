import { dirname, resolve } from "node:path";
import { createSecureContext } from "node:tls";
import type { SecretStore } from "../resolve/secrets.ts";
import type { Path } from "../yaml/config-error.ts";
import type { ProblemList } from "../yaml/problem-list.ts";
import type { TlsEntry } from "./schema.ts";
import { TLS_VERSIONS, TLS13_CIPHERS } from "./tls-names.ts";
import type { TlsSettings } from "./web-settings.ts";

interface TlsResolving {
  readonly file: string;
  readonly readFile: (path: string) => string;
  readonly problems: ProblemList;
  readonly secrets: SecretStore;
}

const HERE: Path = ["tls_server_config"];

/** Reads the certificates and tries them out; null where the file wants no TLS, or something is wrong with it. */
export function resolveTls(entry: TlsEntry, resolving: TlsResolving): TlsSettings | null {
  if (!wantsTls(entry)) {
    return null;
  }
  resolving.secrets.remember(entry.key ?? "");
  const cert = readPem(entry, "cert", resolving);
  const key = readPem(entry, "key", resolving);
  const clientCa = namesOne(entry, "client_ca") ? readPem(entry, "client_ca", resolving) : null;
  checkClientAuth(entry, resolving.problems);
  if (cert === null || key === null) {
    return null;
  }
  const settings = settingsOf(entry, { cert, key, clientCa });
  tryOut(settings, resolving.problems);
  return settings;
}

function settingsOf(entry: TlsEntry, pem: Pick<TlsSettings, "cert" | "key" | "clientCa">): TlsSettings {
  const ofTls12 = entry.cipher_suites.filter((name) => !TLS13_CIPHERS.includes(name));
  return {
    ...pem,
    clientAuth: entry.client_auth_type ?? "none",
    clientAllowedSans: entry.client_allowed_sans ?? null,
    minVersion: entry.min_version ?? "TLSv1.2",
    maxVersion: entry.max_version ?? "TLSv1.3",
    ciphers: entry.cipher_suites.length === 0 ? null : [...TLS13_CIPHERS, ...ofTls12].join(":"),
    prefersServerCiphers: entry.prefer_server_cipher_suites,
    curves: entry.curve_preferences.length === 0 ? null : entry.curve_preferences.join(":"),
  };
}

type Pem = "cert" | "key" | "client_ca";

/** As exporter-toolkit has it: versions and ciphers alone ask for no TLS. */
function wantsTls(entry: TlsEntry): boolean {
  return (
    (["cert", "key", "client_ca"] as const).some((what) => namesOne(entry, what)) ||
    entry.client_auth_type !== undefined
  );
}

function namesOne(entry: TlsEntry, what: Pem): boolean {
  return (entry[`${what}_file`] ?? entry[what]) !== undefined;
}

/** What stands in the file itself or in another one that it names; null, with a problem told, where there is none. */
function readPem(entry: TlsEntry, what: Pem, { file, readFile, problems }: TlsResolving): string | null {
  const key = `${what}_file` as const;
  const path = entry[key];
  if (path === undefined) {
    if (entry[what] === undefined) {
      problems.tell([...HERE, key], `Cannot find ${key}: expected the path of a PEM file`);
    }
    return entry[what] ?? null;
  }
  try {
    return readFile(resolve(dirname(file), path));
  } catch (error) {
    problems.tell([...HERE, key], `Cannot read ${path}: ${whyUnreadable(error)}`);
    return null;
  }
}

function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  return code === "ENOENT" ? "there is no such file" : code;
}

function checkClientAuth(entry: TlsEntry, problems: ProblemList): void {
  const { client_auth_type: clientAuth = "none", client_allowed_sans: names } = entry;
  const authority = (["client_ca_file", "client_ca"] as const).find((key) => entry[key] !== undefined);
  if (authority !== undefined && clientAuth === "none") {
    problems.tell(
      [...HERE, authority],
      "Cannot use authorities for clients while none is asked for a certificate: set client_auth_type",
    );
  }
  if (names !== undefined && clientAuth !== "require any" && clientAuth !== "require and verify") {
    problems.tell(
      [...HERE, "client_allowed_sans"],
      "Cannot look for names in certificates that a client need not show: set client_auth_type to RequireAndVerifyClientCert",
    );
  }
}

/** OpenSSL is the judge of keys and certificates; it names none of their content. */
function tryOut(settings: TlsSettings, problems: ProblemList): void {
  const { cert, key, clientCa, minVersion, maxVersion } = settings;
  const versions = Object.values(TLS_VERSIONS);
  if (versions.indexOf(minVersion) > versions.indexOf(maxVersion)) {
    problems.tell(
      [...HERE, "min_version"],
      "Cannot use a min_version above max_version: no client could connect",
    );
    return;
  }
  attempt(
    () => createSecureContext({ cert }),
    (why) => problems.tell([...HERE, "cert_file"], `Cannot use the certificate: ${why}`),
  );
  attempt(
    () => createSecureContext({ cert, key }),
    (why) => problems.tell([...HERE, "key_file"], `Cannot use the key with this certificate: ${why}`),
  );
  if (clientCa !== null) {
    attempt(
      () => createSecureContext({ ca: clientCa }),
      (why) => problems.tell([...HERE, "client_ca_file"], `Cannot use the authorities of clients: ${why}`),
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
