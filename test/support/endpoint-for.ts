import type { Endpoint } from "../../src/core/model/fleet.ts";
import type { SimulatedEndpoint } from "../../src/sim/fleet/simulated-endpoint.ts";
import { endpointOf, targetOf } from "./endpoints.ts";

/** The configured side of a simulated endpoint, with what a test wants otherwise. */
export function endpointFor(simulated: SimulatedEndpoint, wanted: Partial<Endpoint> = {}): Endpoint {
  const targets = simulated.targets.map(({ key, chain }) =>
    targetOf({ key, chain: chain.slug, chainId: chain.id }),
  );
  return endpointOf({ key: simulated.key, url: simulated.url, targets, ...wanted });
}
