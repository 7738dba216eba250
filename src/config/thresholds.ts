import type { Thresholds } from "../core/model/fleet.ts";
import { atPace, isBeyond } from "../core/model/limit.ts";
import type { Spot } from "./problems.ts";
import { limitLiteral } from "./quantities.ts";
import type { ThresholdsEntry } from "./schema.ts";

export const DEFAULT_THRESHOLDS: Thresholds = {
  lagging: { ms: 10 * 60_000, blocks: null },
  critical: { ms: 30 * 60_000, blocks: null },
  stalledMs: 10 * 60_000,
  staleMs: 5 * 60_000,
};

/** The thresholds of a section, completed from `base`. `blockTimeMs`: how long a block takes, if known. */
export function withThresholds(
  base: Thresholds,
  { lagging = base.lagging, critical = base.critical, stalled, stale }: ThresholdsEntry,
  spot: Spot,
  blockTimeMs: number | null,
): Thresholds {
  // Thresholds are checked where they are set. If one is in blocks and the other is a time, they can be compared only at the pace
  // of a chain, so each chain that inherits both checks them as well.
  const isOwn = lagging !== base.lagging || critical !== base.critical;
  const isMixed = (lagging.blocks === null) !== (critical.blocks === null);
  const isAbove = isBeyond(atPace(lagging, blockTimeMs), atPace(critical, blockTimeMs)) === true;
  if (isAbove && (isOwn || isMixed)) {
    const pace = isMixed ? " at the block time of the chain" : "";
    spot.add(`lagging ${limitLiteral(lagging)} is above critical ${limitLiteral(critical)}${pace}`);
  }
  return { lagging, critical, stalledMs: stalled ?? base.stalledMs, staleMs: stale ?? base.staleMs };
}
