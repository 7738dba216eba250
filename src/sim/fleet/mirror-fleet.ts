import type { Config } from "../../config/config.ts";
import { type Endpoint, endpointsOf, type Fleet, statusEndpointOf } from "../../core/model/fleet.ts";
import { chainOfAge } from "../model/chain-model.ts";
import { isServerKind, type ServerKind } from "../servers/families.ts";
import { type EndpointSpec, type FleetOptions, type SimulatedFleet, startFleet } from "./simulated-fleet.ts";
import type { TargetBehaviour } from "./simulated-target.ts";

/**
 * Simulates the fleet of a configuration: one loopback server for each real origin, with the real paths, keys and chains.
 * The real fleet is not contacted. Returns the configuration with the URLs and hosts of the simulated fleet, and the fleet,
 * which the caller disposes.
 */
export async function mirrorFleet(
  config: Config,
  nowMs: () => number,
): Promise<{ readonly config: Config; readonly fleet: SimulatedFleet }> {
  const fleet = await startFleet(mirrorOf(config.fleet, nowMs));
  return { config: { ...config, fleet: withSimulatedUrls(config.fleet, fleet) }, fleet };
}

/** The options of a simulated fleet with the chains and endpoints of a configured one. */
export function mirrorOf(fleet: Fleet, nowMs: () => number): FleetOptions {
  const endpoints = endpointsOf(fleet).flatMap((one) => [one, statusEndpointOf(one) ?? []].flat());
  return {
    nowMs,
    chains: fleet.chains.map(({ slug, id, blockTimeMs }) =>
      chainOfAge({ slug, id, blockTimeMs: blockTimeMs ?? USUAL_BLOCK_TIME_MS }, nowMs()),
    ),
    endpoints: endpoints.map((endpoint) => endpointSpec(endpoint, fleet)),
  };
}

/** The block time of a chain without a configured or well-known one. */
const USUAL_BLOCK_TIME_MS = 2_000;

function endpointSpec(endpoint: Endpoint, { chains }: Fleet): EndpointSpec {
  const kind = serverKindOf(endpoint);
  const url = new URL(endpoint.url);
  return {
    kind,
    key: endpoint.key,
    chains: endpoint.chain === null ? endpoint.targets.map(({ chain }) => chain) : [endpoint.chain],
    origin: url.host,
    path: url.pathname,
    latency: { minMs: 20, maxMs: 400 },
    targetBehaviour: (slug) => {
      const own = endpoint.targets.find(({ chain }) => chain === slug)?.deployment;
      const deployment = own ?? endpoint.status?.deployment;
      const chain = chains.find((one) => one.slug === slug);
      const health = healthOf(kind, chain?.blockTimeMs ?? USUAL_BLOCK_TIME_MS);
      return deployment === undefined ? health : { ...health, deployment };
    },
  };
}

/** The software that most likely runs at an endpoint, judged by the URL first, then by the dialect. */
function serverKindOf({ url, dialect, targets }: Endpoint): ServerKind {
  const { hostname, pathname } = new URL(url);
  if (/^\/api\/(?:[^/]+\/)?(?:subgraphs|deployments)\/id\//.test(pathname)) {
    return "gateway";
  }
  if (hostname === "api.studio.thegraph.com") {
    return "studio";
  }
  const servesMany = dialect === "auto" && targets.length > 1;
  if (dialect === "envio" || pathname.endsWith("/v1/graphql") || servesMany) {
    // The packaged chains.yaml polls a fleet with this version.
    return "envio-3.2";
  }
  return isServerKind(dialect) ? dialect : "graph-node";
}

/** The behaviour of a healthy target: slightly behind the head, and with several indexers behind the gateway. */
function healthOf(kind: ServerKind, blockTimeMs: number): Partial<TargetBehaviour> {
  const blocksInMs = (durationMs: number): number => Math.max(1, Math.round(durationMs / blockTimeMs));
  switch (kind) {
    case "gateway":
      return { lagMs: 600, replicas: 3, wobbleBlocks: blocksInMs(3_000) };
    case "envio-3.2":
      return { lagMs: 300, batchBlocks: blocksInMs(1_000) };
    case "rpc":
    case "erpc":
      return { lagMs: 100 };
    default:
      return { lagMs: 800 };
  }
}

function withSimulatedUrls(real: Fleet, simulated: SimulatedFleet): Fleet {
  const placeOf = (key: string, realUrl: string) => {
    const { origin, host } = new URL(simulated.endpoint(key).url);
    const { pathname, search } = new URL(realUrl);
    return { url: `${origin}${pathname}${search}`, host };
  };
  const rewrite = (endpoint: Endpoint): Endpoint => {
    const { status } = endpoint;
    const statusKey = statusEndpointOf(endpoint)?.key ?? "";
    return {
      ...endpoint,
      ...(status && { status: { ...status, ...placeOf(statusKey, status.url) } }),
      ...placeOf(endpoint.key, endpoint.url),
    };
  };
  return {
    ...real,
    digest: null,
    indexers: real.indexers.map((indexer) => ({ ...indexer, endpoints: indexer.endpoints.map(rewrite) })),
    rpcEndpoints: real.rpcEndpoints.map(rewrite),
  };
}
