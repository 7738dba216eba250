import type { ProxySettings, StoreAddress, StoreSettings } from "./config.ts";
import { ConfigError } from "./problems.ts";
import { decodePercent, type Environment, type Part, readUrl, readWebUrl, Secrets } from "./secrets.ts";

/** A URL of the command line with its variables and files read. */
export interface FilledUrl {
  readonly text: string;
  readonly parts: readonly Part[];
}

/**
 * Fills `${VAR}` and `${file:/path}` in a URL of the command line. They need no percent-encoding, unless one is the whole
 * URL. A text says what is wrong.
 */
export function fillUrl(written: string, secrets: Secrets): FilledUrl | string {
  const { parts, problems } = secrets.fill(written, new Map());
  if (problems.length > 0) {
    const expected = `unknown placeholder, expected \${VARIABLE} or \${file:/path}`;
    return problems.map(({ kind, what }) => (kind === "missing" ? expected : what)).join("; ");
  }
  const isWhole = parts.every(({ source, text }) => source === "secret" || text === "");
  const encoded = parts.map((part) =>
    part.source === "secret" && !isWhole ? { ...part, text: encodeURIComponent(part.text) } : part,
  );
  return { parts: encoded, text: encoded.map(({ text }) => text).join("") };
}

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
const EXPECTED = "redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE] or rediss://…";

/**
 * Reads `--store` and `--cluster`, and `SYNCLAG_STORE` where `--store` is not given: `redis://` or, with TLS,
 * `rediss://`. `${VAR}` and `${file:/path}` may stand for a part, which then needs no encoding, or for the whole URL.
 */
export function readStoreFlags({ store, cluster }: StoreFlags, environment: Environment): StoreReading {
  const written = store ?? environment.env["SYNCLAG_STORE"] ?? "";
  if (cluster !== undefined && !/^[\w.-]{1,64}$/.test(cluster)) {
    const expected = "expected letters, digits, '.', '_' or '-', 64 at most";
    return { kind: "unusable", message: `--cluster: found ${JSON.stringify(cluster)}, ${expected}` };
  }
  if (store === undefined && written === "") {
    return cluster === undefined
      ? { kind: "none" }
      : { kind: "unusable", message: "--cluster has no effect without --store or SYNCLAG_STORE" };
  }
  const secrets = new Secrets(environment);
  const url = readStoreUrl(written, secrets);
  return typeof url === "string"
    ? {
        kind: "unusable",
        message: `${store === undefined ? "environment variable SYNCLAG_STORE" : "--store"}: ${url}`,
      }
    : {
        kind: "store",
        settings: { address: addressOf(url), cluster: cluster ?? "default" },
        secrets: secrets.all,
      };
}

function readStoreUrl(written: string, secrets: Secrets): URL | string {
  const filled = fillUrl(written, secrets);
  const url = typeof filled === "string" ? filled : readUrl(filled.text, /^rediss?:\/\//i, EXPECTED);
  const flaw = typeof url === "string" ? url : flawOf(url);
  if (typeof url === "string" || flaw !== null) {
    return flaw ?? "";
  }
  secrets.remember([url.username, url.password].flatMap((part) => [part, decodePercent(part)]));
  return url;
}

function flawOf({ hostname, username, password, pathname, search, hash }: URL): string | null {
  if (hostname === "") {
    return "no host in the URL";
  }
  if (search !== "" || hash !== "") {
    return "found a ? or # after the database; write them in a password as %3F and %23";
  }
  if (!/^\/?$|^\/\d{1,5}$/.test(pathname)) {
    return "found a path that is not the number of a database";
  }
  return username !== "" && password === "" ? "found a user without a password" : null;
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

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; those in lower case win, as with curl. Null without a proxy.
 *
 * @throws {ConfigError} If a proxy is not an http:// or https:// URL.
 */
export function readProxySettings(env: Environment["env"]): ProxySettings | null {
  const problems = proxyProblems(env);
  if (problems.length > 0) {
    throw new ConfigError(problems.join("\n"));
  }
  const [httpProxy, httpsProxy, noProxy] = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].map(
    (name) => readProxy(env, name).value,
  );
  return httpProxy || httpsProxy
    ? { httpProxy: httpProxy ?? "", httpsProxy: httpsProxy ?? "", noProxy: noProxy ?? "" }
    : null;
}

/** What is wrong with the variables. Their values are not repeated: they may hold a password. */
export function proxyProblems(env: Environment["env"]): readonly string[] {
  return ["HTTPS_PROXY", "HTTP_PROXY"]
    .map((name) => readProxy(env, name))
    .flatMap(({ name, value }) => {
      const url = value === "" ? null : readWebUrl(value);
      return typeof url === "string" ? [`environment variable ${name}: ${url}`] : [];
    });
}

function readProxy(env: Environment["env"], name: string): { readonly name: string; readonly value: string } {
  const found = env[name.toLowerCase()] === undefined ? name : name.toLowerCase();
  return { name: found, value: (env[found] ?? "").trim() };
}
