import { readUrl, readWebUrl } from "./address.ts";
import type { ProxySettings, StoreAddress, StoreSettings } from "./config.ts";
import { ConfigError } from "./problems.ts";
import { decodePercent, type Environment, Secrets, secretsInUrl } from "./secrets.ts";

/**
 * Reads a URL of an option or an environment variable, and remembers its secrets. `${VAR}` and `${file:/path}` are filled in.
 * Their values are percent-encoded, unless one of them is the whole URL.
 *
 * @throws {ConfigError} `NAME: what is wrong`. The message quotes only the scheme of the URL: the rest may have a password.
 */
export function readUrlOption(
  name: string,
  written: string,
  secrets: Secrets,
  read: (text: string) => URL | string,
): URL {
  const isWhole = /^\$\{[^{}]*\}$/.test(written);
  const { text, problems } = secrets.fill(written, new Map(), isWhole ? undefined : encodeURIComponent);
  const [problem] = problems;
  const flaw = problem?.kind === "missing" ? "placeholders do not work here" : problem?.what;
  const url = flaw ?? read(text);
  if (typeof url === "string") {
    throw new ConfigError(`${name}: ${url}`);
  }
  secrets.remember(secretsInUrl(url, new Map()));
  return url;
}

const DEFAULT_PORT = 6379;
const EXPECTED = "redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE] or rediss://…";

/**
 * Reads `--store` (by default `SYNCLAG_STORE`) and `--cluster`. The URL is `redis://` or, with TLS, `rediss://`; `${VAR}` and
 * `${file:/path}` work as in `readUrlOption`. `secrets`: texts that must not leave the process. Null: there is no store.
 *
 * @throws {ConfigError} If one of them cannot be used.
 */
export function readStoreFlags(
  { store, cluster }: { readonly store?: string; readonly cluster?: string },
  environment: Environment,
): (StoreSettings & { readonly secrets: readonly string[] }) | null {
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
  const isUsable =
    typeof url === "object" &&
    url.hostname !== "" &&
    url.search + url.hash === "" &&
    /^\/?$|^\/\d{1,5}$/.test(url.pathname) &&
    (url.username === "" || url.password !== "");
  return typeof url === "string" || isUsable ? url : `invalid address, expected ${EXPECTED}`;
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
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; names in lower case win, as with curl. Null without a proxy.
 *
 * @throws {ConfigError} If a proxy is not an http:// or https:// URL. The message does not repeat it: it may have a password.
 */
export function readProxySettings(env: Environment["env"]): ProxySettings | null {
  const nameOf = (name: string) => (env[name.toLowerCase()] === undefined ? name : name.toLowerCase());
  const read = (name: string): string => (env[nameOf(name)] ?? "").trim();
  const proxy = (name: string): string => {
    const value = read(name);
    const url = value === "" ? null : readWebUrl(value);
    if (typeof url === "string") {
      throw new ConfigError(`environment variable ${nameOf(name)}: ${url}`);
    }
    return value;
  };
  const settings = {
    httpsProxy: proxy("HTTPS_PROXY"),
    httpProxy: proxy("HTTP_PROXY"),
    noProxy: read("NO_PROXY"),
  };
  return settings.httpProxy || settings.httpsProxy ? settings : null;
}
