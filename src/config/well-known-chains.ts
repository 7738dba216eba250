import { readFileSync } from "node:fs";

/** `blockTimeMs` and `explorer` are null if they are not published. */
type ChainRow = readonly [
  id: number,
  slug: string,
  name: string,
  blockTimeMs: number | null,
  testnet: boolean,
  explorer: string | null,
];

const FILE = new URL("../../assets/well-known-chains.json", import.meta.url);
const { chains } = JSON.parse(readFileSync(FILE, "utf8")) as { readonly chains: readonly ChainRow[] };

/** The well-known chains by id. Their published block times are a first guess of the pace. */
const CHAINS = new Map(
  chains.map(([id, slug, name, blockTimeMs, testnet, explorer]) => [
    id,
    { id, slug, name, blockTimeMs, testnet, explorer },
  ]),
);

/** The well-known chain with this id, or null. */
export function wellKnownChain(id: number) {
  return CHAINS.get(id) ?? null;
}

/** The well-known chain that a URL names, such as `…/airdrops-base-sepolia`; the longest slug wins. Null: it names none. */
export function wellKnownChainIn(url: string) {
  const words = `-${url.toLowerCase().replace(/[^a-z0-9]+/g, "-")}-`;
  const named = [...CHAINS.values()].filter(({ slug }) => words.includes(`-${slug}-`));
  return named.sort((a, b) => b.slug.length - a.slug.length)[0] ?? null;
}

/** The well-known chain of this slug, or null. */
export function wellKnownChainCalled(slug: string) {
  return [...CHAINS.values()].find((chain) => chain.slug === slug) ?? null;
}
