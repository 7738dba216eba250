import type { Endpoint } from "../core/fleet.ts";

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
