import type { Endpoint, Target } from "../../src/core/model/fleet.ts";

const MINUTE_MS = 60_000;

/** A subgraph's endpoint of one chain, with what a test wants otherwise. */
export function endpointOf(wanted: Partial<Endpoint> = {}): Endpoint {
  return {
    key: "airdrops/subgraph/production/base",
    kind: "indexer",
    protocol: "airdrops",
    variant: "subgraph",
    tier: "production",
    name: "base",
    url: "http://127.0.0.1:9/",
    host: "127.0.0.1:9",
    headers: {},
    dialect: "graph",
    schedule: "0 * * * * *",
    pollIntervalMs: MINUTE_MS,
    budget: null,
    targets: [targetOf()],
    chain: "base",
    ...wanted,
  };
}

/** A subgraph's target on Base, with what a test wants otherwise. */
export function targetOf(wanted: Partial<Target> = {}): Target {
  return {
    key: "airdrops/subgraph/production/base",
    protocol: "airdrops",
    variant: "subgraph",
    tier: "production",
    chain: "base",
    chainId: 8453,
    explorer: null,
    playground: null,
    pollIntervalMs: MINUTE_MS,
    ...wanted,
  };
}
