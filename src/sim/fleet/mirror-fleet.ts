import type { Config } from "../../config/config.ts";
import {
  type Endpoint,
  endpointsOf,
  type Fleet,
  type StatusApi,
  statusEndpointOf,
} from "../../core/model/fleet.ts";
import type { ChainSpec } from "../model/chain-model.ts";
import { chainOfAge } from "../model/usual-chains.ts";
import { SIMULATED_CUSTOM_QUERY } from "../servers/custom.ts";
import type { EndpointSpec } from "./endpoint-spec.ts";
import { guessServerKind } from "./server-kind.ts";
import { type FleetOptions, type SimulatedFleet, startFleet } from "./simulated-fleet.ts";
import type { TargetBehaviour } from "./simulated-target.ts";

/** A configuration with every endpoint simulated on loopback. */
export interface MirroredFleet {
  /** The same configuration with other URLs and hosts. */
  readonly config: Config;
  /** Its endpoints and targets have the keys of the configuration. */
  readonly fleet: SimulatedFleet;
}

/** For a chain without a configured block time. */
const FALLBACK_BLOCK_TIME_MS = 2_000;

/**
 * Simulates the fleet of a configuration: one loopback server for each real origin, with the real paths, keys and chains.
 * The real fleet is not contacted. The caller disposes the fleet.
 */
export async function mirrorFleet(config: Config, nowMs: () => number): Promise<MirroredFleet> {
  const fleet = await startFleet(mirrorOf(config.fleet, nowMs));
  return { config: { ...config, fleet: withSimulatedUrls(config.fleet, fleet) }, fleet };
}

/** The chains and endpoints of a configured fleet, to be simulated. */
export function mirrorOf(fleet: Fleet, nowMs: () => number): FleetOptions {
  const endpoints = endpointsOf(fleet).flatMap((endpoint) => {
    const status = statusEndpointOf(endpoint);
    return status === null ? [endpoint] : [endpoint, status];
  });
  return {
    nowMs,
    chains: fleet.chains.map((chain) => chainSpec(chain, nowMs())),
    endpoints: endpoints.map((endpoint) => endpointSpec(endpoint, fleet)),
  };
}

function chainSpec(chain: Fleet["chains"][number], nowMs: number): ChainSpec {
  const blockTimeMs = chain.blockTimeMs ?? FALLBACK_BLOCK_TIME_MS;
  return chainOfAge({ slug: chain.slug, id: chain.id, blockTimeMs }, nowMs);
}

function blockTimeOf(chains: Fleet["chains"], slug: string): number {
  return chains.find((chain) => chain.slug === slug)?.blockTimeMs ?? FALLBACK_BLOCK_TIME_MS;
}

function endpointSpec(endpoint: Endpoint, { budgets, chains }: Fleet): EndpointSpec {
  const kind = guessServerKind(endpoint);
  const url = new URL(endpoint.url);
  const apiKey = apiKeyOf(endpoint);
  return {
    kind,
    key: endpoint.key,
    chains: endpoint.chain === null ? endpoint.targets.map(({ chain }) => chain) : [endpoint.chain],
    origin: url.host,
    path: url.pathname,
    behaviour: {
      latency: LATENCY,
      dailyLimit: dailyLimitOf(endpoint, budgets),
      ...(apiKey === null ? {} : { apiKeys: [apiKey] }),
    },
    targetBehaviour: (slug) => {
      const own = endpoint.targets.find(({ chain }) => chain === slug)?.deployment;
      const deployment = own ?? endpoint.status?.deployment;
      const health = healthOf(kind, blockTimeOf(chains, slug));
      return deployment === undefined ? health : { ...health, deployment };
    },
  };
}

const LATENCY = { minMs: 20, maxMs: 400 };

/** Healthy as the real fleet is: slightly behind the tip, and several indexers behind the gateway. */
function healthOf(kind: EndpointSpec["kind"], blockTimeMs: number): Partial<TargetBehaviour> {
  const blocksInMs = (durationMs: number): number => Math.max(1, Math.round(durationMs / blockTimeMs));
  switch (kind) {
    case "gateway":
      return { lagMs: 600, replicas: 3, wobbleBlocks: blocksInMs(3_000) };
    case "envio":
    case "envio-3.2":
    case "envio-2.27":
      return { lagMs: 300, batchBlocks: blocksInMs(1_000) };
    case "studio":
    case "graph-node":
    case "ponder":
    case "squid":
    case "subquery":
    case "graph-status":
    case "custom":
      return { lagMs: 800 };
    case "rpc":
      return { lagMs: 100 };
  }
}

/** The daily limit that the configuration names for each URL, enforced as the provider would. */
function dailyLimitOf(endpoint: Endpoint, budgets: Fleet["budgets"]): number | null {
  const budget = budgets.find(({ name }) => name === endpoint.budget);
  return budget?.per === "day" && budget.scope === "endpoint" ? budget.limit : null;
}

/** The key that a caller will send, so that the simulated gateway accepts it. */
function apiKeyOf(endpoint: Endpoint): string | null {
  const header = new Map(
    Object.entries(endpoint.headers).map(([name, value]) => [name.toLowerCase(), value]),
  ).get("authorization");
  const inPath = /\/api\/([^/]+)\/(?:subgraphs|deployments)\//.exec(new URL(endpoint.url).pathname);
  return inPath?.[1] ?? /^Bearer (.+)$/.exec(header ?? "")?.[1] ?? null;
}

function withSimulatedUrls(real: Fleet, simulated: SimulatedFleet): Fleet {
  const rewrite = (endpoint: Endpoint): Endpoint => {
    const url = new URL(simulated.endpoint(endpoint.key).url);
    // The simulated server has a schema of its own, whatever the real query is.
    const custom = endpoint.custom === undefined ? {} : { custom: SIMULATED_CUSTOM_QUERY };
    const status = endpoint.status === undefined ? {} : { status: rewriteStatus(endpoint, endpoint.status) };
    return {
      ...endpoint,
      ...custom,
      ...status,
      url: `${url.origin}${pathAndQuery(endpoint.url)}`,
      host: url.host,
    };
  };
  const rewriteStatus = (endpoint: Endpoint, status: StatusApi): StatusApi => {
    const url = new URL(simulated.endpoint(statusEndpointOf(endpoint)?.key ?? "").url);
    return { ...status, url: `${url.origin}${pathAndQuery(status.url)}`, host: url.host };
  };
  return {
    ...real,
    indexers: real.indexers.map((indexer) => ({ ...indexer, endpoints: indexer.endpoints.map(rewrite) })),
    rpcEndpoints: real.rpcEndpoints.map(rewrite),
  };
}

function pathAndQuery(realUrl: string): string {
  const { pathname, search } = new URL(realUrl);
  return pathname + search;
}
