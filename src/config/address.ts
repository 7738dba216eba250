import type { Flaws } from "./problems.ts";
import {
  basicAuthorization,
  type Filled,
  hasKeyInPath,
  readWebUrl,
  type Secrets,
  secretsInHeader,
  secretsInUrl,
} from "./secrets.ts";

/** Header names, as the user wrote them, and their values. */
export type Headers = Readonly<Record<string, string>>;

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Set by each request or its connection; undici refuses most of them. */
const RESERVED_NAMES = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "content-type",
  "expect",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/** Fills a template and remembers its secrets. Null: a problem was added. */
export function readFilledUrl({ text, parts }: Filled, spot: Flaws, secrets: Secrets): URL | null {
  const url = readWebUrl(text);
  if (typeof url === "string") {
    spot.add(url);
    return null;
  }
  if (hasKeyInPath(parts)) {
    const advice = `write it as \${VAR} or \${file:/path}, or as a chain's own value if it is public`;
    spot.add(`a part of the path looks like a key; ${advice}`);
  }
  secrets.remember(secretsInUrl(parts));
  return url;
}

/** Reads headers and remembers their values as secrets. `fill` fills in a value, or adds a problem. Null: a problem was added. */
export function readHeaders(
  written: Headers,
  spot: Flaws,
  secrets: Secrets,
  fill: (text: string, spot: Flaws) => Filled | null,
): Headers | null {
  const names = new Map<string, string>();
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(written)) {
    const own = spot.at(name);
    const flaw = flawOfHeaderName(name, names);
    if (flaw !== null) {
      own.add(flaw, "key");
    }
    const value = fill(text, own)?.text;
    secrets.remember(secretsInHeader(value ?? ""));
    if (value !== undefined && !HEADER_VALUE.test(value)) {
      own.add("found a line break or a character beyond Latin-1, which no header can contain");
    } else if (value !== undefined && flaw === null) {
      headers[name] = value;
    }
  }
  return Object.keys(headers).length === Object.keys(written).length ? headers : null;
}

/** A wrong name is not repeated: `{ Bearer KEY }` is a name to YAML. */
function flawOfHeaderName(name: string, names: Map<string, string>): string | null {
  const former = names.get(name.toLowerCase());
  names.set(name.toLowerCase(), name);
  if (!HEADER_NAME.test(name)) {
    return "invalid header name, expected letters, digits and dashes";
  }
  if (RESERVED_NAMES.has(name.toLowerCase())) {
    return `${name} is set by Synclag for each request`;
  }
  return former === undefined ? null : `same header as ${former}: upper and lower case make no difference`;
}

/** The headers and the one for a URL's user and password, unless they set `Authorization` themselves. */
export function withCredentials(headers: Headers, url: URL, secrets: Secrets): Headers {
  const authorization = basicAuthorization(url);
  const isSet = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  if (authorization === null || isSet) {
    return headers;
  }
  secrets.remember(secretsInHeader(authorization));
  return { ...headers, Authorization: authorization };
}
