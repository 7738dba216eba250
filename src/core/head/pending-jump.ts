import { readAtMs, type Sample } from "../model/sample.ts";
import type { SourceState } from "../source/source-state.ts";
import { mostBlocksIn, type Pace } from "./pace.ts";
import type { ReferenceState } from "./reference.ts";

/** An RPC node that is heard for the first time may show all indexers to be this far behind, but no further. */
const CREDIBLE_LAG_MS = 30 * 86_400_000;

/**
 * The sources whose jump beyond the chain's pace is to be believed after all: at least two that claim the same, one
 * of them twice; or an RPC node that is heard for the first time, twice, at a credible distance.
 */
export function corroboratedJumps(
  sources: readonly SourceState[],
  context: { readonly reference: ReferenceState | null; readonly pace: Pace },
): readonly SourceState[] {
  const claiming = sources.filter((source) => source.claim !== null);
  if (claiming.length === 0) {
    return [];
  }
  const joined = claiming.filter((source) => isJoined(source, claiming, context.pace));
  return joined.length > 0 ? joined : claiming.filter((source) => isNewRpc(source, context));
}

function isJoined(source: SourceState, claiming: readonly SourceState[], pace: Pace): boolean {
  const own = source.claim;
  return claiming.some(({ claim }) => {
    if (own === null || claim === null || claim === own || own.polls + claim.polls < 3) {
      return false;
    }
    return areClose(own.sample, claim.sample, pace);
  });
}

function areClose(a: Sample, b: Sample, pace: Pace): boolean {
  return Math.abs(a.block - b.block) <= mostBlocksIn(Math.abs(readAtMs(a) - readAtMs(b)), pace);
}

function isNewRpc(
  { claim, kind, samples }: SourceState,
  { reference, pace }: { readonly reference: ReferenceState | null; readonly pace: Pace },
): boolean {
  if (kind !== "rpc" || claim === null || claim.polls < 2 || samples.length > 0) {
    return false;
  }
  const beyond = claim.sample.block - (reference?.block ?? 0);
  return pace.intervalMs !== null && beyond * pace.intervalMs <= CREDIBLE_LAG_MS;
}
