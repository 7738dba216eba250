import type { Endpoint, Target } from "../../src/core/model/fleet.ts";

/** An endpoint that expects these chains; an RPC node where the dialect says so. */
export function endpointOf(
  dialect: string,
  chainIds: readonly number[],
): Pick<Endpoint, "key" | "kind" | "dialect" | "targets"> {
  return {
    key: "airdrops/multichain/production/all",
    kind: dialect === "rpc" ? "rpc" : "indexer",
    dialect,
    targets: chainIds.map(targetOf),
  };
}

function targetOf(chainId: number): Target {
  return {
    key: `airdrops/multichain/production/${chainId}`,
    protocol: "airdrops",
    variant: "multichain",
    tier: "production",
    chain: `chain-${chainId}`,
    chainId,
    explorer: null,
    playground: null,
    pollIntervalMs: 15_000,
  };
}
