import { observeChain, startChain } from "../../src/core/chain/watch-chain.ts";
import type { ChainState, WatchedChain } from "../../src/core/head/chain-state.ts";
import type { Chain, Target } from "../../src/core/model/fleet.ts";
import type { Head, Observation } from "../../src/core/model/observation.ts";
import { type ChainModel, hashOf, timeOf } from "../../src/sim/model/chain-model.ts";
import { heightAt, type IndexerModel } from "../../src/sim/model/indexer-model.ts";

/** An instant to count from: 2026-11-20T00:00:00Z. */
export const T0 = 1_795_132_800_000;

/** Reads a height somewhere between request and reply, as a real indexer does, and says when that was. */
export interface Read {
  readonly observation: Observation;
  readonly readAtMs: number;
}

/** How long polls take, uniformly. */
const LATENCY_MS = { least: 20, most: 900 } as const;

/** Polls an indexer at `sentAtMs`: the height is that of a random instant before the reply. */
export function poll(
  source: string,
  model: IndexerModel,
  at: { readonly sentAtMs: number; readonly random: () => number; readonly timestamps?: "reported" | "none" },
): Read {
  const latencyMs = LATENCY_MS.least + at.random() * (LATENCY_MS.most - LATENCY_MS.least);
  const readAtMs = at.sentAtMs + at.random() * latencyMs;
  const block = heightAt(model, readAtMs) ?? 0;
  const chain = model.behaviour.wrongChain ?? model.chain;
  const reported = at.timestamps === "reported";
  const head: Head = {
    block,
    timestampSec: reported ? Math.floor(timeOf(chain, block - model.behaviour.offsetBlocks) / 1_000) : null,
    hash: reported ? hashOf(chain.id, block, "main") : null,
    deployment: null,
    indexingErrors: null,
  };
  const times = { sentAtMs: at.sentAtMs, receivedAtMs: at.sentAtMs + latencyMs };
  return { observation: { kind: "head", source, head, ...times }, readAtMs };
}

/** Hands observations over one by one in the order in which they arrive, as the daemon does. */
export function deliver(
  state: ChainState,
  watched: WatchedChain,
  observations: readonly Observation[],
): ChainState {
  return observations
    .toSorted((a, b) => a.receivedAtMs - b.receivedAtMs)
    .reduce((folded, observation) => observeChain(folded, watched, [observation]), state);
}

export function newState(watched: WatchedChain): ChainState {
  return startChain(watched);
}

/** A watched chain of the bench, with default thresholds. */
export function chainOf(model: ChainModel, blockTimeMs: number | null): Chain {
  return {
    slug: model.slug,
    id: model.id,
    name: model.slug,
    blockTimeMs,
    testnet: false,
    thresholds: { laggingMs: 600_000, criticalMs: 1_800_000, stalledMs: 600_000, staleMs: 300_000 },
  };
}

/** A target named `protocol/variant`, of the production tier. */
export function targetOf(chain: Chain, name: string, pollIntervalMs: number): Target {
  const [protocol = "", variant = ""] = name.split("/");
  return {
    key: `${name}/production/${chain.slug}`,
    protocol,
    variant,
    tier: "production",
    chain: chain.slug,
    chainId: chain.id,
    explorer: null,
    playground: null,
    pollIntervalMs,
  };
}
