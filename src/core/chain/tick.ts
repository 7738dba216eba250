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
  /** When the last of them was received. */
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
  const targets = targetsOf(watched);
  const told = (instant.length === 1 ? instant : inOrder(instant))
    .map((observation) => ({ observation, target: targets.get(observation.source) ?? null }))
    .filter(
      ({ observation, target }) =>
        target !== null || observation.source.startsWith(`rpc/${watched.chain.slug}/`),
    );
  if (told.length === 0) {
    return null;
  }
  const nowMs = told.reduce((latest, { observation }) => Math.max(latest, observation.receivedAtMs), 0);
  const sources = withNew(before.sources, told);
  const received = told.map((one) => ({ ...one, index: placeOf(sources, one) }));
  return { before, watched, sources, received, pace: paceOf(before.clock, watched.chain), nowMs };
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

type Told = Omit<Received, "index">;

/** A copy of the known sources, and those that are new, in the order of their keys. */
function withNew(known: readonly SourceState[], told: readonly Told[]): SourceState[] {
  const added = told.filter(({ observation }) => known.every(({ key }) => key !== observation.source));
  if (added.length === 0) {
    return known.slice();
  }
  const all = new Map(known.map((source) => [source.key, source]));
  for (const { observation, target } of added) {
    const key = observation.source;
    all.set(key, newSource({ key, kind: kindOf(target), pollIntervalMs: target?.pollIntervalMs ?? 0 }));
  }
  return [...all.values()].sort((a, b) => compareText(a.key, b.key));
}

/** Where a source stands, with its schedule brought up to date. */
function placeOf(sources: SourceState[], { observation, target }: Told): number {
  const found = sources.findIndex(({ key }) => key === observation.source);
  const known = sources[found];
  const kind = kindOf(target);
  const pollIntervalMs = target?.pollIntervalMs ?? sinceLastMs(known, observation);
  if (known !== undefined && (known.kind !== kind || known.pollIntervalMs !== pollIntervalMs)) {
    sources[found] = changed(known, { kind, pollIntervalMs });
  }
  return found;
}

function kindOf(target: Target | null): SourceState["kind"] {
  return target === null ? "rpc" : "indexer";
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
