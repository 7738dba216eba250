import { ROWS } from "./well-known-chain-rows.ts";

/** Defaults of a chain for which chains.yaml has only an id. */
export interface WellKnownChain {
  readonly id: number;
  /** What `synclag probe` and `synclag init` call it. */
  readonly slug: string;
  readonly name: string;
  /** The published time between two blocks, or null: a first guess until it is measured. */
  readonly blockTimeMs: number | null;
  readonly testnet: boolean;
  /** A block explorer, or null; without a slash at its end. */
  readonly explorer: string | null;
}

const CHAINS: ReadonlyMap<number, WellKnownChain> = new Map(
  ROWS.map(([id, slug, name, blockTimeMs, testnet, explorer]) => [
    id,
    { id, slug, name, blockTimeMs, testnet, explorer },
  ]),
);

/** The well-known chain with this id, or null. */
export function wellKnownChain(id: number): WellKnownChain | null {
  return CHAINS.get(id) ?? null;
}

/** The well-known chain that a URL names, such as `…/airdrops-base-sepolia`; the longest name wins. Null: no known name. */
export function wellKnownChainIn(url: string): WellKnownChain | null {
  const words = `-${url.toLowerCase().replace(/[^a-z0-9]+/g, "-")}-`;
  const named = [...CHAINS.values()].filter(({ slug }) => words.includes(`-${slug}-`));
  return named.sort((a, b) => b.slug.length - a.slug.length)[0] ?? null;
}
