import { dirname, resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { z } from "zod";
import { whyFailed } from "../core/model/why-failed.ts";
import type { ClientAuth, TlsSettings, WebSettings } from "./config.ts";
import { Problems, type Spot } from "./problems.ts";
import { parseWhole } from "./shape.ts";
import { map, mapOf, pattern } from "./values.ts";
import { readYaml } from "./yaml.ts";

const PemFile = z.string().min(1).meta({ expected: "the path of a PEM file" });

const CLIENT_AUTH = {
  NoClientCert: "none",
  RequestClientCert: "request",
  RequireAnyClientCert: "require any",
  // An older name of "require any".
  RequireClientCert: "require any",
  VerifyClientCertIfGiven: "verify if given",
  RequireAndVerifyClientCert: "require and verify",
} as const satisfies Readonly<Record<string, ClientAuth>>;

const VERSIONS = { TLS10: "TLSv1", TLS11: "TLSv1.1", TLS12: "TLSv1.2", TLS13: "TLSv1.3" } as const;

const Tls = map("a map with cert_file and key_file", {
  cert_file: PemFile,
  key_file: PemFile,
  client_ca_file: PemFile.optional(),
  client_auth_type: oneOf(CLIENT_AUTH).default("none"),
  min_version: oneOf(VERSIONS).default("TLSv1.2"),
});

const Headers = map("a map of headers", {
  "Content-Security-Policy": headerText("a policy"),
  "Strict-Transport-Security": headerText("a policy such as max-age=31536000"),
  "X-Content-Type-Options": pattern(/^nosniff$/, "nosniff").exactOptional(),
  "X-Frame-Options": pattern(/^(?:deny|sameorigin)$/, "deny or sameorigin").exactOptional(),
  "X-XSS-Protection": headerText("a text such as 1; mode=block"),
});

/** A prefix such as `$2y$`, a cost from 4 to 31, a salt and a hash. */
const Hash = pattern(
  /^\$2[a-z]?\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/,
  "a bcrypt hash with a cost from 4 to 31, as htpasswd -nBC 10 makes it",
).meta({ secret: true });

/** The supported part of exporter-toolkit's web configuration file (docs/web-configuration.md there). */
const WebConfigFile = map("a map with tls_server_config, http_server_config or basic_auth_users", {
  tls_server_config: Tls.nullish(),
  http_server_config: map("a map with headers", { headers: Headers.nullish() }).nullish(),
  basic_auth_users: mapOf(Hash, "a map of names, each with a bcrypt hash").meta({ secret: true }).nullish(),
});

/** How the files of a web configuration are read. */
export interface WebConfigOptions {
  /** The path as the user gave it; paths in the file are relative to it. */
  readonly file: string;
  /** Reads a text file, or throws. */
  readonly readFile: (path: string) => string;
}

/**
 * Parses the web configuration file and reads the certificates that it names.
 *
 * @throws {ConfigError} If anything is wrong with it. The error has the first 100 problems, without secrets.
 */
export function parseWebConfig(text: string, { file, readFile }: WebConfigOptions): WebSettings {
  const problems = new Problems();
  const { value, spot } = readYaml(text, file, problems);
  const entry = value === undefined ? null : parseWhole(WebConfigFile, value ?? {}, spot);
  const { tls_server_config: tls, basic_auth_users: users, http_server_config: http } = entry ?? {};
  const read = (path: string): string => readFile(resolve(dirname(file), path));
  const settings = {
    file,
    tls: tls ? readTls(tls, spot.at("tls_server_config"), read) : null,
    users: new Map(Object.entries(users ?? {})),
    headers: { ...http?.headers },
  };
  if (!problems.isEmpty) {
    throw problems.toError();
  }
  return settings;
}

/** Reads the certificates. OpenSSL checks them; its messages do not quote their content. */
function readTls(
  entry: z.output<typeof Tls>,
  spot: Spot,
  readFile: WebConfigOptions["readFile"],
): TlsSettings {
  const read = (name: "cert_file" | "key_file" | "client_ca_file"): string => {
    const path = entry[name] ?? "";
    try {
      return path === "" ? "" : readFile(path);
    } catch (error) {
      spot.at(name).add(`cannot read ${path}: ${whyFailed(error)}`);
      return "";
    }
  };
  const { client_auth_type: clientAuth, min_version: minVersion } = entry;
  const [cert, key, ca] = [read("cert_file"), read("key_file"), read("client_ca_file")];
  try {
    createSecureContext({ cert, key, ca });
  } catch (error) {
    spot.add(`unusable certificate or key: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (ca !== "" && clientAuth === "none") {
    spot
      .at("client_ca_file")
      .add("no effect without client_auth_type, for example RequireAndVerifyClientCert");
  }
  return { cert, key, clientCa: ca === "" ? null : ca, clientAuth, minVersion };
}

/** One line of ASCII: Node refuses line breaks, and clients read other letters differently. */
function headerText(expected: string) {
  const full = `${expected}, on one line, in ASCII`;
  return z
    .union([pattern(/^[\t -~]+$/, full), z.number()])
    .meta({ expected: full })
    .transform(String)
    .exactOptional();
}

/** Accepts a key of `meanings`, and returns its value. */
function oneOf<Meaning extends string>(meanings: Readonly<Record<string, Meaning>>) {
  const names = Object.keys(meanings);
  return z
    .enum(names)
    .meta({ expected: `one of ${names.join(", ")}` })
    .transform((name) => meanings[name] as Meaning);
}
