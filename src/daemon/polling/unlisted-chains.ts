import { type Endpoint, endpointsOf, type Fleet, indexerKey } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { memoize } from "../../core/model/memoize.ts";
import type { Report } from "../../core/model/report.ts";
import type { EndpointState } from "./endpoint-state.ts";

/** Each endpoint whose last reply named chains, with the ids of those that chains.yaml does not list for it. */
export function unlistedChains(fleet: Fleet, states: readonly EndpointState[]): Report["unlisted"] {
  const { byIndexer, byUrl } = listedIds(fleet);
  return states.flatMap(({ endpoint, served }) => {
    if (served === null) {
      return [];
    }
    const listed = [byIndexer.get(indexerKey(endpoint)), byUrl.get(endpoint.url)];
    const unlisted = served.filter((id) => !listed.some((ids) => ids?.has(id)));
    return [{ endpoint: endpoint.key, chain_ids: unlisted }];
  });
}

/** A chain may be listed at another endpoint of the indexer, or by another indexer behind the same URL. */
const listedIds = memoize((fleet: Fleet) => ({
  byIndexer: idsBy(fleet, indexerKey),
  byUrl: idsBy(fleet, ({ url }) => url),
}));

function idsBy(
  fleet: Fleet,
  keyOf: (endpoint: Endpoint) => string,
): ReadonlyMap<string, ReadonlySet<number>> {
  const groups = [...groupBy(endpointsOf(fleet), keyOf)];
  return new Map(groups.map(([key, endpoints]) => [key, new Set(endpoints.flatMap(chainIdsOf))]));
}

function chainIdsOf({ targets }: Endpoint): readonly number[] {
  return targets.map(({ chainId }) => chainId);
}
