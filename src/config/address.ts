import type { Receiver } from "./config.ts";
import type { Flaws } from "./problems.ts";
import {
  decodePercent,
  fillPlaceholders,
  hasKeyInPath,
  type Secrets,
  secretsInHeader,
  secretsInUrl,
  type Values,
} from "./secrets.ts";
import type { Entry } from "./shape.ts";

/** Header names, as the user wrote them, and their values. */
export type Headers = Readonly<Record<string, string>>;

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that Synclag or undici sets for each request. */
const RESERVED_NAMES =
  /^(?:accept-encoding|connection|content-length|content-type|expect|keep-alive|transfer-encoding|upgrade)$/i;

/**
 * A URL with one of these schemes, or what is wrong. The message contains only the scheme of the URL: the rest may have a
 * key. `expected` names the schemes.
 */
export function readUrl(text: string, schemes: RegExp, expected: string): URL | string {
  if (!schemes.test(text)) {
    const found = /^[a-z][a-z0-9+.-]{0,11}:\/\//i.exec(text)?.[0] ?? "no scheme";
    return `invalid URL: found ${found}, expected ${expected}`;
  }
  const url = /\s/.test(text) || !URL.canParse(text) ? null : new URL(text);
  return url === null || (url.username !== "" && url.pathname.includes("@")) ? INVALID_URL : url;
}

const INVALID_URL =
  "invalid host, port or password in the URL, or a space; in a password write / ? # and @ as %2F %3F %23 and %40";

/** An http or https URL, or what is wrong with it. */
export function readWebUrl(text: string): URL | string {
  return readUrl(text, /^https?:\/\//i, "http:// or https://");
}

/** A URL with the headers that are sent to it. */
export interface Address {
  readonly url: string;
  readonly host: string;
  readonly headers: Headers;
}

/** How the templates of an address are filled. */
export interface Scope {
  readonly secrets: Secrets;
  readonly values?: Values;
  /** Called with the name of a placeholder that has no value. By default, it is a problem. */
  readonly onMissing?: (name: string) => void;
  /** Called for a variable that is not set, with `NAME is not set`. By default, it is a problem. */
  readonly onUnset?: (what: string, spot: Flaws) => void;
}

/** Fills a template. Null: a problem was added, or the scope was called. `values`: null for a header, which has no placeholders. */
function fill(template: string, spot: Flaws, values: Values | null, scope: Scope): string | null {
  const { text, problems } = scope.secrets.fill(template, values);
  for (const { kind, what } of problems) {
    if (kind === "missing" && scope.onMissing) {
      scope.onMissing(what);
    } else if (kind === "unset" && scope.onUnset) {
      scope.onUnset(what, spot);
    } else {
      // The name of a placeholder may be a key.
      spot.add(kind === "missing" ? "placeholders do not work here" : what);
    }
  }
  return problems.length === 0 ? text : null;
}

/** Fills in a URL and its headers, and remembers their secrets. Null: a problem was added, or the scope was called. */
export function readAddress(
  written: Pick<Address, "url" | "headers">,
  spotOf: (key: "url" | "headers") => Flaws,
  scope: Scope,
): Address | null {
  const { secrets, values = new Map() } = scope;
  const filled = fill(written.url, spotOf("url"), values, scope);
  const url = filled === null ? null : readFilledUrl(filled, written.url);
  const headers = readHeaders(written.headers, spotOf("headers"), scope);
  if (typeof url === "string") {
    spotOf("url").add(url);
    return null;
  }
  if (url === null || headers === null) {
    return null;
  }
  if (hasKeyInPath(written.url)) {
    const orPlaceholder =
      scope.values === undefined ? "" : " or, if it is public, as a placeholder such as {id}";
    const advice = `write it as \${VAR} or \${file:/path}${orPlaceholder}`;
    spotOf("url").add(`a part of the path looks like a key; ${advice}`);
  }
  secrets.remember(secretsInUrl(url, values));
  return {
    url: url.href,
    host: shownHost(written.url, url, values),
    headers: withCredentials(headers, url, secrets),
  };
}

/**
 * A filled URL, or what is wrong with it. Danger: if the password has a slash, the user is read as the host, and the request
 * would be sent there.
 */
function readFilledUrl(filled: string, written: string): URL | string {
  const url = readWebUrl(filled);
  const hasUser = /^https?:\/\/[^/?#]*@/i.test(written.replace(REFERENCES, ""));
  const isUserLost = hasUser && typeof url !== "string" && `${url.username}${url.password}` === "";
  return isUserLost ? INVALID_URL : url;
}

const REFERENCES = /\$\{[^{}]*\}/g;

/** The host as metrics and pages show it. A variable in it stays as it is written, because its value is a secret. */
function shownHost(written: string, url: URL, values: Values): string {
  const references: string[] = [];
  const marked = written.replace(REFERENCES, (reference) => MARK + references.push(reference) + MARK);
  const host = /^https?:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(marked)?.[1] ?? "";
  return host.includes(MARK)
    ? fillPlaceholders(host, values, () => undefined).replace(
        new RegExp(`${MARK}(\\d+)${MARK}`, "g"),
        (_, number: string) => references[Number(number) - 1] ?? "",
      )
    : url.host;
}

/** Encloses the number of a variable in a URL while the URL is parsed. */
const MARK = "\u0000";

/** Fills headers and remembers their values as secrets. Null: a problem was added, or the scope was called. */
export function readHeaders(written: Headers, spot: Flaws, scope: Scope): Headers | null {
  const headers: Record<string, string> = {};
  for (const [name, template] of Object.entries(written)) {
    const own = spot.at(name);
    const value = fill(template, own, null, scope);
    scope.secrets.remember(secretsInHeader(value ?? ""));
    if (!HEADER_NAME.test(name)) {
      // The message does not quote the name, which may be a secret: YAML reads `{ Bearer KEY }` as a name.
      own.add("invalid header name, expected letters, digits and dashes", "key");
    } else if (RESERVED_NAMES.test(name)) {
      own.add(`${name} is set by Synclag for each request`, "key");
    } else if (value !== null && !HEADER_VALUE.test(value)) {
      own.add("found a line break or a character beyond Latin-1, which a header cannot contain");
    } else if (value !== null) {
      headers[name] = value;
    }
  }
  return Object.keys(headers).length === Object.keys(written).length ? headers : null;
}

/** Adds the `Authorization` header for a URL's user and password, unless the headers already have one. */
export function withCredentials(headers: Headers, url: URL, secrets: Secrets): Headers {
  const authorization = basicAuthorization(url);
  const isSet = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  if (authorization === null || isSet) {
    return headers;
  }
  secrets.remember(secretsInHeader(authorization));
  return { ...headers, Authorization: authorization };
}

/** The `Authorization` header (RFC 7617) for the user and password of a URL, which HTTP clients ignore. Null: the URL has neither. */
export function basicAuthorization({ username, password }: URL): string | null {
  const pair = `${decodePercent(username)}:${decodePercent(password)}`;
  return pair === ":" ? null : `Basic ${Buffer.from(pair).toString("base64")}`;
}

/** A URL that receives messages, with its headers. Null: there is none, or a problem was added. */
export function resolveReceiver<T extends Receiver>(entry: Entry<T> | undefined, secrets: Secrets) {
  if (entry?.value == null) {
    return null;
  }
  const { value, spot } = entry;
  const address = readAddress(value, (key) => spot.at(key), { secrets });
  return address && { ...value, url: address.url, headers: address.headers };
}
