import type { Head, Observation } from "../../src/core/model/observation.ts";
import type { ChainReport } from "../../src/core/model/report.ts";
import {
  type ChainModel,
  type ChainSpec,
  createChain,
  hashOf,
  headAt,
  timeOf,
} from "../../src/sim/model/chain-model.ts";
import { heightAt, type IndexerModel } from "../../src/sim/model/indexer-model.ts";
import type { Core } from "./core.ts";

/** The start of every world: 2026-11-20T00:00:00Z. */
export const T0 = 1_795_132_800_000;

/** The chain of a world. */
export function benchChain(
  spec: Pick<ChainSpec, "blockTimeMs" | "jitter" | "paces"> & Partial<ChainSpec>,
): ChainModel {
  return createChain({ slug: "bench", id: 10, startMs: T0, startBlock: 100_000_000, ...spec });
}

/** How long polls take, uniformly. */
const LATENCY_MS = { least: 20, most: 900 } as const;

/** Draws how long a poll takes. */
export function drawLatency(random: () => number): number {
  return LATENCY_MS.least + random() * (LATENCY_MS.most - LATENCY_MS.least);
}

/** The reply of an indexer, and when it read its height: at some instant between request and reply. */
export interface Read {
  readonly observation: Observation;
  readonly readAtMs: number;
}

/** Polls an indexer at `sentAtMs`: the height is that of a random instant before the reply. */
export function poll(
  source: string,
  model: IndexerModel,
  at: { readonly sentAtMs: number; readonly random: () => number; readonly timestamps?: "reported" | "none" },
): Read {
  const latencyMs = drawLatency(at.random);
  const readAtMs = at.sentAtMs + at.random() * latencyMs;
  const block = heightAt(model, readAtMs) ?? 0;
  const chain = model.behaviour.wrongChain ?? model.chain;
  const reported = at.timestamps === "reported";
  const timestampSec = reported
    ? Math.floor(timeOf(chain, block - model.behaviour.offsetBlocks) / 1_000)
    : null;
  const head = { ...headOf(block, timestampSec), hash: reported ? hashOf(chain.id, block, "main") : null };
  const times = { sentAtMs: at.sentAtMs, receivedAtMs: at.sentAtMs + latencyMs };
  return { observation: { kind: "head", source, head, ...times }, readAtMs };
}

/** The reply of a healthy source, with the chain's height in the middle of the poll. */
export function healthyPoll(
  source: string,
  chain: ChainModel,
  at: { readonly sentAtMs: number; readonly random: () => number; readonly isDated: boolean },
): Observation {
  const receivedAtMs = at.sentAtMs + drawLatency(at.random);
  const block = headAt(chain, (at.sentAtMs + receivedAtMs) / 2);
  const head = headOf(block, at.isDated ? Math.floor(timeOf(chain, block) / 1_000) : null);
  return { kind: "head", source, sentAtMs: at.sentAtMs, receivedAtMs, head };
}

export function headOf(block: number, timestampSec: number | null): Head {
  return { block, timestampSec, hash: null, deployment: null, indexingErrors: null };
}

/** Hands observations over one by one in the order in which they arrive, as the daemon does. */
export function deliver(core: Core, observations: readonly Observation[]): void {
  for (const observation of observations.toSorted((a, b) => a.receivedAtMs - b.receivedAtMs)) {
    core.observe(observation);
  }
}

/** Passes a core the observations of each round, and returns its reports some time after each. */
export function* rounds(
  core: Core,
  span: Readonly<Record<"fromMs" | "toMs" | "everyMs", number>> & { readonly lookAfterMs?: number },
  say: (atMs: number) => readonly Observation[],
): Iterable<{ readonly atMs: number; readonly report: ChainReport }> {
  for (let atMs = span.fromMs; atMs < span.toMs; atMs += span.everyMs) {
    deliver(core, say(atMs));
    const lookedAtMs = atMs + (span.lookAfterMs ?? 2_000);
    yield { atMs: lookedAtMs, report: core.report(lookedAtMs) };
  }
}

/** The key of a target named `protocol/variant`. */
export function keyOf(name: string): string {
  return `${name}/production/bench`;
}

export function pick<T>(from: readonly T[], random: () => number): T {
  const picked = from[Math.floor(random() * from.length)];
  if (picked === undefined) {
    throw new RangeError("Cannot pick from nothing");
  }
  return picked;
}

export function shuffled<T>(all: readonly T[], random: () => number): readonly T[] {
  return all
    .map((one) => [random(), one] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one);
}
