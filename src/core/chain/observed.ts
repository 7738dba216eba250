import { type ChainState, sourceOf } from "../head/chain-state.ts";
import type { Observation } from "../model/observation.ts";
import { isChanging } from "../source/source-state.ts";

/** What observations showed, by the keys of their sources. */
export interface Observed {
  /** Targets whose status is about to change, or has just changed. */
  readonly changing: readonly string[];
  /** Sources that gave a height which the others show to be impossible. */
  readonly implausible: readonly string[];
}

/** What the observations of one chain showed, by its state before and after they were folded in. */
export function observedIn(
  observations: readonly Observation[],
  before: ChainState,
  after: ChainState,
): Observed {
  const changing: string[] = [];
  const implausible: string[] = [];
  for (const { kind, source } of observations) {
    const known = sourceOf(after, source);
    if (isChanging(sourceOf(before, source), known)) {
      changing.push(source);
    }
    if (kind === "head" && known?.last?.kind === "failed") {
      implausible.push(source);
    }
  }
  return { changing, implausible };
}
