import type { WatchedChain } from "../../src/core/head/chain-state.ts";
import type { Chain, Target } from "../../src/core/model/fleet.ts";
import type { World, WorldSource } from "./worlds.ts";

export const LAGGING_MS = 600_000;

/** The chain of a world as it is configured: its targets, and the hosts of all of its sources. */
export function watchedOf(world: World): WatchedChain {
  const chain: Chain = {
    slug: "bench",
    id: 4689,
    name: "bench",
    blockTimeMs: world.blockTimeMs,
    testnet: false,
    thresholds: { laggingMs: LAGGING_MS, criticalMs: 1_800_000, stalledMs: 600_000, staleMs: 300_000 },
  };
  return {
    chain,
    targets: world.sources
      .filter(({ key }) => !key.startsWith("rpc/"))
      .map((source) => targetOf(chain, source)),
    providers: Object.fromEntries(world.sources.map(({ key, provider }) => [key, provider])),
  };
}

function targetOf(chain: Chain, { key, pollIntervalMs }: WorldSource): Target {
  const [protocol = "", variant = "", tier = ""] = key.split("/");
  return {
    key,
    protocol,
    variant,
    tier,
    chain: chain.slug,
    chainId: chain.id,
    explorer: null,
    playground: null,
    pollIntervalMs,
  };
}
