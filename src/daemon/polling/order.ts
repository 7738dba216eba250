import type { Endpoint } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";

/**
 * The order in which to ask endpoints that are due at one instant: chain by chain, so that what is compared is
 * asked together; endpoints of several chains in the middle. Chains stand in the order of their first endpoint.
 */
export function pollOrder(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const byChain = groupBy(endpoints, ({ chain }) => chain);
  const ofSeveral = byChain.get(null) ?? [];
  const chains = [...byChain.values()].filter((group) => group !== ofSeveral);
  const middle = Math.ceil(chains.length / 2);
  return [...chains.slice(0, middle).flat(), ...ofSeveral, ...chains.slice(middle).flat()];
}
