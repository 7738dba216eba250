import type { Headers } from "../config/address.ts";
import { type WellKnownChain, wellKnownChain, wellKnownChainIn } from "../config/well-known-chains.ts";
import { looksLikeKey } from "../core/model/redact.ts";
import { formatDuration } from "../core/model/text.ts";
import type { Attempt } from "./ask-endpoint.ts";

/** A chain as the lines name it. */
export interface NamedChain {
  readonly id: number;
  readonly slug: string;
  /** What stands behind it. */
  readonly comment: string;
}

/** An endpoint that answered, for chains.yaml. */
export interface FoundEndpoint {
  /** Without keys, like the headers. */
  readonly url: string;
  readonly headers: Headers;
  readonly dialect: string;
  readonly chains: readonly NamedChain[];
}

/** The chains of a reply, or the one that was given, or the one that the URL names; none where none of them says. */
export function chainsOf(url: string, given: number | null, { rows }: Attempt): readonly NamedChain[] {
  const ids = [...new Set(rows.flatMap(({ chainId }) => chainId ?? given ?? []))];
  const named = ids.length > 0 || rows.length === 0 ? null : wellKnownChainIn(url);
  return named === null
    ? ids.map(nameOf)
    : [{ ...nameOf(named.id), comment: `${describe(named)}: by the URL, since the reply has no chain id` }];
}

function nameOf(id: number): NamedChain {
  const known = wellKnownChain(id);
  return known === null
    ? { id, slug: `chain-${id}`, comment: "not a well-known chain: give it a name" }
    : { id, slug: known.slug, comment: describe(known) };
}

function describe({ name, blockTimeMs }: WellKnownChain): string {
  return blockTimeMs === null ? name : `${name}, a block every ${formatDuration(blockTimeMs)}`;
}

/** A chains.yaml for these endpoints: `config check` accepts it where there is an indexer of a chain. */
export function chainsLines(found: readonly FoundEndpoint[]): readonly string[] {
  // The first comment on a chain stays.
  const chains = new Map(found.toReversed().flatMap((one) => one.chains.map((chain) => [chain.slug, chain])));
  const protocols = groupIndexers(found.filter(({ dialect }) => dialect !== "rpc"));
  return [
    "version: 1",
    "chains:",
    ...[...chains.values()].map((chain) => chainLine(chain, found)),
    "protocols:",
    ...protocols.flatMap(({ name, indexers }) => [`  ${name}:`, ...indexers.flatMap(indexerLines)]),
  ];
}

/** The line of one chain, with its RPC nodes. */
function chainLine({ id, slug, comment }: NamedChain, found: readonly FoundEndpoint[]): string {
  const nodes = found
    .filter(({ dialect, chains }) => dialect === "rpc" && chains.some((chain) => chain.slug === slug))
    .map((node) =>
      Object.keys(node.headers).length === 0 ? JSON.stringify(node.url) : `{ ${addressOf(node).join(", ")} }`,
    );
  const rpc = nodes.length === 0 ? "" : `, rpc: [${nodes.join(", ")}]`;
  return `  ${slug}: { id: ${id}${rpc} }   # ${comment}`;
}

/** Endpoints that one indexer of chains.yaml has. */
interface Indexer {
  readonly host: string;
  readonly dialect: string;
  /** What its URLs call it; null where they have no name. */
  readonly name: string | null;
  readonly endpoints: FoundEndpoint[];
}

interface NamedIndexer extends Indexer {
  readonly variant: string;
}

/**
 * Endpoints of one host and dialect are one indexer where each serves another chain, and two protocols where they serve the same.
 * Of different hosts or dialects, those that serve the same chain are variants of one protocol.
 */
function groupIndexers(found: readonly FoundEndpoint[]) {
  const protocols: Indexer[][] = [];
  for (const indexer of joinEndpoints(found)) {
    const own = protocols.find(
      (others) =>
        others.some((other) => isShared(other, indexer)) &&
        others.every((other) => isOtherVariant(other, indexer)),
    );
    if (own === undefined) {
      protocols.push([indexer]);
    } else {
      own.push(indexer);
    }
  }
  const names = unique(
    protocols.map((indexers) => indexers.find(({ name }) => name !== null)?.name ?? "my-protocol"),
  );
  return protocols.map((indexers, index) => {
    const variants = unique(indexers.map(({ dialect }) => variantOf(dialect)));
    return {
      name: names[index] ?? "",
      indexers: indexers.map((indexer, at): NamedIndexer => ({ ...indexer, variant: variants[at] ?? "" })),
    };
  });
}

