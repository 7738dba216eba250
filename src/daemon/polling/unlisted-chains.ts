import { type Endpoint, endpointsOf, type Fleet, indexerKey } from "../../core/model/fleet.ts";
import { memoize } from "../../core/model/memoize.ts";
import type { Report } from "../../core/model/report.ts";
import type { EndpointState } from "./endpoint-state.ts";

/** Each endpoint whose last reply named chains, with the ids of those that chains.yaml does not list for it. */
export function unlistedChains(fleet: Fleet, states: readonly EndpointState[]): Report["unlisted"] {
  const listed = listedChains(fleet);
  const isListed = (endpoint: Endpoint, id: number) => placesOf(endpoint, id).some((one) => listed.has(one));
  return states.flatMap(({ endpoint, served }) =>
    served === null
      ? []
      : [{ endpoint: endpoint.key, chain_ids: served.filter((id) => !isListed(endpoint, id)) }],
  );
}

const listedChains = memoize((fleet: Fleet): ReadonlySet<string> => {
  const listed = endpointsOf(fleet).flatMap((endpoint) =>
    endpoint.targets.flatMap(({ chainId }) => placesOf(endpoint, chainId)),
  );
  return new Set(listed);
});

/** A chain may be listed at another endpoint of the indexer, or by another indexer behind the same URL. */
function placesOf(endpoint: Endpoint, chainId: number): readonly string[] {
  return [`${indexerKey(endpoint)} ${chainId}`, `${endpoint.url} ${chainId}`];
}
