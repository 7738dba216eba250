import type { StoreAddress, StoreSettings } from "../config.ts";
import { decodePercent } from "../resolve/secret-parts.ts";
import { type Environment, SecretStore } from "../resolve/secrets.ts";
import { joinParts } from "../resolve/template.ts";
import { fillSecrets } from "./fill-secrets.ts";

/** The parsed options, or why they cannot be used. */
export type StoreReading =
  | { readonly kind: "none" }
  | {
      readonly kind: "store";
      readonly settings: StoreSettings;
      /** Texts that must not leave the process. */
      readonly secrets: readonly string[];
    }
  /** The message repeats no part of the URL, which may hold a password. */
  | { readonly kind: "unusable"; readonly message: string };

/** The options of `run` and `check` that concern the store. */
export interface StoreFlags {
  readonly store?: string;
  readonly cluster?: string;
}

const DEFAULT_PORT = 6379;
const DEFAULT_CLUSTER = "default";
const CLUSTER = /^[\w.-]{1,64}$/;
const EXPECTED = "expected redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE] or rediss://…";

/**
 * Reads `--store` and `--cluster`, and `SYNCLAG_STORE` where `--store` is not given: `redis://` or, with TLS,
 * `rediss://`. `${VAR}` and `${file:/path}` may stand for a part, which then needs no encoding, or for the whole URL.
 */
export function readStoreFlags(flags: StoreFlags, environment: Environment): StoreReading {
  const { cluster = DEFAULT_CLUSTER } = flags;
  const variable = environment.env["SYNCLAG_STORE"] ?? "";
  const written = flags.store ?? variable;
  const option = flags.store === undefined ? "SYNCLAG_STORE" : "--store";
  if (!CLUSTER.test(cluster)) {
    return {
      kind: "unusable",
      message: `Cannot use --cluster ${JSON.stringify(cluster)}: expected letters, digits, '.', '_' or '-', 64 at most`,
    };
  }
  if (flags.store === undefined && variable === "") {
    return flags.cluster === undefined
      ? { kind: "none" }
      : { kind: "unusable", message: "Cannot use --cluster without --store or SYNCLAG_STORE" };
  }
  const secrets = new SecretStore(environment);
  const url = readUrl(written, secrets);
  return url.kind === "unusable"
    ? { kind: "unusable", message: `${option}: ${url.message}` }
    : { kind: "store", settings: { address: addressOf(url.url), cluster }, secrets: secrets.all };
}

type UrlReading =
  | { readonly kind: "url"; readonly url: URL }
  | { readonly kind: "unusable"; readonly message: string };

function readUrl(written: string, secrets: SecretStore): UrlReading {
  const filled = fillSecrets(written, secrets);
  if (filled.kind === "unusable") {
    return filled;
  }
  const isWhole = filled.parts.length === 1;
  const text = joinParts(
    filled.parts.map((part) =>
      part.source === "secret" && !isWhole ? { ...part, text: encodeURIComponent(part.text) } : part,
    ),
  );
  const flaw = flawOf(text);
  if (flaw !== null) {
    return { kind: "unusable", message: `Cannot use this URL: ${EXPECTED}, found ${flaw}` };
  }
  const url = new URL(text);
  secrets.remember([url.username, url.password].flatMap((part) => [part, decodePercent(part)]));
  return { kind: "url", url };
}

function addressOf(url: URL): StoreAddress {
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? DEFAULT_PORT : Number(url.port),
    isEncrypted: url.protocol === "rediss:",
    username: url.username === "" ? null : decodePercent(url.username),
    password: url.password === "" ? null : decodePercent(url.password),
    database: Number(url.pathname.slice(1)),
  };
}

function flawOf(text: string): string | null {
  if (text === "") {
    return "an empty string";
  }
  if (/\s/.test(text)) {
    return text.trim() === text ? "a space in it" : "a space before or after it";
  }
  if (!/^rediss?:\/\//i.test(text)) {
    return /^(?:https?|unix|valkeys?|postgres(?:ql)?|memcached?|amqps?|tcp):/i.exec(text)?.[0] ?? "no scheme";
  }
  if (!URL.canParse(text)) {
    return "an invalid host, port or password; write / ? # and @ in a password as %2F %3F %23 and %40";
  }
  return partFlawOf(new URL(text));
}

function partFlawOf({ hostname, username, password, pathname, search, hash }: URL): string | null {
  if (hostname === "") {
    return "no host";
  }
  if (pathname.includes("@")) {
    return "an @ in the path; write / and @ in a password as %2F and %40";
  }
  if (search !== "" || hash !== "") {
    return "a ? or # after the database; write them in a password as %3F and %23";
  }
  if (!/^\/?$|^\/\d{1,5}$/.test(pathname)) {
    return "a path that is no database number";
  }
  return username !== "" && password === "" ? "a user without a password" : null;
}
