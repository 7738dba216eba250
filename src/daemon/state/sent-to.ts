import { destinationOf } from "../../budgets/accounts.ts";
import { endpointsOf, type Fleet } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";

/**
 * By the chain's slug, what tells each source of the chain from another with the same key: the chain id, and a digest of the
 * URL, which may hold a key.
 */
export function sentToByChain(fleet: Fleet): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const ids = new Map(fleet.chains.map(({ slug, id }) => [slug, id]));
  const sources = endpointsOf(fleet).flatMap((endpoint) => {
    const destination = destinationOf(endpoint.url);
    const own =
      endpoint.kind === "rpc" ? [{ key: endpoint.key, chain: endpoint.chain ?? "" }] : endpoint.targets;
    return own.map(({ key, chain }) => ({ key, chain, sentTo: `${ids.get(chain) ?? ""} ${destination}` }));
  });
  return new Map(
    [...groupBy(sources, ({ chain }) => chain)].map(([slug, own]) => [
      slug,
      Object.fromEntries(own.map(({ key, sentTo }) => [key, sentTo])),
    ]),
  );
}
