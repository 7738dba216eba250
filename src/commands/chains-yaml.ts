import { stringify } from "yaml";
import type { Headers } from "../config/address.ts";
import { writtenKeys } from "../config/secrets.ts";
import { wellKnownChain, wellKnownChainIn } from "../config/well-known-chains.ts";
import { looksLikeKey } from "../core/model/redact.ts";
import type { Attempt } from "./ask-endpoint.ts";

/** An endpoint whose dialect and chains are known. */
export interface FoundEndpoint {
  /** The URL and headers, with `${VARIABLE}` instead of each key. */
  readonly address: { readonly url: string; readonly headers?: Headers };
  readonly dialect: string;
  readonly chains: readonly { readonly id: number; readonly slug: string }[];
}

/** The endpoint that replied, with the chains that its reply names. A row without a chain gets the chain `chainId`. */
export function endpointOf(
  { url, dialect, rows }: Pick<Attempt, "url" | "dialect" | "rows">,
  headers: Headers,
  variables: KeyVariables,
  chainId: number | null,
): FoundEndpoint {
  const written = variables.inHeaders(headers);
  const address = { url: variables.inUrl(url), ...(Object.keys(headers).length > 0 && { headers: written }) };
  const ids = [...new Set(rows.flatMap((row) => row.chainId ?? chainId ?? []))];
  const chains = ids.map((id) => ({ id, slug: wellKnownChain(id)?.slug ?? `chain-${id}` }));
  return { address, dialect, chains };
}

/** The heads of two chains rarely differ by less. The height of a subgraph that is hours behind is this near its chain's head. */
const SAME_HEIGHT = 0.01;

/**
 * Finds the chain of an endpoint whose reply names no chain. A name in the URL wins, then the only chain in `replies` with a
 * similar height, then the `given` chain. For a single endpoint, the given chain wins. Null: unknown, or the reply names a chain.
 */
export function chainOfNameless(
  { url, rows }: Pick<Attempt, "url" | "rows">,
  replies: readonly Pick<Attempt, "url" | "rows">[],
  given: { readonly id: number | null; readonly isOnly: boolean },
): { readonly id: number; readonly why: string } | null {
  if (rows.some(({ chainId }) => chainId !== null)) {
    return null;
  }
  const byUser = given.id === null ? null : { id: given.id, why: "by --chain-id" };
  const named = wellKnownChainIn(url);
  const byName = named && { id: named.id, why: "named in the URL" };
  return (given.isOnly ? byUser : null) ?? byName ?? chainOfHeight(rows, replies) ?? byUser;
}

function chainOfHeight(rows: Attempt["rows"], replies: readonly Pick<Attempt, "url" | "rows">[]) {
  const [own] = headsOf(rows);
  const near = replies.flatMap((other) =>
    headsOf(other.rows).flatMap(({ chainId, block }) =>
      chainId !== null && own !== undefined && Math.abs(1 - own.block / block) < SAME_HEIGHT
        ? [{ id: chainId, why: `by its height, near that of ${other.url}` }]
        : [],
    ),
  );
  return new Set(near.map(({ id }) => id)).size === 1 ? (near[0] ?? null) : null;
}

function headsOf(rows: Attempt["rows"]) {
  return rows.flatMap(({ chainId, content }) =>
    content.kind === "head" ? [{ chainId, block: content.head.block }] : [],
  );
}

/** A chains.yaml for these endpoints. `config check` accepts it if one of them is an indexer. */
export function chainsYaml(found: readonly FoundEndpoint[]): string {
  const protocols = groupByProtocol(found.filter(({ dialect }) => dialect !== "rpc"));
  const names = unique(protocols.map(({ name }) => name ?? "my-protocol"));
  const entries = protocols.map(({ endpoints }, index): [string, unknown] => [
    names[index] ?? "",
    variantsOf(endpoints),
  ]);
  const config = {
    version: 1,
    chains: chainEntries(found),
    ...(protocols.length === 0 ? {} : { protocols: Object.fromEntries(entries) }),
  };
  return stringify(config, { lineWidth: 0 });
}

/** The chains by their slugs, each with its RPC nodes. */
function chainEntries(found: readonly FoundEndpoint[]) {
  const chains: Record<string, { readonly id: number; rpc?: readonly unknown[] }> = {};
  for (const { address, dialect, chains: served } of found) {
    for (const { id, slug } of served) {
      const chain = chains[slug] ?? { id };
      const node = address.headers === undefined ? address.url : address;
      chains[slug] = dialect === "rpc" ? { ...chain, rpc: [...(chain.rpc ?? []), node] } : chain;
    }
  }
  return chains;
}

interface Protocol {
  /** The name that its URLs have; null if they have none. */
  name: string | null;
  readonly endpoints: FoundEndpoint[];
}

/**
 * Groups endpoints by protocol. An endpoint joins the first protocol that has its name and no endpoint with the same host,
 * dialect and chain. An endpoint or protocol without a name matches any name.
 */
