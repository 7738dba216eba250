import type { Endpoint } from "../core/fleet.ts";

/** How long the first round takes to begin, so that a start asks no provider for everything at once. */
const SPREAD_MS = 4_000;

/**
 * When in the first round an endpoint is asked, in milliseconds after its start.
 *
 * It depends on the chain alone, so that all indexers of a chain are asked at the same instant. An endpoint of
 * several chains is asked in the middle, where it is nearest to all of them.
 */
export function spreadMs(endpoint: Endpoint): number {
  return endpoint.chain === null ? SPREAD_MS / 2 : hash(endpoint.chain) % SPREAD_MS;
}

/**
 * The order in which to ask endpoints that are due at one instant: chain by chain, so that what is compared is
 * asked together; endpoints of several chains in the middle. Chains stand in the order of their first endpoint.
 */
export function pollOrder(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const ofSeveral = endpoints.filter(({ chain }) => chain === null);
  const byChain = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    if (endpoint.chain !== null) {
      byChain.set(endpoint.chain, [...(byChain.get(endpoint.chain) ?? []), endpoint]);
    }
  }
  const chains = [...byChain.values()];
  const middle = Math.ceil(chains.length / 2);
  return [...chains.slice(0, middle).flat(), ...ofSeveral, ...chains.slice(middle).flat()];
}

/** FNV-1a: spreads short names evenly, and the same in every process. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (const char of text) {
    sum = Math.imul(sum ^ (char.codePointAt(0) ?? 0), 0x01000193);
  }
  return sum >>> 0;
}
