import { type Endpoint, endpointsOf, type Fleet, indexerKey } from "../../core/model/fleet.ts";
import { memoize } from "../../core/model/memoize.ts";
import type { Report } from "../../core/model/report.ts";
import type { EndpointState } from "./endpoint-state.ts";

/** Each endpoint whose last reply named chains, with the ids of the chains that chains.yaml does not list for it. */
export function unlistedChains(fleet: Fleet, states: readonly EndpointState[]): Report["unlisted"] {
  return states.flatMap(({ endpoint, served }) => {
    const ids = served?.filter(
      (id) => !placesOf(endpoint, id).some((place) => listedChains(fleet).has(place)),
    );
    return ids === undefined ? [] : [{ endpoint: endpoint.key, chain_ids: ids }];
  });
}

const listedChains = memoize((fleet: Fleet): ReadonlySet<string> => {
  const placesIn = (one: Endpoint) => one.targets.flatMap(({ chainId }) => placesOf(one, chainId));
  return new Set(endpointsOf(fleet).flatMap(placesIn));
});

/** A chain may be listed at another endpoint of the indexer, or by another indexer behind the same URL. */
function placesOf(endpoint: Endpoint, chainId: number): readonly string[] {
  return [`${indexerKey(endpoint)} ${chainId}`, `${endpoint.url} ${chainId}`];
}