function groupByProtocol(found: readonly FoundEndpoint[]): readonly Protocol[] {
  const protocols: Protocol[] = [];
  for (const endpoint of found) {
    const name = nameIn(endpoint);
    const slugs = new Set(endpoint.chains.map(({ slug }) => slug));
    const servesSame = (other: FoundEndpoint): boolean =>
      serviceOf(other) === serviceOf(endpoint) && other.chains.some(({ slug }) => slugs.has(slug));
    const own = protocols.find(
      (one) => (name === null || one.name === null || one.name === name) && !one.endpoints.some(servesSame),
    );
    if (own === undefined) {
      protocols.push({ name, endpoints: [endpoint] });
    } else {
      own.name ??= name;
      own.endpoints.push(endpoint);
    }
  }
  return protocols;
}

/** The dialect and the host of an endpoint. */
function serviceOf({ address, dialect }: FoundEndpoint): string {
  return `${dialect} ${new URL(address.url.replace(/\$\{[^}]*\}/g, "x")).host}`;
}

const GENERIC =
  /^(?:api|query|public|subgraphs?|deployments?|name|id|version|latest|graphql|gn|status|metrics|meta|health|v\d+)$/;

/** The last name in the path of a URL, without the chain: `airdrops` in `…/query/112500/airdrops-base/version/latest`. */
function nameIn({ address, chains }: FoundEndpoint): string | null {
  const path = address.url.replace(/^https?:\/\/[^/]*|[?#].*$/gi, "").toLowerCase();
  const names = path
    .split("/")
    .map((part) => chains.reduce((rest, { slug }) => rest.replace(new RegExp(`-?\\b${slug}\\b`), ""), part))
    .filter((part) => /^[a-z][a-z0-9-]*$/.test(part) && !/^[0-9a-f]+$/.test(part))
    .filter((part) => !GENERIC.test(part) && !looksLikeKey(part));
  return names.at(-1)?.replace(/-+$/, "") ?? null;
}

/** The names, with a number after each repeated one. */
function unique(names: readonly string[]): readonly string[] {
  return names.map((name, index) => {
    const before = names.slice(0, index).filter((other) => other === name).length;
    return before === 0 ? name : `${name}-${before + 1}`;
  });
}

/** The indexers of a protocol. Endpoints of one dialect become one indexer if each has one chain, and no chain repeats. */
function variantsOf(endpoints: readonly FoundEndpoint[]): readonly object[] {
  const indexers: (readonly [FoundEndpoint, ...FoundEndpoint[]])[] = [];
  for (const endpoint of endpoints) {
    const at = indexers.findIndex((others) =>
      others.every((other) => other.dialect === endpoint.dialect && haveDifferentChains(other, endpoint)),
    );
    const [first, ...others] = indexers[at] ?? [endpoint];
    indexers.splice(at < 0 ? indexers.length : at, 1, at < 0 ? [endpoint] : [first, ...others, endpoint]);
  }
  const names = unique(indexers.map(([first]) => variantOf(first.dialect)));
  return indexers.map((all, index) => {
    const [first, ...others] = all;
    return {
      variant: names[index],
      dialect: first.dialect,
      ...(others.length === 0 ? first.address : {}),
      // The daemon skips the indexer, with a warning, while the variable is not set.
      ...(JSON.stringify(all).includes("${") ? { optional: true } : {}),
      chains:
        others.length === 0
          ? first.chains.map(({ slug }) => slug)
          : Object.fromEntries(all.flatMap((one) => one.chains.map(({ slug }) => [slug, one.address]))),
    };
  });
}

function haveDifferentChains(one: FoundEndpoint, other: FoundEndpoint): boolean {
  return (
    one.chains.length === 1 && other.chains.length === 1 && one.chains[0]?.slug !== other.chains[0]?.slug
  );
}

function variantOf(dialect: string): string {
  return dialect === "graph" ? "subgraph" : dialect.replace(/-(?:metrics|meta)$/, "");
}

/** Replaces values that look like keys by `${VARIABLE}`, so that no file or output contains a key. Equal keys get one name. */
export class KeyVariables {
  readonly #namesByKey = new Map<string, string>();
  readonly #taken: Set<string>;

  /** Variables that the user typed in `written` keep their names. */
  constructor(written: readonly string[]) {
    this.#taken = new Set([...written.join(" ").matchAll(/\$\{(\w+)\}/g)].flatMap(([, name]) => name ?? []));
  }

  /** The variables that must be set, including the variables that the user typed. */
  get names(): readonly string[] {
    return [...this.#taken];
  }

  /** The keys by the names of their variables. */
  get values(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#namesByKey].map(([key, name]) => [name, key]));
  }

  inUrl(written: string): string {
    return writtenKeys(written).reduce(
      (url, { before, key, kind }) =>
        url.replaceAll(`${before}${key}`, () => `${before}\${${this.#nameOf(key, `ENDPOINT_${kind}`)}}`),
      written,
    );
  }

  inHeaders(headers: Headers): Headers {
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => {
        const [, scheme = "", key = ""] = /^((?:Basic|Bearer|Token) +)?(.*)$/i.exec(value) ?? [];
        return [name, value.includes("${") ? value : `${scheme}\${${this.#nameOf(key, name)}}`];
      }),
    );
  }

  #nameOf(key: string, proposed: string): string {
    const base = proposed.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
    let name = this.#namesByKey.get(key) ?? base;
    for (let count = 2; !this.#namesByKey.has(key) && this.#taken.has(name); count += 1) {
      name = `${base}_${count}`;
    }
    this.#namesByKey.set(key, name);
    this.#taken.add(name);
    return name;
  }
}
