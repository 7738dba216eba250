import type { IndexerEntry } from "../schema/indexer.ts";
import type { Path } from "../yaml/config-error.ts";
import { pastedQuery } from "../yaml/pasted-query.ts";
import { fillUrl } from "./fill-template.ts";
import { gatewayKeyProblem } from "./gateway-key.ts";
import { type Headers, resolveHeaders, withCredentials } from "./headers.ts";
import type { ChainScope } from "./resolve-context.ts";
import type { SecretStore } from "./secrets.ts";
import { parseTemplate, type TemplatePart } from "./template.ts";
import { keysOf, readWebUrl } from "./web-url.ts";

/** Where an endpoint's requests go, and what goes with them. */
export interface Address {
  readonly url: URL;
  readonly headers: Headers;
  readonly budget: string | null;
}

const NOTHING: Pick<IndexerEntry, "headers" | "budget"> = { headers: {}, budget: null };

/** Works out one endpoint's address. Null: what is wrong has been told, or the indexer is skipped. */
export function resolveAddress(scope: ChainScope): Address | null {
  const { overrides, indexer } = scope;
  const urlPath = pathOf("url", scope);
  const url = resolveUrl(overrides.url ?? indexer.entry.url, urlPath, scope);
  // A key goes only where it is written: not to another origin.
  const isHome = overrides.url === undefined || url?.origin === homeOrigin(scope);
  const inherited = isHome ? indexer.entry : NOTHING;
  const headersPath = pathOf("headers", scope);
  const headers = resolveHeaders(overrides.headers ?? inherited.headers, headersPath, scope);
  if (url === null || headers === null) {
    return null;
  }
  const problem = gatewayKeyProblem(url, headers);
  if (problem !== null) {
    indexer.resolving.tell(
      problem.header === null ? urlPath : [...headersPath, problem.header],
      problem.message,
    );
  }
  const { budget = inherited.budget ?? null } = overrides;
  return { url, headers: withCredentials(headers, url, indexer.resolving.secrets), budget };
}

/** Where the user wrote what applies to the chain. */
function pathOf(key: "url" | "headers", { overrides, indexer, path }: ChainScope): Path {
  return [...(overrides[key] === undefined ? indexer.path : path), key];
}

function resolveUrl(text: string | undefined, path: Path, scope: ChainScope): URL | null {
  const { resolving } = scope.indexer;
  if (text === undefined) {
    if (!resolving.touches(path)) {
      resolving.tell(path, "Cannot find this key: expected an http:// or https:// URL");
    }
    return null;
  }
  const query = pastedQuery("url", text);
  if (query !== null) {
    resolving.tell(path, query);
    return null;
  }
  const filled = fillUrl(text, path, scope);
  if (filled === null) {
    return null;
  }
  const read = readWebUrl(filled, text);
  if (read.kind === "unusable") {
    resolving.tell(path, read.message);
    return null;
  }
  resolving.secrets.remember(...keysOf(read.url));
  return read.url;
}

/** The origin of the indexer's own URL, which its headers and its budget are meant for. */
function homeOrigin({ indexer, values }: ChainScope): string | null {
  const template = parseTemplate(indexer.entry.url ?? "");
  if (template.kind === "unreadable") {
    return null;
  }
  const url = template.parts.map((part) => guess(part, values, indexer.resolving.secrets)).join("");
  return URL.canParse(url) ? new URL(url).origin : null;
}

/** A chain with a URL of its own needs no values for the indexer's: they seldom matter to the origin. */
function guess(part: TemplatePart, values: ReadonlyMap<string, string>, secrets: SecretStore): string {
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
