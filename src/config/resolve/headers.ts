import type { Path } from "../yaml/config-error.ts";
import { type ChainScope, fillForChain } from "./resolve-context.ts";
import { secretsInHeader } from "./secret-parts.ts";
import type { SecretStore } from "./secrets.ts";
import { joinParts, parseHeader } from "./template.ts";
import { basicAuthorization } from "./web-url.ts";

/** Header names, as the user wrote them, and their values. */
export type Headers = Readonly<Record<string, string>>;

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

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

/** Fills the headers of one endpoint and remembers their values as secrets. Null: a problem was added. */
export function resolveHeaders(headers: Headers, path: Path, scope: ChainScope): Headers | null {
  const names = new Map<string, string>();
  const filled = Object.entries(headers).map(([name, text]) => {
    const former = names.get(name.toLowerCase());
    names.set(name.toLowerCase(), name);
    if (former !== undefined) {
      const message = `Cannot set header ${name} beside ${former}: upper and lower case make no difference`;
      scope.indexer.context.addKeyProblem([...path, name], message);
    }
    return { name, value: resolveHeader(text, [...path, name], scope) };
  });
  const valid = filled.flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const]));
  return valid.length === filled.length ? Object.fromEntries(valid) : null;
}

/** The headers and the one for a URL's user and password, unless they set `Authorization` themselves. */
export function withCredentials(headers: Headers, url: URL, secrets: SecretStore): Headers {
  const authorization = basicAuthorization(url);
  if (authorization === null || findHeader(headers, "authorization") !== null) {
    return headers;
  }
  secrets.remember(secretsInHeader(authorization));
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
  const { context } = scope.indexer;
  const name = String(path.at(-1));
  if (!NAME.test(name)) {
    // Not repeated: `{ Bearer KEY }` is a name to YAML.
    context.addKeyProblem(path, "Cannot use this header name: expected letters, digits and dashes");
    return null;
  }
  if (RESERVED_NAMES.has(name.toLowerCase())) {
    context.addKeyProblem(path, `Cannot set header ${name}: Synclag sets it for each request`);
    return null;
  }
  const filled = fillForChain(parseHeader(text), path, scope);
  if (filled === null) {
    return null;
  }
  const value = joinParts(filled);
  context.secrets.remember(secretsInHeader(value));
  if (!VALUE.test(value)) {
    const found = "a line break or a character beyond Latin-1";
    context.addProblem(path, `Cannot send the value of header ${name}: it contains ${found}`);
    return null;
  }
  return value;
}
