import {
  type EndpointSpec,
  type FleetOptions,
  type SimulatedFleet,
  startFleet as startExactly,
} from "../../src/sim/fleet/simulated-fleet.ts";
import { chainOfAge } from "../../src/sim/model/chain-model.ts";
import { hexAt } from "../../src/sim/model/random.ts";
import type { ServerKind } from "../../src/sim/servers/families.ts";

/** An endpoint of a test's fleet: only `kind` is required. */
export type TestEndpoint = Pick<EndpointSpec, "kind"> & Partial<EndpointSpec>;

/** Base (2 s), Ethereum (12 s) and Arbitrum One (0.25 s), each a few years old. */
const CHAINS = [
  { slug: "base", id: 8453, blockTimeMs: 2_000 },
  { slug: "ethereum", id: 1, blockTimeMs: 12_000 },
  { slug: "arbitrum", id: 42161, blockTimeMs: 250 },
];

/** Starts a fleet whose endpoints serve its first chain, at the paths of the real software. */
export function startFleet({
  nowMs,
  endpoints,
  chains = CHAINS.map((chain) => chainOfAge(chain, nowMs())),
}: Pick<FleetOptions, "nowMs"> &
  Partial<Pick<FleetOptions, "chains">> & {
    readonly endpoints: readonly TestEndpoint[];
  }): Promise<SimulatedFleet> {
  const slugs = chains.slice(0, 1).map(({ slug }) => slug);
  return startExactly({
    nowMs,
    chains,
    endpoints: endpoints.map(({ kind, key = kind, ...spec }) => {
      const origin = ["ponder", "rpc", "graph-status"].includes(kind) ? key : kind;
      return { kind, key, chains: slugs, origin, path: usualPath(kind, key), ...spec };
    }),
  });
}

function usualPath(kind: ServerKind, key: string): string {
  const slug = key.replace(/[^a-z0-9]+/g, "-");
  const [envio, metrics] = [`/${hexAt(key, 7)}/v1/graphql`, `/${slug}/metrics`];
  const paths: Readonly<Record<ServerKind, string>> = {
    gateway: `/api/subgraphs/id/${hexAt(key, 44)}`,
    studio: `/query/112500/${slug}/version/latest`,
    "graph-node": `/subgraphs/name/simulated/${slug}`,
    ...{ envio, "envio-3.2": envio, "envio-2.27": envio, "envio-metrics": metrics, erpc: metrics },
    squid: `/${slug}/graphql`,
    subquery: `/sq/simulated/${slug}`,
    "graph-status": "/graphql",
    custom: `/${slug}/api`,
    "ponder-status": "/status",
    ...{ ponder: "/", rpc: "/" },
  };
  return paths[kind];
}
