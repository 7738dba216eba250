import type { Budget, Endpoint, Fleet } from "../../src/core/model/fleet.ts";
import { sampleEndpoint, sampleTarget } from "../views/sample-report.ts";

/** A subgraph's endpoint whose key follows from its parts; `chain: null` makes it one of all chains. */
export function endpointOf(wanted: Partial<Endpoint> = {}): Endpoint {
  const { protocol = "airdrops", variant = "subgraph", tier = "production", chain = "base" } = wanted;
  const parts = { protocol, variant, tier };
  const name = chain ?? "all";
  const key = `${protocol}/${variant}/${tier}/${name}`;
  const targets = chain === null ? [] : [sampleTarget({ ...parts, chain, pollIntervalMs: 60_000 })];
  return sampleEndpoint({
    key,
    url: `http://127.0.0.1:9/${key}`,
    host: "127.0.0.1:9",
    dialect: "graph",
    schedule: "0 * * * * *",
    pollIntervalMs: 60_000,
    ...parts,
    name,
    chain,
    targets,
    ...wanted,
  });
}

/** A fleet of these endpoints, one indexer for each protocol, variant and tier. */
export function fleetOf(endpoints: readonly Endpoint[], budgets: readonly Budget[] = []): Fleet {
  const indexers = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    const name = `${endpoint.protocol}/${endpoint.variant}/${endpoint.tier}`;
    indexers.set(name, [...(indexers.get(name) ?? []), endpoint]);
  }
  return {
    digest: null,
    chains: [],
    indexers: [...indexers.values()].flatMap((group) =>
      group.slice(0, 1).map(({ protocol, variant, tier }) => ({ protocol, variant, tier, endpoints: group })),
    ),
    rpcEndpoints: [],
    budgets,
    skipped: [],
    parity: [],
  };
}
