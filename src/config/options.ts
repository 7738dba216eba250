import type { ProxySettings, StoreAddress, StoreSettings } from "./config.ts";
import { ConfigError } from "./problems.ts";
import {
  decodePercent,
  type Environment,
  readUrl,
  readWebUrl,
  Secrets,
  secretsInUrl,
  type TemplateProblem,
} from "./secrets.ts";

/**
 * Reads a URL of the command line and remembers its secrets. `${VAR}` and `${file:/path}` are filled in; they need no
 * percent-encoding, unless one is the whole URL.
 *
 * @throws {ConfigError} `NAME: what is wrong`, without a part of the URL, which may hold a password.
 */
export function readUrlOption(
  name: string,
  written: string,
  secrets: Secrets,
  read: (text: string) => URL | string,
): URL {
  const { parts, problems } = secrets.fill(written, new Map());
  const isWhole = parts.every(({ source, text }) => source === "secret" || text === "");
  const encoded = parts.map((part) =>
    part.source === "secret" && !isWhole ? { ...part, text: encodeURIComponent(part.text) } : part,
  );
  const url =
    problems.length > 0
      ? problems.map(describeTemplateProblem).join("; ")
      : read(encoded.map(({ text }) => text).join(""));
  if (typeof url === "string") {
    throw new ConfigError(`${name}: ${url}`);
  }
  secrets.remember(secretsInUrl(encoded));
  return url;
}

/** What is wrong with a template on the command line, where no placeholder has a value. */
export function describeTemplateProblem({ kind, what }: TemplateProblem): string {
  return kind === "missing" ? `unknown placeholder, expected \${VARIABLE} or \${file:/path}` : what;
}

/** The options of `run` and `check` that concern the store. */
export interface StoreFlags {
  readonly store?: string;
  readonly cluster?: string;
}

/** What they say. */
export interface StoreOptions extends StoreSettings {
  /** Texts that must not leave the process. */
  readonly secrets: readonly string[];
}

const DEFAULT_PORT = 6379;
const EXPECTED = "redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE] or rediss://…";

/**
 * Reads `--store` and `--cluster`, and `SYNCLAG_STORE` where `--store` is not given: `redis://` or, with TLS,
 * `rediss://`. `${VAR}` and `${file:/path}` may stand for a part, which then needs no encoding, or for the whole URL.
 * Null: there is no store.
 *
 * @throws {ConfigError} If one of them cannot be used.
 */
export function readStoreFlags(
  { store, cluster }: StoreFlags,
  environment: Environment,
): StoreOptions | null {
  const written = store ?? environment.env["SYNCLAG_STORE"] ?? "";
  if (cluster !== undefined && !/^[\w.-]{1,64}$/.test(cluster)) {
    const expected = "expected letters, digits, '.', '_' or '-', 64 at most";
    throw new ConfigError(`--cluster: found ${JSON.stringify(cluster)}, ${expected}`);
  }
  if (store === undefined && written === "") {
    if (cluster !== undefined) {
      throw new ConfigError("--cluster has no effect without --store or SYNCLAG_STORE");
    }
    return null;
  }
  const secrets = new Secrets(environment);
  const option = store === undefined ? "environment variable SYNCLAG_STORE" : "--store";
  const url = readUrlOption(option, written, secrets, readStoreUrl);
  return { address: addressOf(url), cluster: cluster ?? "default", secrets: secrets.all };
}

function readStoreUrl(text: string): URL | string {
  const url = readUrl(text, /^rediss?:\/\//i, EXPECTED);
  return typeof url === "string" ? url : (flawOfStoreUrl(url) ?? url);
}

function flawOfStoreUrl({ hostname, username, password, pathname, search, hash }: URL): string | null {
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
 * @throws {ConfigError} If a proxy is not an http:// or https:// URL. Their values are not repeated: they may hold a password.
 */
export function readProxySettings(env: Environment["env"]): ProxySettings | null {
  const problems: string[] = [];
  const read = (name: string): string => {
    const found = env[name.toLowerCase()] === undefined ? name : name.toLowerCase();
    const value = (env[found] ?? "").trim();
    const url = value === "" || name === "NO_PROXY" ? null : readWebUrl(value);
    problems.push(...(typeof url === "string" ? [`environment variable ${found}: ${url}`] : []));
    return value;
  };
  const settings = {
    httpsProxy: read("HTTPS_PROXY"),
    httpProxy: read("HTTP_PROXY"),
    noProxy: read("NO_PROXY"),
  };
  if (problems.length > 0) {
    throw new ConfigError(problems.join("\n"));
  }
  return settings.httpProxy || settings.httpsProxy ? settings : null;
}
