import type { ChainState, WatchedChain } from "../head/chain-state.ts";
import type { Pace } from "../head/pace.ts";
import type { Target } from "../model/fleet.ts";
import { memoize } from "../model/memoize.ts";
import type { Observation } from "../model/observation.ts";
import { changed, newSource, type SourceState } from "../source/source-state.ts";
import { paceOf } from "../status/view.ts";

/** What the folding of one instant works on: `sources` is a copy, so it may be edited. */
export interface Tick {
  readonly before: ChainState;
  readonly watched: WatchedChain;
  readonly sources: SourceState[];
  /** What was said, without sources that are not watched, in an order that does not depend on arrival. */
  readonly received: readonly Received[];
  readonly pace: Pace;
  readonly nowMs: number;
}

/** One observation, and where its source stands on the tick. */
export interface Received {
  readonly observation: Observation;
  readonly index: number;
  /** Null for an RPC node. */
  readonly target: Target | null;
}

/** Collects what one instant needs; null if it has no observation of a watched source. */
export function startTick(
  before: ChainState,
  watched: WatchedChain,
  instant: readonly Observation[],
): Tick | null {
  const sources = before.sources.slice();
  const received: Received[] = [];
  const targets = targetsOf(watched);
  for (const observation of instant.length === 1 ? instant : inOrder(instant)) {
    const target = targets.get(observation.source) ?? null;
    if (target !== null || observation.source.startsWith(`rpc/${watched.chain.slug}/`)) {
      received.push({ observation, target, index: placeOf(sources, observation, target) });
    }
  }
  const nowMs = received[0]?.observation.receivedAtMs;
  return nowMs === undefined
    ? null
    : { before, watched, sources, received, pace: paceOf(before.clock, watched.chain), nowMs };
}

function inOrder(instant: readonly Observation[]): readonly Observation[] {
  return instant.toSorted((a, b) => compareText(a.source, b.source));
}

const targetsOf = memoize(
  ({ targets }: WatchedChain): ReadonlyMap<string, Target> =>
    new Map(targets.map((target) => [target.key, target])),
);

/** Those that gave a usable height in this instant. */
export function headsReceived({ received, sources }: Tick): readonly Received[] {
  return received.filter(({ index }) => sources[index]?.last?.kind === "head");
}

/** Where a source stands, with its schedule brought up to date; a new one is put at the end. */
function placeOf(sources: SourceState[], observation: Observation, target: Target | null): number {
  const { source: key } = observation;
  const kind = target === null ? "rpc" : "indexer";
  const found = sources.findIndex((source) => source.key === key);
  const known = sources[found];
  const pollIntervalMs = target?.pollIntervalMs ?? sinceLastMs(known, observation);
  if (known === undefined) {
    return sources.push(newSource({ key, kind, pollIntervalMs })) - 1;
  }
  if (known.kind !== kind || known.pollIntervalMs !== pollIntervalMs) {
    sources[found] = changed(known, { kind, pollIntervalMs });
  }
  return found;
}

function sinceLastMs(known: SourceState | undefined, { receivedAtMs }: Observation): number {
  return Math.max(0, receivedAtMs - (known?.last?.receivedAtMs ?? receivedAtMs));
}

function compareText(a: string, b: string): number {
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}
