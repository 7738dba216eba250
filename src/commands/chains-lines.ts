import type { Headers } from "../config/address.ts";
import { type WellKnownChain, wellKnownChain, wellKnownChainIn } from "../config/well-known-chains.ts";
import { looksLikeKey } from "../core/model/redact.ts";
import { formatDuration } from "../core/model/text.ts";
import type { Attempt } from "./ask-endpoint.ts";

/** A chain as the lines name it. */
export interface NamedChain {
  readonly id: number;
  readonly slug: string;
  /** The comment behind the chain. */
  readonly comment: string;
}

/** An endpoint with a dialect, for chains.yaml. */
export interface FoundEndpoint {
  /** Without keys, like the headers. */
  readonly url: string;
  readonly headers: Headers;
  readonly dialect: string;
  readonly chains: readonly NamedChain[];
}

/** The chains of the reply, else the given chain, else the chain in the URL, else no chain. */
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

type Address = Pick<FoundEndpoint, "url" | "headers">;

/** A chains.yaml for these endpoints: `config check` accepts it where there is an indexer of a chain. */
export function chainsLines(found: readonly FoundEndpoint[]): readonly string[] {
  // The first comment on a chain stays.
  const chains = new Map(found.toReversed().flatMap((one) => one.chains.map((chain) => [chain.slug, chain])));
  const protocols = groupByProtocol(found.filter(({ dialect }) => dialect !== "rpc"));
  const names = unique(protocols.map(({ name }) => name ?? "my-protocol"));
  return [
    "version: 1",
    "chains:",
    ...[...chains.values()].map((chain) => chainLine(chain, found)),
    "protocols:",
    ...protocols.flatMap((protocol, index) => protocolLines(names[index] ?? "", protocol)),
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

interface Protocol {
  /** What the URLs call it; null where they have no name. */
  name: string | null;
  /** Several endpoints of one indexer are of one host and dialect, each of another chain. */
  readonly indexers: FoundEndpoint[][];
}

/**
 * Two endpoints of one host and dialect for the same chain are of two protocols. What has the same name, host and dialect, or a
 * chain in common is of one protocol, unless the names differ.
 */
function groupByProtocol(found: readonly FoundEndpoint[]): readonly Protocol[] {
  const protocols: Protocol[] = [];
  for (const endpoint of found) {
    const name = nameIn(endpoint);
    let own = protocols.find((protocol) => isOf(protocol, endpoint, name));
    if (own === undefined) {
      own = { name, indexers: [] };
      protocols.push(own);
    }
    own.name ??= name;
    const indexer = own.indexers.find((one) =>
      [...one, endpoint].every((other) => other.chains.length === 1 && isSameService(other, endpoint)),
    );
    if (indexer === undefined) {
      own.indexers.push([endpoint]);
    } else {
      indexer.push(endpoint);
    }
  }
  return protocols;
}

function isOf(protocol: Protocol, endpoint: FoundEndpoint, name: string | null): boolean {
  if (protocol.name !== null && name !== null && protocol.name !== name) {
    return false;
  }
  const slugs = new Set(endpoint.chains.map(({ slug }) => slug));
  const isShared = ({ chains }: FoundEndpoint): boolean => chains.some(({ slug }) => slugs.has(slug));
  const endpoints = protocol.indexers.flat();
  const ofService = endpoints.filter((other) => isSameService(other, endpoint));
  return ofService.length > 0
    ? !ofService.some(isShared)
    : (name !== null && name === protocol.name) || endpoints.some(isShared);
}

function isSameService(one: FoundEndpoint, other: FoundEndpoint): boolean {
  return one.dialect === other.dialect && hostOf(one) === hostOf(other);
}

function hostOf({ url }: FoundEndpoint): string {
  return new URL(url.replace(/\$\{[^}]*\}/g, "x")).host;
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

function protocolLines(name: string, { indexers }: Protocol): readonly string[] {
  const variants = unique(indexers.map(([first]) => variantOf(first?.dialect ?? "")));
  return [
    `  ${name}:`,
    ...indexers.flatMap((endpoints, index) => [
      `    - variant: ${variants[index]}`,
      ...indexerLines(endpoints).map((line) => `      ${line}`),
    ]),
  ];
}

function indexerLines(endpoints: readonly FoundEndpoint[]): readonly string[] {
  const common = commonAddress(endpoints);
  const dialect = endpoints[0]?.dialect ?? "";
  const deployment = dialect === "graph-status" ? ["deployment: QmDeployment"] : [];
  const chains = endpoints.flatMap((one) =>
    one.chains.map(({ slug }) => ({
      slug,
      own: [...(common === null ? addressOf(one) : []), ...deployment].join(", "),
    })),
  );
  return [
    `dialect: ${dialect}`,
    ...(common === null ? [] : addressOf(common)),
    ...(JSON.stringify(endpoints).includes("${")
      ? ["optional: true   # skipped, with a warning, while its variable is not set"]
      : []),
    ...(chains.every(({ own }) => own === "")
      ? [`chains: [${chains.map(({ slug }) => slug).join(", ")}]`]
      : ["chains:", ...chains.map(({ slug, own }) => `  ${slug}: { ${own} }`)]),
  ];
}

/** One URL for these endpoints, with a placeholder if their URLs differ in the chain's name only; null if they differ otherwise. */
function commonAddress(endpoints: readonly FoundEndpoint[]): Address | null {
  const [first, ...others] = endpoints.map(({ url, headers, chains: [chain] }) => ({
    url: endpoints.length === 1 ? url : url.replaceAll(chain?.slug ?? "", "{chain}"),
    headers,
  }));
  return first !== undefined && others.every(({ url }) => url === first.url && url.includes("{chain}"))
    ? first
    : null;
}

function addressOf({ url, headers }: Address): readonly string[] {
  const hasHeaders = Object.keys(headers).length > 0;
  return [`url: ${JSON.stringify(url)}`, ...(hasHeaders ? [`headers: ${JSON.stringify(headers)}`] : [])];
}
