import type { ChainState, WatchedChain } from "./chain-state.ts";
import type { Target } from "./fleet.ts";
import type { Observation } from "./observation.ts";
import { onceEach } from "./once-each.ts";
import type { Pace } from "./pace.ts";
import { newSource, type SourceState } from "./source-state.ts";
import { paceOf } from "./view.ts";

/** What the folding of one instant works on: `sources` is a copy, so it may be edited. */
export interface Workbench {
  readonly before: ChainState;
  readonly watched: WatchedChain;
  readonly sources: SourceState[];
  /** What was said, without sources that are not watched, in an order that does not depend on arrival. */
  readonly heard: readonly Heard[];
  readonly pace: Pace;
  readonly nowMs: number;
}

/** One observation, and where its source stands on the bench. */
export interface Heard {
  readonly observation: Observation;
  readonly index: number;
  /** Null for an RPC node. */
  readonly target: Target | null;
}

/** Lays out what one instant needs, or null where nobody who is watched was heard. */
export function layOut(
  before: ChainState,
  watched: WatchedChain,
  instant: readonly Observation[],
): Workbench | null {
  const sources = [...before.sources];
  const heard: Heard[] = [];
  const targets = targetsOf(watched);
  for (const observation of instant.toSorted((a, b) => compareText(a.source, b.source))) {
    const target = targets.get(observation.source) ?? null;
    if (target !== null || observation.source.startsWith(`rpc/${watched.chain.slug}/`)) {
      heard.push({ observation, target, index: placeOf(sources, observation, target) });
    }
  }
  const nowMs = heard[0]?.observation.receivedAtMs;
  return nowMs === undefined
    ? null
    : { before, watched, sources, heard, pace: paceOf(before.clock, watched.chain), nowMs };
}

const targetsOf = onceEach(
  ({ targets }: WatchedChain): ReadonlyMap<string, Target> =>
    new Map(targets.map((target) => [target.key, target])),
);

/** Those that gave a usable height in this instant. */
export function headsHeard({ heard, sources }: Workbench): readonly Heard[] {
  return heard.filter(({ index }) => sources[index]?.last?.kind === "head");
}

/** Where a source stands, with its schedule brought up to date; a new one is put at the end. */
function placeOf(sources: SourceState[], observation: Observation, target: Target | null): number {
  const found = sources.findIndex(({ key }) => key === observation.source);
  const known = sources[found];
  const sinceLastMs = Math.max(
    0,
    observation.receivedAtMs - (known?.last?.receivedAtMs ?? observation.receivedAtMs),
  );
  const identity = {
    key: observation.source,
    kind: target === null ? ("rpc" as const) : ("indexer" as const),
    pollIntervalMs: target?.pollIntervalMs ?? sinceLastMs,
  };
  if (known === undefined) {
    return sources.push(newSource(identity)) - 1;
  }
  if (known.kind === identity.kind && known.pollIntervalMs === identity.pollIntervalMs) {
    return found;
  }
  sources[found] = { ...known, ...identity };
  return found;
}

function compareText(a: string, b: string): number {
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}
