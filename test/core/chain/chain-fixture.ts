import type { WatchedChain } from "../../../src/core/chain/chain-state.ts";
import type { Chain, Target } from "../../../src/core/model/fleet.ts";
import type { Head, Observation } from "../../../src/core/model/observation.ts";

/** The start of every test: 2026-11-20T00:00:00Z. */
export const T0 = 1_795_132_800_000;

const THRESHOLDS = {
  lagging: { ms: 600_000, blocks: null },
  critical: { ms: 1_800_000, blocks: null },
  stalledMs: 600_000,
  staleMs: 300_000,
} as const;

export const BASE: Chain = {
  slug: "base",
  id: 8453,
  name: "Base",
  blockTimeMs: 2_000,
  testnet: false,
  explorer: null,
  thresholds: THRESHOLDS,
};

/** `airdrops/multichain` and the like; production tier, polled each 15 s unless `pollIntervalMs` differs. */
export function targetOn(chain: Chain, name: string, pollIntervalMs = 15_000): Target {
  const [protocol = "", variant = "", tier = "production"] = name.split("/");
  return {
    key: `${protocol}/${variant}/${tier}/${chain.slug}`,
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

/** A chain with one target per name. */
export function watch(chain: Chain, ...names: readonly string[]): WatchedChain {
  const targets = names.map((name) => targetOn(chain, name));
  return {
    chain,
    targets,
    sources: new Map(
      targets.map(({ key, pollIntervalMs }) => [
        key,
        { kind: "indexer", hasBlocks: false, pollIntervalMs, provider: key, sentTo: key, queries: new Map() },
      ]),
    ),
    baselines: new Map(targets.toReversed().map((target) => [target.protocol, target])),
    probes: [],
  };
}

/** A height that a source reported at `atMs`, after a quick reply. */
export function headAt(
  source: string,
  atMs: number,
  head: Partial<Head> & { readonly block: number },
): Observation {
  const full = { timestampSec: null, hash: null, deployment: null, indexingErrors: null, ...head };
  return { kind: "head", source, sentAtMs: atMs - 50, receivedAtMs: atMs + 50, head: full };
}
