import type { Path } from "../yaml/config-error.ts";
import { fillHeader } from "./fill-template.ts";
import type { ChainScope } from "./resolve-context.ts";
import type { SecretStore } from "./secrets.ts";
import { basicAuthorization } from "./web-url.ts";

/** Header names, as the user wrote them, and their values. */
export type Headers = Readonly<Record<string, string>>;

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** What a poll or its connection sets; undici refuses most of them. */
const OURS = new Set([
  "connection",
  "content-length",
  "content-type",
  "expect",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/** Fills the headers of one endpoint and remembers their values as secrets. Null: something is wrong, and told. */
export function resolveHeaders(headers: Headers, path: Path, scope: ChainScope): Headers | null {
  const filled = Object.entries(headers).map(([name, text]) => ({
    name,
    value: resolveHeader(text, [...path, name], scope),
  }));
  const usable = filled.flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const]));
  return usable.length === filled.length ? Object.fromEntries(usable) : null;
}

/** The headers with what a URL's user and password stand for, unless they say it themselves. */
export function withCredentials(headers: Headers, url: URL, secrets: SecretStore): Headers {
  const authorization = basicAuthorization(url);
  if (authorization === null || findHeader(headers, "authorization") !== null) {
    return headers;
  }
  rememberHeader(authorization, secrets);
  return { ...headers, Authorization: authorization };
}

/** A header by its name in lower case, or null. */
export function findHeader(
  headers: Headers,
  lowerCaseName: string,
): { readonly name: string; readonly value: string } | null {
  const [name, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === lowerCaseName) ?? [];
  return name === undefined || value === undefined ? null : { name, value };
}

function resolveHeader(text: string, path: Path, scope: ChainScope): string | null {
  const { tell, tellKey, secrets } = scope.indexer.resolving;
  const name = String(path.at(-1));
  if (!NAME.test(name)) {
    tellKey(path, `Cannot send a header named ${JSON.stringify(name)}: expected letters, digits and dashes`);
    return null;
  }
  if (OURS.has(name.toLowerCase())) {
    tellKey(path, `Cannot set header ${name}: Synclag sets it for each request`);
    return null;
  }
  const value = fillHeader(text, path, scope);
  if (value === null) {
    return null;
  }
  if (!VALUE.test(value)) {
    tell(
      path,
      `Cannot send the value of header ${name}: it holds a line break or a character beyond Latin-1`,
    );
    return null;
  }
  rememberHeader(value, secrets);
  return value;
}

function rememberHeader(value: string, secrets: SecretStore): void {
  // `Bearer KEY`: the key alone may turn up as well.
  secrets.remember(value, value.replace(/^\S+ +(?=\S+$)/, ""));
}
