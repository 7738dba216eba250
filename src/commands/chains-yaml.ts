import { stringify } from "yaml";
import type { Headers } from "../config/address.ts";
import { writtenKeys } from "../config/secrets.ts";
import { wellKnownChain, wellKnownChainIn } from "../config/well-known-chains.ts";
import { looksLikeKey } from "../core/model/redact.ts";
import type { Attempt } from "./ask-endpoint.ts";

/** An endpoint whose dialect and chains are known. URL and headers are without keys. */
export interface FoundEndpoint {
  readonly url: string;
  readonly headers: Headers;
  readonly dialect: string;
  readonly chains: readonly FoundChain[];
}

interface FoundChain {
  readonly id: number;
  readonly slug: string;
}

/** The chains of the reply, else the given chain, else the chain in the URL, else no chain. */
export function chainsOf(url: string, given: number | null, { rows }: Attempt): readonly FoundChain[] {
  const ids = [...new Set(rows.flatMap(({ chainId }) => chainId ?? given ?? []))];
  const named = ids.length > 0 || rows.length === 0 ? null : wellKnownChainIn(url);
  return named === null
    ? ids.map((id) => ({ id, slug: wellKnownChain(id)?.slug ?? `chain-${id}` }))
    : [{ id: named.id, slug: named.slug }];
}

/** A chains.yaml for these endpoints: `config check` accepts it if one of them is an indexer. */
export function chainsYaml(found: readonly FoundEndpoint[]): string {
  const indexers = found.filter(({ dialect }) => dialect !== "rpc");
  const protocols = groupByProtocol(indexers);
  const names = unique(protocols.map(({ name }) => name ?? "my-protocol"));
  const entries = protocols.map((protocol, index): [string, unknown] => [
    names[index] ?? "",
    variantsOf(protocol.indexers),
  ]);
  const config = {
    version: 1,
    chains: chainEntries(found),
    ...(indexers.length === 0 ? {} : { protocols: Object.fromEntries(entries) }),
  };
  return stringify(config, { lineWidth: 0 });
}

/** The chains by their slugs, each with its RPC nodes. */
function chainEntries(found: readonly FoundEndpoint[]) {
  const chains: Record<string, { readonly id: number; rpc?: readonly unknown[] }> = {};
  for (const endpoint of found) {
    for (const { id, slug } of endpoint.chains) {
      const chain = chains[slug] ?? { id };
      chains[slug] =
        endpoint.dialect === "rpc" ? { ...chain, rpc: [...(chain.rpc ?? []), addressOf(endpoint)] } : chain;
    }
  }
  return chains;
}

interface Protocol {
  /** What the URLs call it; null where they have no name. */
  name: string | null;
  /** Several endpoints of one indexer are of one host and dialect, each of another chain. */
  readonly indexers: FoundEndpoint[][];
}

/**
 * An endpoint belongs to the first protocol of its name in which no other endpoint of its host and dialect has one of its
 * chains. Without a name in its URL, it belongs to the first such protocol of any name.
 */
function groupByProtocol(found: readonly FoundEndpoint[]): readonly Protocol[] {
  const protocols: Protocol[] = [];
  for (const endpoint of found) {
    const name = nameIn(endpoint);
    const isOfService = (other: FoundEndpoint): boolean =>
      other.dialect === endpoint.dialect && hostOf(other) === hostOf(endpoint);
    const slugs = new Set(endpoint.chains.map(({ slug }) => slug));
    const isRival = (other: FoundEndpoint): boolean =>
      isOfService(other) && other.chains.some(({ slug }) => slugs.has(slug));
    let own = protocols.find(
      (one) =>
        (name === null || one.name === null || one.name === name) && !one.indexers.flat().some(isRival),
    );
    if (own === undefined) {
      own = { name, indexers: [] };
      protocols.push(own);
    }
    own.name ??= name;
    const indexer = own.indexers.find((one) =>
      [...one, endpoint].every((other) => other.chains.length === 1 && isOfService(other)),
    );
    if (indexer === undefined) {
      own.indexers.push([endpoint]);
    } else {
      indexer.push(endpoint);
    }
  }
  return protocols;
}

function hostOf({ url }: FoundEndpoint): string {
  return new URL(url.replace(/\$\{[^}]*\}/g, "x")).host;
}

const GENERIC =
  /^(?:api|query|public|subgraphs?|deployments?|name|id|version|latest|graphql|gn|status|metrics|meta|health|v\d+)$/;

/** The last part of a path that is a name, without its chain: `airdrops` in `…/query/112500/airdrops-base/version/latest`. */
function nameIn({ url, chains }: FoundEndpoint): string | null {
  const path = url.replace(/^https?:\/\/[^/]*|[?#].*$/gi, "").toLowerCase();
  const names = path
    .split("/")
    .map((part) => chains.reduce((rest, { slug }) => rest.replace(new RegExp(`-?\\b${slug}\\b`), ""), part))
    .filter((part) => /^[a-z][a-z0-9-]*$/.test(part) && !/^[0-9a-f]+$/.test(part))
    .filter((part) => !GENERIC.test(part) && !looksLikeKey(part));
  return names.at(-1)?.replace(/-+$/, "") ?? null;
}

/** With a number behind each name that was there before. */
function unique(names: readonly string[]): readonly string[] {
  return names.map((name, index) => {
    const before = names.slice(0, index).filter((other) => other === name).length;
    return before === 0 ? name : `${name}-${before + 1}`;
  });
}

function variantsOf(indexers: readonly (readonly FoundEndpoint[])[]): readonly object[] {
  const dialects = indexers.map(([first]) => first?.dialect ?? "");
  const variants = unique(
    dialects.map((dialect) => (dialect === "graph" ? "subgraph" : dialect.replace(/-(?:metrics|meta)$/, ""))),
  );
  return indexers.map((endpoints, index) => {
    const [first, second] = endpoints;
    const isOne = first !== undefined && second === undefined;
    return {
      variant: variants[index],
      dialect: dialects[index],
      ...(isOne ? withHeaders(first) : {}),
      // Skipped, with a warning, while its variable is not set.
      ...(JSON.stringify(endpoints).includes("${") ? { optional: true } : {}),
      chains: isOne
        ? first.chains.map(({ slug }) => slug)
        : Object.fromEntries(
            endpoints.flatMap((one) => one.chains.map(({ slug }) => [slug, withHeaders(one)])),
          ),
    };
  });
}

function addressOf(endpoint: FoundEndpoint): unknown {
  return Object.keys(endpoint.headers).length === 0 ? endpoint.url : withHeaders(endpoint);
}

function withHeaders({ url, headers }: FoundEndpoint): object {
  return Object.keys(headers).length === 0 ? { url } : { url, headers };
}

/** Replaces values that look like keys by `${VARIABLE}`, so that no file or output contains a key. Equal keys get one name. */
export class KeyVariables {
  readonly #namesByKey = new Map<string, string>();
  readonly #taken: Set<string>;

  /** Variables in `written`, what was typed, keep their names. */
  constructor(written: readonly string[]) {
    this.#taken = new Set([...written.join(" ").matchAll(/\$\{(\w+)\}/g)].flatMap(([, name]) => name ?? []));
  }

  /** The variables that must be set, including those in the given URLs. */
  get names(): readonly string[] {
    return [...this.#taken];
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
