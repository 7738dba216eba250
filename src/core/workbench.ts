import type { ChainState, WatchedChain } from "./chain-state.ts";
import type { Target } from "./fleet.ts";
import type { Observation } from "./observation.ts";
import type { Pace } from "./reference.ts";
import type { SourceState } from "./source-state.ts";
import { paceOf, rpcPrefix, rpcSource } from "./view.ts";
import type { Source } from "./votes.ts";

/** What the folding of one instant works on: `sources` is a copy, so it may be edited. */
export interface Workbench {
  readonly before: ChainState;
  readonly watched: WatchedChain;
  readonly targets: ReadonlyMap<string, Target>;
  /** What was said, without sources that are not watched, in an order that does not depend on arrival. */
  readonly heard: readonly Observation[];
  readonly sources: Record<string, SourceState>;
  readonly pace: Pace;
  readonly nowMs: number;
}

/** Lays out what one instant needs, or null where nobody who is watched was heard. */
export function layOut(
  before: ChainState,
  watched: WatchedChain,
  instant: readonly Observation[],
): Workbench | null {
  const targets = new Map(watched.targets.map((target) => [target.key, target]));
  const prefix = rpcPrefix(watched.chain);
  const heard = instant
    .filter(({ source }) => targets.has(source) || source.startsWith(prefix))
    .toSorted((a, b) => compareText(a.source, b.source));
  const [first] = heard;
  if (first === undefined) {
    return null;
  }
  const pace = paceOf(before.clock, watched.chain);
  return { before, watched, targets, heard, sources: { ...before.sources }, pace, nowMs: first.receivedAtMs };
}

/** The keys of those that gave a usable height in this instant. */
export function headsHeard({ heard, sources }: Workbench): readonly string[] {
  return heard.map(({ source }) => source).filter((key) => sources[key]?.last?.kind === "head");
}

/** All that is known of the chain's targets and RPC nodes, as sources for its head. */
export function sourcesOf({ sources, targets }: Workbench): readonly Source[] {
  return Object.entries(sources).map(([key, state]) => {
    const target = targets.get(key);
    return target === undefined
      ? rpcSource(key, state)
      : { key, kind: "indexer", state, pollIntervalMs: target.pollIntervalMs };
  });
}

function compareText(a: string, b: string): number {
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}