function joinEndpoints(found: readonly FoundEndpoint[]): readonly Indexer[] {
  const indexers: Indexer[] = [];
  for (const endpoint of found) {
    const { host } = new URL(endpoint.url.replace(/\$\{[^}]*\}/g, "x"));
    const indexer = { host, dialect: endpoint.dialect, name: nameIn(endpoint), endpoints: [endpoint] };
    const same = indexers.find(
      (one) =>
        one.host === host &&
        one.dialect === indexer.dialect &&
        one.name === indexer.name &&
        !isShared(one, indexer) &&
        [...one.endpoints, endpoint].every(({ chains }) => chains.length === 1),
    );
    if (same === undefined) {
      indexers.push(indexer);
    } else {
      same.endpoints.push(endpoint);
    }
  }
  return indexers;
}

function isShared(one: Indexer, other: Indexer): boolean {
  const slugs = new Set(one.endpoints.flatMap(({ chains }) => chains.map(({ slug }) => slug)));
  return other.endpoints.some(({ chains }) => chains.some(({ slug }) => slugs.has(slug)));
}

function isOtherVariant(one: Indexer, other: Indexer): boolean {
  const isSameService = one.host === other.host && one.dialect === other.dialect;
  return !isSameService && (one.name === null || other.name === null || one.name === other.name);
}

const GENERIC =
  /^(?:api|query|public|subgraphs?|deployments?|name|id|version|latest|graphql|gn|status|metrics|meta|health|v?\d[\d._]*|)$/;

/** The last part of a path that is a name, without its chain: `airdrops` in `…/query/112500/airdrops-base/version/latest`. */
function nameIn({ url, chains }: FoundEndpoint): string | null {
  const parts = url
    .replace(/^https?:\/\/[^/]*|[?#].*$/gi, "")
    .toLowerCase()
    .split("/");
  const names = parts
    .map((part) => chains.reduce((rest, { slug }) => rest.replace(new RegExp(`-?\\b${slug}\\b`), ""), part))
    .filter(
      (part) =>
        /^[a-z][a-z0-9-]*$/.test(part) &&
        !GENERIC.test(part) &&
        !looksLikeKey(part) &&
        !/^[0-9a-f]+$/.test(part),
    );
  return names.at(-1)?.replace(/-+$/, "") ?? null;
}

function variantOf(dialect: string): string {
  return dialect === "graph" ? "subgraph" : dialect.replace(/-(?:status|metrics|meta)$/, "");
}

/** With a number behind each name that was there before. */
function unique(names: readonly string[]): readonly string[] {
  return names.map((name, index) => {
    const before = names.slice(0, index).filter((other) => other === name).length;
    return before === 0 ? name : `${name}-${before + 1}`;
  });
}

function indexerLines({ variant, dialect, endpoints }: NamedIndexer): readonly string[] {
  const [template = "", ...others] = new Set(
    endpoints.map(({ url, chains: [chain] }) =>
      endpoints.length === 1 ? url : url.replaceAll(chain?.slug ?? "", "{chain}"),
    ),
  );
  const isOne = others.length === 0 && (endpoints.length === 1 || template.includes("{chain}"));
  const written = isOne ? [{ url: template, headers: endpoints[0]?.headers ?? {} }] : endpoints;
  const hasVariable = JSON.stringify(written).includes("${");
  return [
    `    - variant: ${variant}`,
    `      dialect: ${dialect}`,
    ...(isOne ? written.flatMap(addressOf).map((line) => `      ${line}`) : []),
    ...(hasVariable
      ? ["      optional: true   # skipped, with a warning, while its variable is not set"]
      : []),
    ...chainEntries(dialect, endpoints, isOne),
  ];
}

function chainEntries(
  dialect: string,
  endpoints: readonly FoundEndpoint[],
  isOne: boolean,
): readonly string[] {
  const slugs = endpoints.flatMap(({ chains }) => chains.map(({ slug }) => slug));
  if (dialect === "graph-status") {
    return [
      "      chains:",
      ...slugs.map((slug) => `        ${slug}: { deployment: QmDeployment }   # its id`),
    ];
  }
  return isOne
    ? [`      chains: [${slugs.join(", ")}]`]
    : [
        "      chains:",
        ...endpoints.map((one, index) => `        ${slugs[index]}: { ${addressOf(one).join(", ")} }`),
      ];
}

function addressOf({ url, headers }: Pick<FoundEndpoint, "url" | "headers">): readonly string[] {
  const hasHeaders = Object.keys(headers).length > 0;
  return [`url: ${JSON.stringify(url)}`, ...(hasHeaders ? [`headers: ${JSON.stringify(headers)}`] : [])];
}
