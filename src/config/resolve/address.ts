import type { StatusApi } from "../../core/model/fleet.ts";
import type { IndexerEntry } from "../schema/indexer.ts";
import { describeValue } from "../schema/messages.ts";
import type { Path } from "../yaml/config-error.ts";
import { pastedQuery } from "../yaml/pasted-query.ts";
import { checkGatewayKey } from "./gateway-key.ts";
import { type Headers, resolveHeaders, withCredentials } from "./headers.ts";
import type { ListedChain } from "./list-chains.ts";
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
  const inherited = isAtIndexersOrigin(url, scope) ? indexer.entry : NOTHING_INHERITED;
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

/** Whether a chain's URL is at the origin that the indexer's own settings are meant for. */
function isAtIndexersOrigin(url: URL | null, scope: ChainScope): boolean {
  return scope.overrides.url === undefined || url?.origin === indexerOrigin(scope);
}

/** Whether a text can be the id of a deployment, which is sent within a query. */
export function isDeploymentId(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text);
}

/**
 * Resolves the index-node API beside the endpoint at `url`. Null: the indexer has none, a problem was added, or the
 * chain's own URL leads to another node.
 */
export function resolveStatusApi(
  url: URL,
  scope: ChainScope,
  listed: readonly ListedChain[],
): StatusApi | null {
  const { context, entry, path: indexerPath } = scope.indexer;
  const path = [...indexerPath, "status"];
  const [only, ...others] = listed;
  const isOfSameNode = entry.url === undefined || isAtIndexersOrigin(url, scope);
  if (entry.status === undefined || only === undefined || !isOfSameNode) {
    return null;
  }
  if (others.length > 0) {
    const message = `Cannot use status for an endpoint of ${listed.length} chains: expected a url with a placeholder, so that each chain has its own`;
    context.addKeyProblem(path, message);
    return null;
  }
  const node = fillUrl(entry.status.url, [...path, "url"], only.scope);
  const deployment = resolveDeployment([...path, "deployment"], entry.status.deployment, only);
  if (node === null || deployment === null) {
    return null;
  }
  const headers = withCredentials({}, node, context.secrets);
  return { url: node.href, host: node.host, headers, deployment };
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
  return fillUrl(text, path, scope);
}

function fillUrl(text: string, path: Path, scope: ChainScope): URL | null {
  const { context } = scope.indexer;
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

function resolveDeployment(path: Path, text: string, { slug, scope }: ListedChain): string | null {
  const parts = fillForChain(parseTemplate(text), path, scope);
  if (parts === null) {
    return null;
  }
  const deployment = joinParts(parts);
  if (!isDeploymentId(deployment)) {
    const found = describeValue(deployment);
    const message = `Cannot use ${found} as the deployment of chain ${slug}: expected an id such as Qm…`;
    scope.indexer.context.addProblem(path, message);
    return null;
  }
  return deployment;
}
