import { endpointsOf, type Fleet, indexerKey } from "../../core/model/fleet.ts";
import { memoize } from "../../core/model/memoize.ts";
import type { Report } from "../../core/model/report.ts";
import type { EndpointState } from "./endpoint-state.ts";

/** Each endpoint whose last reply named chains, with the ids of those that chains.yaml does not list for it. */
export function unlistedChains(fleet: Fleet, states: readonly EndpointState[]): Report["unlisted"] {
  const listed = listedChains(fleet);
  return states.flatMap(({ endpoint, served }) => {
    const unlisted = served?.filter(
      (id) => !listed.has(`${indexerKey(endpoint)} ${id}`) && !listed.has(`${endpoint.url} ${id}`),
    );
    return unlisted === undefined ? [] : [{ endpoint: endpoint.key, chain_ids: unlisted }];
  });
}

/** A chain may be listed at another endpoint of the indexer, or by another indexer behind the same URL. */
const listedChains = memoize(
  (fleet: Fleet): ReadonlySet<string> =>
    new Set(
      endpointsOf(fleet).flatMap((endpoint) =>
        endpoint.targets.flatMap(({ chainId }) => [
          `${indexerKey(endpoint)} ${chainId}`,
          `${endpoint.url} ${chainId}`,
        ]),
      ),
    ),
);
