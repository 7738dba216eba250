import type { Config } from "../../config/config.ts";
import {
  type Chain,
  type Endpoint,
  endpointsOf,
  type Fleet,
  statusEndpointOf,
} from "../../core/model/fleet.ts";
import { chainOfAge } from "../model/chain-model.ts";
import { type ServerKind, SIMULATED_CUSTOM } from "../servers/families.ts";
import { type EndpointSpec, type FleetOptions, type SimulatedFleet, startFleet } from "./simulated-fleet.ts";
import type { TargetBehaviour } from "./simulated-target.ts";

/**
 * Simulates the fleet of a configuration: one loopback server for each real origin, with the real paths, keys and chains.
 * The real fleet is not contacted. `config` is the same configuration with other URLs and hosts. The caller disposes the
 * fleet, whose endpoints and targets have the keys of the configuration.
 */
export async function mirrorFleet(
  config: Config,
  nowMs: () => number,
): Promise<{ readonly config: Config; readonly fleet: SimulatedFleet }> {
  const fleet = await startFleet(mirrorOf(config.fleet, nowMs));
  return { config: { ...config, fleet: withSimulatedUrls(config.fleet, fleet) }, fleet };
}

/** The chains and endpoints of a configured fleet, to be simulated. */
export function mirrorOf(fleet: Fleet, nowMs: () => number): FleetOptions {
  const endpoints = endpointsOf(fleet).flatMap((endpoint) =>
    [endpoint, statusEndpointOf(endpoint) ?? []].flat(),
  );
  return {
    nowMs,
    chains: fleet.chains.map((chain) =>
      chainOfAge({ slug: chain.slug, id: chain.id, blockTimeMs: blockTimeOf(chain) }, nowMs()),
    ),
    endpoints: endpoints.map((endpoint) => endpointSpec(endpoint, fleet)),
  };
}

/** The fallback is for a chain without a configured block time. */
function blockTimeOf(chain: Chain | undefined): number {
  return chain?.blockTimeMs ?? 2_000;
}

function endpointSpec(endpoint: Endpoint, { chains }: Fleet): EndpointSpec {
  const kind = guessServerKind(endpoint);
  const url = new URL(endpoint.url);
  const apiKey = apiKeyOf(endpoint);
  return {
    kind,
    key: endpoint.key,
    chains: endpoint.chain === null ? endpoint.targets.map(({ chain }) => chain) : [endpoint.chain],
    origin: url.host,
    path: url.pathname,
    behaviour: { latency: { minMs: 20, maxMs: 400 }, ...(apiKey === null ? {} : { apiKeys: [apiKey] }) },
    targetBehaviour: (slug) => {
      const own = endpoint.targets.find(({ chain }) => chain === slug)?.deployment;
      const deployment = own ?? endpoint.status?.deployment;
      const health = healthOf(kind, blockTimeOf(chains.find((chain) => chain.slug === slug)));
      return deployment === undefined ? health : { ...health, deployment };
    },
  };
}

/** The software that most likely runs at an endpoint: by its URL first, then by its dialect. */
function guessServerKind({ kind, url, dialect, targets }: Endpoint): ServerKind {
  const { hostname, pathname } = new URL(url);
  if (kind === "rpc" && dialect === "rpc") {
    return "rpc";
  }
  if (/^\/api\/(?:[^/]+\/)?(?:subgraphs|deployments)\/id\//.test(pathname)) {
    return "gateway";
  }
  if (hostname === "api.studio.thegraph.com") {
    return "studio";
  }
  switch (dialect) {
    case "ponder":
    case "squid":
    case "subquery":
    case "graph-status":
    case "custom":
    case "ponder-status":
    case "envio-metrics":
    case "erpc":
      return dialect;
    default: {
      const servesMany = dialect === "auto" && targets.length > 1;
      // The version that the public fleet runs.
      return dialect === "envio" || pathname.endsWith("/v1/graphql") || servesMany
        ? "envio-3.2"
        : "graph-node";
    }
  }
}

/** Healthy as the real fleet is: slightly behind the tip, and several indexers behind the gateway. */
function healthOf(kind: ServerKind, blockTimeMs: number): Partial<TargetBehaviour> {
  const blocksInMs = (durationMs: number): number => Math.max(1, Math.round(durationMs / blockTimeMs));
  switch (kind) {
    case "gateway":
      return { lagMs: 600, replicas: 3, wobbleBlocks: blocksInMs(3_000) };
    case "envio":
    case "envio-3.2":
    case "envio-2.27":
      return { lagMs: 300, batchBlocks: blocksInMs(1_000) };
    case "rpc":
    case "erpc":
      return { lagMs: 100 };
    default:
      return { lagMs: 800 };
  }
}

/** The key that a caller will send, so that the simulated gateway accepts it. */
function apiKeyOf({ headers, url }: Endpoint): string | null {
  const [, header] = Object.entries(headers).find(([name]) => name.toLowerCase() === "authorization") ?? [];
  const inPath = /\/api\/([^/]+)\/(?:subgraphs|deployments)\//.exec(new URL(url).pathname);
  return inPath?.[1] ?? /^Bearer (.+)$/.exec(header ?? "")?.[1] ?? null;
}

function withSimulatedUrls(real: Fleet, simulated: SimulatedFleet): Fleet {
  const placeOf = (key: string, realUrl: string) => {
    const { origin, host } = new URL(simulated.endpoint(key).url);
    const { pathname, search } = new URL(realUrl);
    return { url: `${origin}${pathname}${search}`, host };
  };
  const rewrite = (endpoint: Endpoint): Endpoint => {
    const { status, custom } = endpoint;
    return {
      ...endpoint,
      // The simulated server has a schema of its own, whatever the real query is.
      ...(custom === undefined ? {} : { custom: SIMULATED_CUSTOM }),
      ...(status === undefined
        ? {}
        : { status: { ...status, ...placeOf(statusEndpointOf(endpoint)?.key ?? "", status.url) } }),
      ...placeOf(endpoint.key, endpoint.url),
    };
  };
  return {
    ...real,
    indexers: real.indexers.map((indexer) => ({ ...indexer, endpoints: indexer.endpoints.map(rewrite) })),
    rpcEndpoints: real.rpcEndpoints.map(rewrite),
  };
}
