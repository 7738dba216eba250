/*
 * What the first sources of a chain say may be wrong, and then whoever answers next looks wrong. So that a status does
 * not depend on who answered first, one that rests on a source's first heights is judged again when another source
 * gives its first answers; and on a first height nobody is said to be behind or on another chain before all the other sources
 * were asked, or most of the chain's providers agree.
 */
import { sourceOf, type WatchedChain } from "../head/chain-state.ts";
import type { Consensus } from "../head/consensus.ts";
import { memoize } from "../model/memoize.ts";
import type { Status } from "../model/report.ts";
import { hasReadHeight, type SourceState } from "../source/source-state.ts";
import type { Tick } from "./tick.ts";

/** A source with no more heights than this is still giving its first. */
const FIRST_HEIGHTS = 2;
/** Statuses that follow from a comparison with the other sources. */
const COMPARED: ReadonlySet<Status> = new Set(["lagging", "diverged"]);

/** Places on the tick of the sources that were not heard in this instant, but whose first heights are judged again. */
export function judgedAgain({ before, received, sources }: Tick): readonly number[] {
  if (!received.some(({ observation }) => isNew(sourceOf(before, observation.source)))) {
    return [];
  }
  const heard = new Set(received.map(({ index }) => index));
  return [...sources.keys()].filter((index) => !heard.has(index) && hasFirstHeight(sources[index]));
}

/** Whether it is too early to say `status` of a source: those who have not been asked yet may show that it is right. */
export function isTooEarly(
  { samples, verdict }: SourceState,
  status: Status,
  isDecided: () => boolean,
): boolean {
  const isFirst = samples.length <= 1 && (verdict === null || verdict.status === "ok");
  return isFirst && COMPARED.has(status) && !isDecided();
}

/** Whether every source of the chain has been asked, or those who agree are of most of its providers. */
export function isDecided({ sources, watched }: Tick, { members }: Pick<Consensus, "members">): boolean {
  const providers = providersOf(watched);
  const asked = new Set(sources.filter(({ last }) => last !== null).map(({ key }) => key));
  if ([...providers.keys()].every((key) => asked.has(key))) {
    return true;
  }
  const agreeing = new Set(members.map((key) => providers.get(key) ?? key));
  return agreeing.size * 2 > new Set(providers.values()).size;
}

/** The provider of each source that is watched, by the source's key. */
const providersOf = memoize(
  ({ chain, providers = {}, targets }: WatchedChain): ReadonlyMap<string, string> => {
    const nodes = Object.keys(providers).filter((key) => key.startsWith(`rpc/${chain.slug}/`));
    const keys = [...targets.map(({ key }) => key), ...nodes];
    return new Map(keys.map((key) => [key, providers[key] ?? key]));
  },
);

/** Whether what a source says next is one of its first heights. One that jumps, or is back from a jump, has given others. */
function isNew(before: SourceState | undefined): boolean {
  return (
    before === undefined ||
    (before.samples.length < FIRST_HEIGHTS && before.lastAdvanceMs === null && before.beforeJump === null)
  );
}

/** Whether its last poll gave a height, and that is one of its first. */
function hasFirstHeight(source: SourceState | undefined): boolean {
  return (
    source !== undefined &&
    source.samples.length <= FIRST_HEIGHTS &&
    source.beforeJump === null &&
    hasReadHeight(source)
  );
}
