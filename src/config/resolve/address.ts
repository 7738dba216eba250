import type { IndexerEntry } from "../schema/indexer.ts";
import type { Path } from "../yaml/config-error.ts";
import { pastedQuery } from "../yaml/pasted-query.ts";
import { checkGatewayKey } from "./gateway-key.ts";
import { type Headers, resolveHeaders, withCredentials } from "./headers.ts";
import { type ChainScope, fillForChain } from "./resolve-context.ts";
import { secretsInUrl } from "./secret-parts.ts";
import type { SecretStore } from "./secrets.ts";
import { joinParts, parseTemplate, type TemplatePart } from "./template.ts";
import { readWebUrl } from "./web-url.ts";

/** Where an endpoint's requests go, and what is sent with them. */
export interface Address {
  readonly url: URL;
  readonly headers: Headers;
  readonly budget: string | null;
}

const NOTHING_INHERITED: Pick<IndexerEntry, "headers" | "budget"> = { headers: {}, budget: null };

/** Resolves one endpoint's address. Null: a problem was added, or the indexer is skipped. */
export function resolveAddress(scope: ChainScope): Address | null {
  const { overrides, indexer } = scope;
  const urlPath = pathOf("url", scope);
  const url = resolveUrl(overrides.url ?? indexer.entry.url, urlPath, scope);
  // The indexer's keys must not be sent to another origin.
  const isSameOrigin = overrides.url === undefined || url?.origin === indexerOrigin(scope);
  const inherited = isSameOrigin ? indexer.entry : NOTHING_INHERITED;
  const headersPath = pathOf("headers", scope);
  const headers = resolveHeaders(overrides.headers ?? inherited.headers, headersPath, scope);
  if (url === null || headers === null) {
    return null;
  }
  const check = checkGatewayKey(url, headers);
  if (check.kind === "bad url") {
    indexer.context.addProblem(urlPath, check.message);
  } else if (check.kind === "bad header") {
    indexer.context.addProblem([...headersPath, check.header], check.message);
  }
  const { budget = inherited.budget ?? null } = overrides;
  return { url, headers: withCredentials(headers, url, indexer.context.secrets), budget };
}

/** Where the value that applies to the chain is written. */
function pathOf(key: "url" | "headers", { overrides, indexer, path }: ChainScope): Path {
  return [...(overrides[key] === undefined ? indexer.path : path), key];
}

function resolveUrl(text: string | undefined, path: Path, scope: ChainScope): URL | null {
  const { context } = scope.indexer;
  if (text === undefined) {
    if (!context.hasProblemAt(path)) {
      context.addProblem(path, "Cannot find required key: expected an http:// or https:// URL");
    }
    return null;
  }
  const query = pastedQuery(text);
  if (query !== null) {
    context.addProblem(path, query);
    return null;
  }
  const parts = fillForChain(parseTemplate(text), path, scope);
  if (parts === null) {
    return null;
  }
  const read = readWebUrl(joinParts(parts));
  if (read.kind === "invalid") {
    context.addProblem(path, read.message);
    return null;
  }
  context.secrets.remember(secretsInUrl(parts));
  return read.url;
}

/** The origin of the indexer's own URL, which its headers and its budget are meant for. */
function indexerOrigin({ indexer, values }: ChainScope): string | null {
  const template = parseTemplate(indexer.entry.url ?? "");
  if (template.kind === "invalid") {
    return null;
  }
  const url = template.parts.map((part) => valueOrUnknown(part, values, indexer.context.secrets)).join("");
  return URL.canParse(url) ? new URL(url).origin : null;
}

/** A chain with its own URL needs no values for the indexer's; they rarely affect the origin. */
function valueOrUnknown(
  part: TemplatePart,
  values: ReadonlyMap<string, string>,
  secrets: SecretStore,
): string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "value":
      return values.get(part.name) ?? "unknown";
    case "variable":
    case "file": {
      const reading = secrets.read(part);
      return reading.kind === "read" ? reading.text : "unknown";
    }
  }
}
