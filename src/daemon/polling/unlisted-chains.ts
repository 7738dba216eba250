import { type Endpoint, endpointsOf, type Fleet, indexerKey } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { memoize } from "../../core/model/memoize.ts";
import type { Report } from "../../core/model/report.ts";
import type { EndpointState } from "./endpoint-state.ts";

/** Each endpoint whose last reply named chains, with the ids of those that chains.yaml does not list for it. */
export function unlistedChains(fleet: Fleet, states: readonly EndpointState[]): Report["unlisted"] {
  const { byIndexer, byUrl } = listedIds(fleet);
  return states.flatMap(({ endpoint, served }) => {
    const listed = [...idsOf(byIndexer.get(indexerKey(endpoint))), ...idsOf(byUrl.get(endpoint.url))];
    return served === null
      ? []
      : [{ endpoint: endpoint.key, chain_ids: served.filter((id) => !listed.includes(id)) }];
  });
}

/** A chain may be listed at another endpoint of the indexer, or by another indexer behind the same URL. */
const listedIds = memoize((fleet: Fleet) => ({
  byIndexer: groupBy(endpointsOf(fleet), indexerKey),
  byUrl: groupBy(endpointsOf(fleet), ({ url }) => url),
}));

function idsOf(endpoints: readonly Endpoint[] = []): readonly number[] {
  return endpoints.flatMap(({ targets }) => targets.map(({ chainId }) => chainId));
}
